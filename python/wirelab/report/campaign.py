"""A campaign directory as the report sees it: its files, read once, with their scenarios arranged for the page."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import polars as pl

from wirelab.errors import WirelabError
from wirelab.launcher import launched
from wirelab.metrics.steps import next_command
from wirelab.metrics.trial_rows import damage_words
from wirelab.report.grid import Factors
from wirelab.report.model import Group, Levels, Scenario, Series
from wirelab.report.numbers import MILLISECONDS, Unit
from wirelab.report.palette import looks
from wirelab.report.protocols import BUILTIN, TO, by_proxy, provider
from wirelab.schema.campaign import JOURNAL, PLAN, EntryStatus, JournalEntry, read_journal, read_plan
from wirelab.schema.estimates import ESTIMATES, AnalysedScenario, Estimates, LinkRecord, read_estimates
from wirelab.schema.plan import ExperimentRecord, Plan, Preview
from wirelab.schema.plan import Scenario as Planned
from wirelab.schema.record import CampaignRecord, RunRecord, read_record
from wirelab.schema.verdicts import ClaimRecord, Verdicts, read_verdicts
from wirelab.statistic import MEDIAN
from wirelab.units import format_duration


class PlannedTrial(NamedTuple):
    """A trial, and the block that it belongs to."""

    name: str
    block: int


@dataclass(frozen=True, eq=False)
class Campaign:
    """The files of a campaign, read once. `page_folder` is where the report will stand; links are relative to it."""

    folder: Path
    page_folder: Path
    plan: Plan
    estimates: Estimates
    verdicts: Verdicts | None
    record: CampaignRecord | None
    journal: dict[str, JournalEntry]
    series: tuple[Series, ...]
    scenarios: tuple[Scenario, ...]
    groups: tuple[Group, ...]
    constant_levels: Levels
    scenario_by_key: dict[str, Scenario] = field(default_factory=dict)

    @property
    def experiment(self) -> ExperimentRecord:
        """The resolved experiment."""
        return self.plan.experiment

    @property
    def metric(self) -> str:
        """The headline metric."""
        return self.estimates["metric"]

    @property
    def statistic(self) -> str:
        """The statistic of it that ranks protocols, such as `median` or `p95`."""
        return self.estimates.get("statistic", MEDIAN)

    @property
    def unit(self) -> Unit:
        """The unit of the headline metric."""
        return next((s.unit(self.metric) for s in self.scenarios if s.metric(self.metric)), MILLISECONDS)

    @property
    def links(self) -> list[LinkRecord]:
        """Link as configured and measured, a row for each link and direction."""
        return self.estimates["links"]

    @property
    def claims(self) -> list[ClaimRecord]:
        """Claims with their verdicts; none if the experiment has none."""
        return [] if self.verdicts is None else self.verdicts["claims"]

    @cached_property
    def trials(self) -> dict[str, list[PlannedTrial]]:
        """Planned trials of each scenario."""
        trials: dict[str, list[PlannedTrial]] = {scenario.key: [] for scenario in self.scenarios}
        for block in self.plan.blocks:
            for trial in block.trials:
                trials[trial.scenario].append(PlannedTrial(trial.trial, block.block))
        return trials

    @cached_property
    def lateness(self) -> dict[str, tuple[list[int], list[int]]]:
        """For each trial: upper edges of the timing error in nanoseconds, and the number of packets up to each."""
        path, columns = self.folder / "trials.parquet", ["trial", "lateness_upper_ns", "lateness_packets"]
        if not path.exists() or not set(columns) <= set(pl.read_parquet_schema(path)):
            return {}
        rows = pl.read_parquet(path, columns=columns).drop_nulls().iter_rows()
        return {trial: (upper_ns, packets) for trial, upper_ns, packets in rows}

    @property
    def quick_run(self) -> Preview | None:
        """How a budget scaled the plan down, or None. A quick run is not conclusive."""
        return self.experiment.preview

    @property
    def unfinished(self) -> str | None:
        """Why the campaign is not complete, or None.

        A stopping rule may end it before the last block, but not before the fewest replicates, which only a
        budget does.
        """
        if (damaged := self._damaged) is not None:
            return damaged
        least = self.experiment.stop.replicates[0]
        final = {trial for trial, entry in self.journal.items() if entry.status.final}
        done = {key: sum(trial.name in final for trial in trials) for key, trials in self.trials.items()}
        short = sum(done[key] < min(least, len(trials)) for key, trials in self.trials.items())
        planned = sum(map(len, self.trials.values()))
        runs = () if self.record is None else self.record.runs
        ended = bool(runs and runs[-1].ended)
        if (why := self._not_started(planned)) is not None:
            return why
        if ended and runs[-1].cut_after_blocks is not None:
            return self._cut(runs[-1])
        if sum(done.values()) == planned or not (short or (runs and not ended)):
            return None
        counts = f"{sum(done.values())} of {planned} planned trials are finished"
        have = "has" if short == 1 else "have"
        of = f"{short} of {len(done)} scenario{'s' * (len(done) != 1)}"
        fewer = f"{of} {have} fewer than {least} finished trial{'s' * (least != 1)}"
        if ended:
            shard = runs[-1].shard
            part = "" if shard is None else f"This is shard {shard[0]}/{shard[1]}, not conclusive without the others"
            return f"{part or 'The budget ended the run early'}: {fewer}; {counts}."
        return f"Not finished: {fewer if short else 'the last run did not end'}; {counts}. The numbers will change."

    @cached_property
    def _damaged(self) -> str | None:
        """Which trials were left out, because their records are damaged."""
        path, columns = self.folder / "trials.parquet", ["trial", "status", "error"]
        if not path.exists() or not set(columns) <= set(pl.read_parquet_schema(path)):
            return None
        return damage_words(pl.read_parquet(path, columns=columns))

    def _not_started(self, planned: int) -> str | None:
        """Which trials were not run, and why; None if all were."""
        names = {(trial.name, key) for key, trials in self.trials.items() for trial in trials}
        entries = [entry for entry in self.journal.values() if (entry.trial, entry.scenario) in names]
        found = [entry for entry in entries if entry.status is EntryStatus.NOT_RUN]
        if not found:
            return None
        reasons = "; ".join(dict.fromkeys(entry.error or "no reason was given" for entry in found))
        return f"{len(found)} of {planned} planned trials were not run: {reasons}."

    def _cut(self, run: RunRecord) -> str:
        """What is missing because the budget ended the run."""
        stop = self.experiment.stop
        budget = format_duration(stop.budget_ns) if stop.budget_ns else "it was given"
        scenarios = f"{run.cut_scenarios} of {len(self.scenarios)} scenario{'s' * (len(self.scenarios) != 1)}"
        if stop.interval is not None:
            asked = f"{stop.interval.relative:.0%} of the {stop.interval.of}"
            lacks = f"intervals of {scenarios} are wider than asked ({asked})"
        else:
            have = "has" if run.cut_scenarios == 1 else "have"
            lacks = f"{scenarios} {have} fewer trials than planned, so their intervals are wider"
        return f"The budget of {budget} ended after block {run.cut_after_blocks} of {len(self.plan.blocks)}: {lacks}."

    @cached_property
    def failed(self) -> dict[Series, str]:
        """Series with failed trials and no successful one, each with the last error."""
        found: dict[Series, str] = {}
        done = set()
        for scenario in self.scenarios:
            for trial in self.trials[scenario.key]:
                entry = self.journal.get(trial.name)
                if entry is None or entry.scenario != scenario.key:
                    continue
                if entry.status is EntryStatus.DONE:
                    done.add(scenario.series)
                elif entry.status in {EntryStatus.FAILED, EntryStatus.TIMED_OUT, EntryStatus.UNUSABLE}:
                    found[scenario.series] = f"{entry.status}: {entry.error}" if entry.error else str(entry.status)
        return {series: why for series, why in found.items() if series not in done}

    @cached_property
    def unsupported(self) -> dict[str, str]:
        """Keys of unsupported scenarios, each with the reason."""
        entries = (entry for entry in self.journal.values() if entry.status is EntryStatus.UNSUPPORTED)
        return {entry.scenario: entry.error or "no reason was given" for entry in entries}

    def href(self, relative: str) -> str | None:
        """A relative link from the page to a file of the campaign, None if it is not there."""
        path = self.folder / relative
        if not path.exists():
            return None
        return Path(os.path.relpath(path, self.page_folder)).as_posix()


def load(folder: Path, page_folder: Path) -> Campaign:
    """Read a campaign. Raises `WirelabError` if it has no plan or no estimates."""
    if not (folder / PLAN).is_file():
        raise WirelabError(
            f"'{folder}' is not a campaign: it has no plan.json", hint=f"{launched('run FILE')} makes one"
        )
    plan = read_plan(folder)
    if not (folder / ESTIMATES).exists():
        raise WirelabError(f"'{folder}' has no {ESTIMATES}", hint=next_command(folder))
    estimates, verdicts, record = read_estimates(folder), read_verdicts(folder), read_record(folder)
    analysed = {entry["key"]: entry for entry in estimates["scenarios"]}
    scenarios, series = _scenarios(plan, analysed, record)
    factors = Factors.of(plan, scenarios)
    return Campaign(
        folder=folder,
        page_folder=page_folder,
        plan=plan,
        estimates=estimates,
        verdicts=verdicts,
        record=record,
        journal={entry.trial: entry for entry in read_journal(folder / JOURNAL)[0]},
        series=series,
        scenarios=scenarios,
        groups=factors.groups(scenarios),
        constant_levels=factors.constant,
        scenario_by_key={scenario.key: scenario for scenario in scenarios},
    )


def _scenarios(
    plan: Plan, analysed: dict[str, AnalysedScenario], record: CampaignRecord | None
) -> tuple[tuple[Scenario, ...], tuple[Series, ...]]:
    entries = plan.scenarios
    identities = list(dict.fromkeys(_identity(entry) for entry in entries))
    origins: dict[tuple[str, str, str], str] = {}
    for entry in entries:
        if entry.origin is not None:
            origins.setdefault(_identity(entry), entry.origin.protocol)
    mixed = len({implementation for _, _, implementation in identities}) > 1
    series = {}
    for identity, look in zip(identities, looks([(protocol, impl) for _, protocol, impl in identities]), strict=True):
        label, protocol, implementation = identity
        variants = {impl for _, other, impl in identities if other == protocol}
        # In a comparison with another protocol the reader must see that the program differs too.
        named = len(variants) > 1 or (mixed and implementation != BUILTIN)
        text = f"{label} ({implementation})" if named else label
        origin = origins.get(identity)
        whose = provider(protocol, implementation, record) + f"; {by_proxy(origin)}" * (origin is not None)
        series[identity] = Series(text, protocol, implementation, whose, look, origin)
    scenarios = tuple(Scenario(entry, analysed.get(entry.key), series[_identity(entry)]) for entry in entries)
    return scenarios, tuple(series.values())


def _identity(entry: Planned) -> tuple[str, str, str]:
    client, server = entry.implementation.client, entry.implementation.server
    label = str(entry.levels.get("protocol", entry.protocol))
    return label, entry.protocol, client if client == server else f"{client}{TO}{server}"
