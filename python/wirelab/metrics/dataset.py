"""A campaign's raw records as two tables, `exchanges.parquet` and `trials.parquet` (`docs/reference/tables.md`).

Exchanges of trials that are done count; those of trials that failed or were discarded stay in their folders, and their
trials in `trials.parquet`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wirelab.errors import WirelabError
from wirelab.metrics import delivery, resources
from wirelab.metrics.disturbed import disturbed
from wirelab.metrics.energy_names import PART, columns
from wirelab.metrics.energy_settings import Settings
from wirelab.metrics.flows import read_flows, with_loads, without_drops
from wirelab.metrics.ledger import measure_ledger
from wirelab.metrics.levels import with_levels
from wirelab.metrics.link import COUNTS, DIRECTIONS, link_columns
from wirelab.metrics.nat import measure_nat
from wirelab.metrics.outages import TRIAL_COLUMNS, by_trial, outages, write_outages
from wirelab.metrics.page import PAGE
from wirelab.metrics.probes import measure_all_probes
from wirelab.metrics.proxy import with_proxy
from wirelab.metrics.radio import Spent, spend
from wirelab.metrics.raw_rows import read_rows
from wirelab.metrics.registry import EXCHANGE_METRICS, TRIAL_METRICS, Metric
from wirelab.metrics.replay import COLUMNS as REPLAY
from wirelab.metrics.replay import replays
from wirelab.metrics.resource_timings import measure_resources
from wirelab.metrics.sampled import sampled
from wirelab.metrics.settings_seen import measure_settings
from wirelab.metrics.steps import run_again
from wirelab.metrics.tables import write_table
from wirelab.metrics.traffic import background_bps
from wirelab.schema import exchange_columns, is_netem
from wirelab.schema.campaign import (
    JOURNAL,
    RESULT,
    TRIALS,
    EntryStatus,
    JournalEntry,
    attempt_folder,
    read_journal,
    read_plan,
    read_result,
)
from wirelab.schema.plan import EnergyRecord, Plan, Scenario
from wirelab.schema.records import damage
from wirelab.schema.workload import RequestResponse, Stream

EXCHANGES = "exchanges.parquet"
TRIAL_TABLE = "trials.parquet"
DAMAGED = "damaged"
"""Status of a trial that is left out because a record is missing or torn."""
_NAMED = 3
"""Damaged trials that a sentence names."""

TRIAL_KEYS = {"trial": pl.String, "scenario": pl.String, "block": pl.Int64, "replicate": pl.Int64, "lane": pl.Int64}
_WORDS = {"outcome", "error"}
_FLAGS = {"connection_reused", "resumed", "early_data"}
EXCHANGE_TYPES = {
    name: pl.String if name in _WORDS else pl.Boolean if name in _FLAGS else pl.Int64 for name in exchange_columns()
}
"""Columns of exchanges of all workloads, which metrics are computed over: null in an exchange of another workload."""
_OUTCOMES = ("completed", "sent", "failed", "timed-out", "unsupported")
_LINK = [f"{direction}_{name}" for direction in DIRECTIONS for name in COUNTS]
_LATENESS = ["lateness_p50_ns", "lateness_p99_ns", "lateness_max_ns", "kernel_drops", "oversized"]
_WIRE = [f"wire_{direction}_{unit}" for unit in ("bytes", "packets") for direction in DIRECTIONS]
LIMIT = {
    "quota_periods": "periods", "throttled_periods": "throttled_periods", "throttled_ns": "throttled_ns",
}  # fmt: skip
"""Columns of a limit on CPU time, by what `result.json` calls them."""
_RESOURCES = [
    *resources.COLUMNS, "client_run_delay_ns", "server_run_delay_ns", "stolen_cpu_ns", "background_bps",
    *(f"{role}_{what}" for role in ("client", "server") for what in LIMIT),
]  # fmt: skip
_ENERGY = [metric.column for metric in TRIAL_METRICS if metric.unit == "j"]
TRIAL_TYPES: dict[str, pl.DataType | type[pl.DataType]] = {
    **TRIAL_KEYS,
    "status": pl.String, "error": pl.String, "excluded": pl.Boolean, "exclusion": pl.String,
    **{outcome.replace("-", "_"): pl.Int64 for outcome in _OUTCOMES},
    **dict.fromkeys(["uncounted", "not_confirmed", "arrived"], pl.Int64), "not_checked": pl.String,
    **dict.fromkeys(delivery.TOTALS, pl.Int64),
    **dict.fromkeys(TRIAL_COLUMNS, pl.Int64),
    **dict.fromkeys([*_LINK, *_LATENESS], pl.Int64), "clock_step": pl.Boolean,
    "left_out_of_captures": pl.Int64,
    **dict.fromkeys(["lateness_upper_ns", "lateness_packets"], pl.List(pl.Int64)),
    **dict.fromkeys(REPLAY, pl.Int64),
    **dict.fromkeys(["duration_ns", *_WIRE, *_RESOURCES], pl.Int64),
    **dict.fromkeys(_ENERGY, pl.Float64),
}  # fmt: skip
_DOWNLOAD = (
    pl.when(pl.col("downloads").list.len() > 0)
    .then(pl.col("downloads").list.get(pl.col("index") % pl.col("downloads").list.len(), null_on_oob=True))
)  # fmt: skip


def exchange_types(scenarios: Iterable[Scenario]) -> dict[str, type[pl.DataType]]:
    """The columns of clients' rows that a campaign of these scenarios has: extensions of its workloads only."""
    return {name: EXCHANGE_TYPES[name] for name in exchange_columns({each.workload.kind for each in scenarios})}


