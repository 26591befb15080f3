"""A campaign's raw records as two tables, `exchanges.parquet` and `trials.parquet` (`docs/reference/tables.md`).

Exchanges of trials that are done count; those of trials that failed or were discarded stay in their folders, and their
trials in `trials.parquet`. Exchanges are read and written a slice at a time, scenario after scenario, so that a large
campaign needs no more memory than a slice, or with a radio than its largest scenario. Of exchanges that are captured,
or behind a NAT, a few columns are held.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from wirelab.errors import WirelabError
from wirelab.metrics import delivery, ledger, nat, resources
from wirelab.metrics.disturbed import disturbed
from wirelab.metrics.energy_names import PART, columns
from wirelab.metrics.energy_settings import Settings
from wirelab.metrics.exchange_rows import exchange_rows, recorded_exchanges, with_absent
from wirelab.metrics.flows import read_flows, without_unknown
from wirelab.metrics.levels import with_levels
from wirelab.metrics.link import DIRECTIONS
from wirelab.metrics.outages import by_trial, outages, write_outages
from wirelab.metrics.probes import measure_all_probes
from wirelab.metrics.radio import Spending, Spent
from wirelab.metrics.registry import TRIAL_METRICS, Metric
from wirelab.metrics.replay import replays
from wirelab.metrics.resource_timings import measure_resources
from wirelab.metrics.sampled import sampled
from wirelab.metrics.settings_seen import measure_settings
from wirelab.metrics.steps import run_again
from wirelab.metrics.tables import parts_written, write_table
from wirelab.metrics.trial_rows import ENERGY, OUTCOMES, TRIAL_TYPES, attempts, checked_row, entry_row
from wirelab.schema import is_netem
from wirelab.schema.campaign import JOURNAL, EntryStatus, read_journal, read_plan
from wirelab.schema.plan import EnergyRecord, Plan
from wirelab.schema.workload import Stream

EXCHANGES = "exchanges.parquet"
TRIAL_TABLE = "trials.parquet"
SLICE_ROWS = 500_000
"""Exchanges of a slice, but for those that complete a trial."""


class Measured(NamedTuple):
    """What was written: the trials, and how many exchanges."""

    trials: pl.DataFrame
    exchanges: int


class Dataset(NamedTuple):
    """The two tables of a campaign, and its outages."""

    exchanges: pl.DataFrame
    trials: pl.DataFrame
    outages: pl.DataFrame


def measure(campaign: Path, energy: EnergyRecord | None = None) -> Measured:
    """Compute both tables from the raw records, and write them into the campaign with the levels of each scenario.

    The other tables are written too: what probes logged, what captures tell of each byte, resources of pages, settings
    that were seen, NATs and outages. The client's radio spends by `energy`, or as the experiment says.
    """
    plan = read_plan(campaign)
    building = _Building(campaign, plan, energy)
    wanted = [each.key for each in plan.scenarios if each.capture or nat.has_nat(each)]
    kept: list[pl.DataFrame] = []
    count = 0

    def slices() -> Iterator[pl.DataFrame]:
        nonlocal count
        for each in building.exchanges():
            count += each.height
            read = [name for name in each.columns if name in {*ledger.READ, *nat.READ}]
            kept.append(each.filter(pl.col("scenario").is_in(wanted)).select(read))
            yield with_levels(each, plan.scenarios)

    # Both tables take their places together, at the end.
    with parts_written(slices(), campaign / EXCHANGES):
        trials, away = building.finish()
        explained = pl.concat(kept)
        measure_all_probes(campaign)
        ledger.measure_ledger(campaign, plan, trials, explained)
        measure_resources(campaign, plan, trials)
        measure_settings(campaign, trials)
        nat.measure_nat(campaign, plan, trials, explained)
        write_outages(campaign, away)
        write_table(with_levels(trials, plan.scenarios), campaign / TRIAL_TABLE)
    return Measured(trials, count)


def build(campaign: Path, energy: EnergyRecord | None = None) -> Dataset:
    """Both tables whole, from `plan.json`, the journal and the trials' folders."""
    building = _Building(campaign, read_plan(campaign), energy)
    exchanges = pl.concat(building.exchanges())
    return Dataset(exchanges, *building.finish())