class Dataset(NamedTuple):
    """The two tables of a campaign, and its outages."""

    exchanges: pl.DataFrame
    trials: pl.DataFrame
    outages: pl.DataFrame


def measure(campaign: Path, energy: EnergyRecord | None = None) -> Dataset:
    """Compute both tables from the raw records, and write them into the campaign with the levels of each scenario.

    The other tables are written too: what probes logged, what captures tell of each byte, resources of pages, settings
    that were seen, NATs and outages. The client's radio spends by `energy`, or as the experiment says.
    """
    dataset = build(campaign, energy)
    measure_all_probes(campaign)
    plan = read_plan(campaign)
    measure_ledger(campaign, plan, dataset.trials, dataset.exchanges)
    measure_resources(campaign, plan, dataset.trials)
    measure_settings(campaign, dataset.trials)
    measure_nat(campaign, plan, dataset.trials, dataset.exchanges)
    write_outages(campaign, dataset.outages)
    write_table(with_levels(dataset.exchanges, plan.scenarios), campaign / EXCHANGES)
    write_table(with_levels(dataset.trials, plan.scenarios), campaign / TRIAL_TABLE)
    return dataset


def build(campaign: Path, energy: EnergyRecord | None = None) -> Dataset:
    """Both tables, from `plan.json`, the journal and the trials' folders."""
    plan = read_plan(campaign)
    energy = energy or plan.experiment.energy
    settings = None if energy is None else Settings.of_campaign(energy, campaign)
    entries, _ = read_journal(campaign / JOURNAL)
    scenarios = {scenario.key: scenario for scenario in plan.scenarios}
    rows = [_checked_row(campaign, scenarios[e.scenario], e, replicate) for e, replicate in _attempts(plan, entries)]
    if not rows:
        raise WirelabError(f"{campaign}: no trial has finished", hint=run_again(campaign))
    trials = pl.DataFrame(rows, schema=TRIAL_TYPES)
    # The last entry holds: a trial that was run again here is of no part.
    last = {entry.trial: entry.part for entry in entries}
    ran_by = {trial: part for trial, part in last.items() if part is not None}
    done = trials.filter(pl.col("status") == EntryStatus.DONE)
    flows = read_flows(campaign, done["trial"])
    netem = {scenario.key for scenario in plan.scenarios if is_netem(scenario.link)}
    flows = without_drops(flows, done.filter(pl.col("scenario").is_in(netem))["trial"])
    recorded = _recorded_exchanges(campaign, done["trial"])
    spent = spend(campaign, plan, recorded, done, settings)
    marked = recorded.with_columns(disturbed=disturbed(campaign, plan, done, recorded))
    exchanges = _exchanges(marked, done, plan.scenarios, flows, spent)
    replayed = trials.drop(*REPLAY).join(
        replays(campaign, done["trial"]), on="trial", how="left", maintain_order="left"
    )
    streams = [s.key for s in plan.scenarios if isinstance(s.workload, Stream)]
    totals = _with_totals(replayed, exchanges, flows, streams)
    keys, parts = ["trial", "client", "index"], columns(PART)
    with_parts = exchanges.join(spent.exchanges.select(*keys, *parts), on=keys, how="left", maintain_order="left")
    away = outages(campaign, plan, totals, with_parts)
    recovered = totals.drop(TRIAL_COLUMNS).join(by_trial(away), on="trial", how="left", maintain_order="left")
    return Dataset(_with_part(exchanges, ran_by), _with_part(_with_energy(recovered, spent), ran_by), away)


def _with_part(table: pl.DataFrame, ran_by: Mapping[str, int]) -> pl.DataFrame:
    """With the part of a merged campaign that ran each trial; the same table of a campaign that was not merged."""
    if not ran_by:
        return table
    return table.with_columns(part=pl.col("trial").replace_strict(ran_by, default=None, return_dtype=pl.Int64))


def done_trials(campaign: Path) -> list[str]:
    """The finished trials, in the plan's order."""
    plan = read_plan(campaign)
    entries, _ = read_journal(campaign / JOURNAL)
    return [entry.trial for entry, _ in _attempts(plan, entries) if entry.status is EntryStatus.DONE]


def values_so_far(campaign: Path, plan: Plan, scenario: str, metric: Metric) -> list[list[float]]:
    """A metric's values in each finished trial of a scenario while the campaign runs, in the metric's unit.

    They are those of the analysis: what is only known to be above the time-out is infinite. Packet logs are left alone:
    a metric that comes from them has no values here.
    """
    entries, _ = read_journal(campaign / JOURNAL)
    held = [(e, r) for e, r in _attempts(plan, entries) if e.scenario == scenario and e.status is EntryStatus.DONE]
    rows = [_entry_row(campaign, entry, replicate)[0] for entry, replicate in held]
    trials = pl.DataFrame(rows, schema=TRIAL_TYPES)
    recorded = _recorded_exchanges(campaign, trials["trial"])
    unmarked = recorded.with_columns(disturbed=pl.lit(None, pl.Boolean))
    exchanges = _exchanges(unmarked, trials, plan.scenarios, read_flows(campaign, []), Spent.nothing())
    found = sampled(exchanges, metric, plan.scenario(scenario).workload.kind)
    if found is None:
        return []
    values = np.where(found.use, found.values, np.where(found.late & found.censored, np.inf, np.nan))
    seen = exchanges.select("trial").with_columns(value=pl.Series(values)).filter(pl.col("value").is_not_nan())
    return [part["value"].to_list() for part in seen.partition_by("trial", maintain_order=True)]


def _attempts(plan: Plan, entries: Iterable[JournalEntry]) -> Iterable[tuple[JournalEntry, int]]:
    """Finished trials of the plan, then discarded attempts, each with its replicate."""
    planned = {trial.trial: trial for block in plan.blocks for trial in block.trials}
    mine = [e for e in entries if e.trial in planned and planned[e.trial].scenario == e.scenario]
    last = {entry.trial: entry for entry in mine}
    held = [last[trial] for trial in planned if trial in last and last[trial].status.final]
    discarded = [entry for entry in mine if entry.status is EntryStatus.DISCARDED]
    return [(entry, planned[entry.trial].replicate) for entry in [*held, *discarded]]


def _checked_row(campaign: Path, scenario: Scenario, entry: JournalEntry, replicate: int) -> dict[str, Any]:
    """A trial's row; of one whose records are missing or torn only why, and of a discarded attempt with such nothing
    that would be in them.
    """
    row, folder = _entry_row(campaign, entry, replicate)
    done, why = entry.status is EntryStatus.DONE, None
    if not row["excluded"]:
        why = damage(folder, entry.records, done=done)
    try:
        if why is None:
            return row | _recorded_row(folder, scenario, done=done)
    except WirelabError:
        why = f"its record {RESULT} was changed, or is torn"
    return row if row["excluded"] else row | {"status": DAMAGED, "error": why}