class _Building:
    """The tables of a campaign in the making: first all of `exchanges`, then `finish`."""

    def __init__(self, campaign: Path, plan: Plan, energy: EnergyRecord | None) -> None:
        energy = energy or plan.experiment.energy
        settings = None if energy is None else Settings.of_campaign(energy, campaign)
        entries, _ = read_journal(campaign / JOURNAL)
        scenarios = {scenario.key: scenario for scenario in plan.scenarios}
        rows = [checked_row(campaign, scenarios[e.scenario], e, replicate) for e, replicate in attempts(plan, entries)]
        if not rows:
            raise WirelabError(f"{campaign}: no trial has finished", hint=run_again(campaign))
        # The last entry holds: a trial that was run again here is of no part of a merged campaign.
        last = {entry.trial: entry.part for entry in entries}
        self._ran_by = {trial: part for trial, part in last.items() if part is not None}
        self._campaign, self._plan = campaign, plan
        self._trials = pl.DataFrame(rows, schema=TRIAL_TYPES)
        self._done = self._trials.filter(pl.col("status") == EntryStatus.DONE)
        self._spending = Spending(campaign, plan, settings)
        self._netem = [scenario.key for scenario in plan.scenarios if is_netem(scenario.link)]
        self._streams = [s.key for s in plan.scenarios if isinstance(s.workload, Stream)]
        self._of_trials: list[pl.DataFrame] = []
        """Columns of `trials.parquet` that come of exchanges and packets, with the trials of each slice."""
        self._outages: list[pl.DataFrame] = []

    def exchanges(self) -> Iterator[pl.DataFrame]:
        """A slice at a time."""
        for done, recorded in self._slices():
            yield self._slice(done, recorded)

    def finish(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The trials and their outages, of the slices that were made."""
        self._spending.write(self._done)
        found = pl.concat(self._of_trials)
        counted = [outcome.replace("-", "_") for outcome in OUTCOMES]
        trials = (
            self._trials.drop([name for name in found.columns if name != "trial"], strict=False)
            .join(found, on="trial", how="left", maintain_order="left")
            .with_columns(pl.col(counted).fill_null(0))
            .with_columns(metric.value.alias(metric.column) for metric in TRIAL_METRICS if metric.column in ENERGY)
            .select(list(TRIAL_TYPES))
        )
        return _with_part(trials, self._ran_by), pl.concat(self._outages)

    def _slices(self) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Trials that are done, and what their clients recorded. The radio's day is that of a whole scenario."""
        places = {scenario.key: place for place, scenario in enumerate(self._plan.scenarios)}
        done = self._done.sort(pl.col("scenario").replace_strict(places, return_dtype=pl.Int64), maintain_order=True)
        last = done["scenario"].shift(-1) != done["scenario"]
        ends = [True] * done.height if not self._spending.known else last.fill_null(value=True).to_list()
        first, size = 0, 0
        frames: list[pl.DataFrame] = []
        for place, (trial, may_end) in enumerate(zip(done["trial"], ends, strict=True)):
            frames.append(recorded_exchanges(self._campaign, [trial]))
            size += frames[-1].height
            if size >= SLICE_ROWS and may_end and place + 1 < done.height:
                yield done[first : place + 1], pl.concat(frames)
                first, size, frames = place + 1, 0, []
        yield done[first:], pl.concat([recorded_exchanges(self._campaign, []), *frames])

    def _slice(self, done: pl.DataFrame, recorded: pl.DataFrame) -> pl.DataFrame:
        campaign, plan = self._campaign, self._plan
        flows = read_flows(campaign, done["trial"])
        flows = without_unknown(flows, done.filter(pl.col("scenario").is_in(self._netem))["trial"])
        spent = self._spending.of(recorded, done)
        marked = recorded.with_columns(disturbed=disturbed(campaign, plan, done, recorded))
        exchanges = exchange_rows(marked, done, plan.scenarios, flows, spent)
        keys, parts = ["trial", "client", "index"], columns(PART)
        with_parts = exchanges.join(spent.exchanges.select(*keys, *parts), on=keys, how="left", maintain_order="left")
        away = outages(campaign, plan, done, with_parts)
        self._outages.append(away)
        of_trials = done.select("trial")
        for more in (
            replays(campaign, done["trial"]),
            _totals(exchanges, flows, self._streams),
            by_trial(away),
            spent.trials,
        ):
            of_trials = of_trials.join(more, on="trial", how="left", maintain_order="left")
        self._of_trials.append(of_trials)
        return _with_part(exchanges, self._ran_by)


def _with_part(table: pl.DataFrame, ran_by: Mapping[str, int]) -> pl.DataFrame:
    """With the part of a merged campaign that ran each trial; the same table of a campaign that was not merged."""
    if not ran_by:
        return table
    return table.with_columns(part=pl.col("trial").replace_strict(ran_by, default=None, return_dtype=pl.Int64))


def values_so_far(campaign: Path, plan: Plan, scenario: str, metric: Metric) -> list[list[float]]:
    """A metric's values in each finished trial of a scenario while the campaign runs, in the metric's unit.

    They are those of the analysis: what is only known to be above the time-out is infinite. Packet logs are left alone:
    a metric that comes from them has no values here.
    """
    entries, _ = read_journal(campaign / JOURNAL)
    held = [(e, r) for e, r in attempts(plan, entries) if e.scenario == scenario and e.status is EntryStatus.DONE]
    rows = [entry_row(campaign, entry, replicate)[0] for entry, replicate in held]
    trials = pl.DataFrame(rows, schema=TRIAL_TYPES)
    recorded = recorded_exchanges(campaign, trials["trial"])
    unmarked = recorded.with_columns(disturbed=pl.lit(None, pl.Boolean))
    exchanges = exchange_rows(unmarked, trials, plan.scenarios, read_flows(campaign, []), Spent.nothing())
    found = sampled(exchanges, metric, plan.scenario(scenario).workload.kind)
    if found is None:
        return []
    values = np.where(found.use, found.values, np.where(found.late & found.censored, np.inf, np.nan))
    seen = exchanges.select("trial").with_columns(value=pl.Series(values)).filter(pl.col("value").is_not_nan())
    return [part["value"].to_list() for part in seen.partition_by("trial", maintain_order=True)]


def _totals(exchanges: pl.DataFrame, flows: pl.DataFrame, streams: Sequence[str]) -> pl.DataFrame:
    """Of each trial: its outcomes, counted, and the wire's totals, flows that no exchange claims included."""
    counts = exchanges.group_by("trial").agg(
        *((pl.col("outcome") == name).sum().cast(pl.Int64).alias(name.replace("-", "_")) for name in OUTCOMES),
        (pl.col("end_ns").max() - pl.col("start_ns").min()).alias(resources.SPAN),
    )
    streamed = with_absent(exchanges).with_columns(pl.col("scenario").is_in(streams).alias(delivery.STREAMED))
    messages = streamed.sort("trial", "client", "index").group_by("trial").agg(**delivery.TOTALS)
    wire = flows.group_by("trial").agg(
        pl.col(f"flow_{direction}_{unit}").sum().alias(f"wire_{direction}_{unit}")
        for unit in ("bytes", "packets")
        for direction in DIRECTIONS
    )
    joined = counts.join(messages, on="trial", how="full", coalesce=True)
    return joined.join(wire, on="trial", how="full", coalesce=True)