def damage_words(trials: pl.DataFrame) -> str | None:
    """Which trials of `trials.parquet` were left out because a record is missing or torn, and why; None without any."""
    found = list(trials.filter(pl.col("status") == DAMAGED).select("trial", "error").iter_rows())
    if not found:
        return None
    first = "; ".join(f"{trial}: {why}" for trial, why in found[:_NAMED])
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    left = f"{len(found)} trial{'s are' if len(found) > 1 else ' is'} left out because of damaged records"
    return f"{left} ({first}{more}). The same run command runs {'them' if len(found) > 1 else 'it'} again."


def _entry_row(campaign: Path, entry: JournalEntry, replicate: int) -> tuple[dict[str, Any], Path]:
    """What the journal says of a trial, and the folder of its records."""
    excluded = entry.status is EntryStatus.DISCARDED
    kept = campaign / TRIALS / entry.trial
    folder = attempt_folder(campaign, entry.trial, entry.attempt) if excluded else kept
    row: dict[str, Any] = dict.fromkeys(TRIAL_TYPES) | {
        "trial": folder.name, "scenario": entry.scenario, "block": entry.block, "replicate": replicate,
        "lane": entry.lane,
        "status": entry.status.value, "error": None if excluded else entry.error,
        "excluded": excluded, "exclusion": entry.error if excluded else None, "not_confirmed": entry.not_confirmed,
    }  # fmt: skip
    return row, folder


def _recorded_row(folder: Path, scenario: Scenario, *, done: bool) -> dict[str, Any]:
    """What a trial's records say of it."""
    row: dict[str, Any] = {"uncounted": 0 if done else _recorded(folder)}
    path = folder / RESULT
    if not path.exists():
        return row
    result = read_result(path)
    row |= {"duration_ns": result.end_ns - result.start_ns, **link_columns(result.link)}
    row["stolen_cpu_ns"] = result.steal_ns
    if result.confirmation is not None:
        row["not_checked"] = result.confirmation.not_checked
        row["arrived"] = result.confirmation.arrived if result.confirmation.sent else None
    row["background_bps"] = background_bps(folder, scenario)
    for endpoint in result.endpoints:
        if endpoint.name in resources.ROLES:
            row |= dict(resources.used(endpoint))
            row[f"{endpoint.name}_run_delay_ns"] = endpoint.run_delay_ns
    for role, limit in result.cpu_limits.items():
        # What it waited for its limit may be in it.
        row[f"{role}_run_delay_ns"] = None
        row |= {f"{role}_{name}": getattr(limit, key) for name, key in LIMIT.items()}
    return row


def _recorded_exchanges(campaign: Path, trials: Iterable[str]) -> pl.DataFrame:
    """The exchanges of some trials, as their clients and proxies wrote them."""
    folders = {trial: campaign / TRIALS / trial for trial in trials}
    frames = [with_proxy(_read_exchanges(folder, trial), folder) for trial, folder in folders.items()]
    empty = with_proxy(pl.DataFrame(schema={"trial": pl.String, **EXCHANGE_TYPES}), campaign)
    return pl.concat([empty, *frames])


def _exchanges(
    exchanges: pl.DataFrame,
    trials: pl.DataFrame,
    scenarios: Sequence[Scenario],
    flows: pl.DataFrame,
    spent: Spent,
) -> pl.DataFrame:
    context = pl.DataFrame(
        [
            (
                s.key,
                s.protocol,
                s.workload.kind,
                s.workload.upload_bytes,
                list(s.workload.downloads) if isinstance(s.workload, RequestResponse) else [],
                bool(s.settings.get("expect-continue", False)),
                s.workload.playout_delay_ns if isinstance(s.workload, Stream) else None,
            )
            for s in scenarios
        ],
        schema={
            "scenario": pl.String,
            "protocol": pl.String,
            "workload": pl.String,
            "upload_bytes": pl.Int64,
            "downloads": pl.List(pl.Int64),
            "expect_continue": pl.Boolean,
            "playout_delay_ns": pl.Int64,
        },
        orient="row",
    )
    pages = [s.key for s in scenarios if s.workload.kind == PAGE]
    flows = with_loads(flows, exchanges, trials.filter(pl.col("scenario").is_in(pages))["trial"])
    return (
        exchanges.join(trials.select(list(TRIAL_KEYS)), on="trial", how="left", maintain_order="left")
        .join(context, on="scenario", how="left", maintain_order="left")
        .join(flows, on=["trial", "local_port"], how="left", maintain_order="left")
        .join(spent.exchanges, on=["trial", "client", "index"], how="left", maintain_order="left")
        .with_columns(flow_exchanges=pl.len().over("trial", "local_port"), download_bytes=_DOWNLOAD)
        .select(
            *TRIAL_KEYS,
            *exchange_types(scenarios),
            "download_bytes",
            "disturbed",
            *(metric.value.alias(metric.column) for metric in EXCHANGE_METRICS),
        )
    )


def _with_energy(trials: pl.DataFrame, spent: Spent) -> pl.DataFrame:
    """Trials with what the client's radio spent."""
    return (
        trials.drop(_ENERGY)
        .join(spent.trials, on="trial", how="left", maintain_order="left")
        .with_columns(metric.value.alias(metric.column) for metric in TRIAL_METRICS if metric.column in _ENERGY)
        .select(list(TRIAL_TYPES))
    )


def exchanges_of(campaign: Path, trial: str) -> list[dict[str, Any]]:
    """A trial's exchanges as its client wrote them; none if it wrote no file."""
    return _read_exchanges(campaign / TRIALS / trial, trial).to_dicts()


def _read_exchanges(folder: Path, trial: str) -> pl.DataFrame:
    """A trial's exchanges as its client wrote them; none if it wrote no file."""
    read = read_rows(folder / "client", "exchanges", EXCHANGE_TYPES)
    # A program that has but one client need not number it.
    return read.select(pl.lit(trial).alias("trial"), pl.all()).with_columns(pl.col("client").fill_null(0))


def _with_absent(exchanges: pl.DataFrame) -> pl.DataFrame:
    """The same with the columns of all workloads: null where a file has none of them."""
    absent = {name: kind for name, kind in EXCHANGE_TYPES.items() if name not in exchanges.columns}
    return exchanges.with_columns(pl.lit(None, dtype=kind).alias(name) for name, kind in absent.items())


def _recorded(folder: Path) -> int | None:
    """The number of exchanges of an unfinished trial; None if its client's file is damaged."""
    try:
        return len(_read_exchanges(folder, folder.name))
    except WirelabError:
        return None


def _with_totals(
    trials: pl.DataFrame, exchanges: pl.DataFrame, flows: pl.DataFrame, streams: Sequence[str]
) -> pl.DataFrame:
    """Trials with their outcomes counted and the wire's totals, flows that no exchange claims included."""
    counts = exchanges.group_by("trial").agg(
        (pl.col("outcome") == outcome).sum().cast(pl.Int64).alias(outcome.replace("-", "_")) for outcome in _OUTCOMES
    )
    streamed = _with_absent(exchanges).with_columns(pl.col("scenario").is_in(streams).alias(delivery.STREAMED))
    totals = streamed.sort("trial", "client", "index").group_by("trial").agg(**delivery.TOTALS)
    wire = flows.group_by("trial").agg(
        pl.col(f"flow_{direction}_{unit}").sum().alias(f"wire_{direction}_{unit}")
        for unit in ("bytes", "packets")
        for direction in DIRECTIONS
    )
    span = exchanges.group_by("trial").agg((pl.col("end_ns").max() - pl.col("start_ns").min()).alias(resources.SPAN))
    filled = [column for column in counts.columns if column != "trial"]
    return (
        trials.drop(*filled, *delivery.TOTALS, *_WIRE, resources.SPAN)
        .join(counts, on="trial", how="left", maintain_order="left")
        .join(span, on="trial", how="left", maintain_order="left")
        .join(totals, on="trial", how="left", maintain_order="left")
        .join(wire, on="trial", how="left", maintain_order="left")
        .with_columns(pl.col(filled).fill_null(0))
        .select(list(TRIAL_TYPES))
    )
