"""A campaign directory as the report sees it: scenarios, the conditions that they share and the groups that choices make of those."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from wirelab.errors import RunError
from wirelab.report.numbers import Estimate
from wirelab.report.palette import Look, looks
from wirelab.schema.campaign import FACTS, JOURNAL, PLAN, JournalEntry, read_journal

Json = dict[str, Any]
Levels = tuple[tuple[str, str], ...]
ROWS_OF_THE_CHART = ("link", "workload.upload", "workload.download")


@dataclass(frozen=True)
class Series:
    """One stack by one pair of implementations: what a chart draws in one colour."""

    label: str
    stack: str
    implementation: str
    look: Look


@dataclass(frozen=True, eq=False)
class Scenario:
    """One scenario of the plan with its estimates, if any trial of it was analysed."""

    plan: Json
    estimates: Json | None
    series: Series
    condition: Levels

    @property
    def key(self) -> str:
        """Key in every file of the campaign."""
        return str(self.plan["key"])

    @property
    def name(self) -> str:
        """Levels joined, for people."""
        return str(self.plan["name"])

    @property
    def anchor(self) -> str:
        """Where the page lists its trials."""
        return f"scenario-{self.key[:16]}"

    @property
    def denominators(self) -> Json:
        """How many exchanges ended how; empty if none was analysed."""
        return dict((self.estimates or {}).get("denominators") or {})

    def metric(self, name: str) -> Json:
        """Everything estimated of a metric; empty if nothing was."""
        for key, value in ((self.estimates or {}).get("metrics") or {}).items():
            if metric_name(key) == metric_name(name) and isinstance(value, dict):
                return value
        return {}

    def estimate(self, metric: str, statistic: str) -> Estimate | None:
        """One estimate: `mean`, `sd`, `median`, or a quantile such as `0.95`."""
        values = self.metric(metric)
        return Estimate.of(values.get(statistic) or (values.get("quantiles") or {}).get(statistic))


@dataclass(frozen=True)
class Condition:
    """What scenarios share that differ in stack or implementation alone: a row of the chart."""

    levels: Levels
    label: str
    scenarios: tuple[Scenario, ...]


@dataclass(frozen=True)
class Group:
    """The conditions under one set of choices; a campaign without choices has one group, with an empty title."""

    title: str
    levels: Levels
    conditions: tuple[Condition, ...]

    @property
    def scenarios(self) -> list[Scenario]:
        """All of them, condition by condition."""
        return [scenario for condition in self.conditions for scenario in condition.scenarios]


@dataclass(frozen=True, eq=False)
class Campaign:
    """The files of a campaign, read once. `page_folder` is where the report will stand; links are relative to it."""

    folder: Path
    page_folder: Path
    plan: Json
    estimates: Json
    verdicts: Json | None
    record: Json
    journal: dict[str, JournalEntry]
    series: tuple[Series, ...]
    scenarios: tuple[Scenario, ...]
    groups: tuple[Group, ...]
    constant_levels: Levels
    choice_paths: tuple[str, ...]
    scenario_by_key: dict[str, Scenario] = field(default_factory=dict)

    @property
    def experiment(self) -> Json:
        """The resolved experiment."""
        return dict(self.plan.get("experiment") or {})

    @property
    def metric(self) -> str:
        """The headline metric."""
        return str(self.estimates.get("metric") or self.experiment.get("metric") or "end-to-end-delay")

    @property
    def links(self) -> list[Json]:
        """Link as told and measured, a row for each link and direction."""
        return list(self.estimates.get("links") or [])

    @cached_property
    def trials(self) -> dict[str, list[Json]]:
        """Planned trials of each scenario."""
        trials: dict[str, list[Json]] = {scenario.key: [] for scenario in self.scenarios}
        for block in self.plan.get("blocks") or []:
            for trial in block["trials"]:
                trials.setdefault(trial["scenario"], []).append({**trial, "block": block["block"]})
        return trials

    @property
    def unfinished(self) -> str | None:
        """Why the campaign is not complete, or None. A stopping rule may end it before the last block, never before the fewest replicates."""
        least = ((self.experiment.get("stop") or {}).get("replicates") or [1])[0]
        short = 0
        for trials in self.trials.values():
            entries = [self.journal[trial["trial"]] for trial in trials if trial["trial"] in self.journal]
            short += sum(entry.status.final for entry in entries) < min(least, len(trials))
        if not short:
            return None
        finished = sum(entry.status.final for entry in self.journal.values())
        planned = sum(map(len, self.trials.values()))
        return f"{short} of {len(self.trials)} scenarios have fewer than {least} finished trials; {finished} of {planned} planned trials are finished"

    def href(self, relative: str) -> str | None:
        """A relative link from the page to a file of the campaign, None if it is not there."""
        path = self.folder / relative
        if not path.exists():
            return None
        return Path(os.path.relpath(path, self.page_folder)).as_posix()


def load(folder: Path, page_folder: Path) -> Campaign:
    """Read a campaign. Raises `RunError` if it has no plan or no estimates."""
    plan = _read(folder / PLAN)
    if plan is None:
        raise RunError(f"'{folder}' is no campaign: it has no plan.json", hint="wirelab run FILE makes one")
    estimates = _read(folder / "estimates.json")
    if estimates is None:
        raise RunError(f"'{folder}' has no estimates.json", hint=f"wirelab analyze {folder}")
    verdicts = _read(folder / "verdicts.json")

    analysed = {entry["key"]: entry for entry in estimates.get("scenarios") or []}
    choice_paths = _choice_paths(plan, verdicts)
    varied = {path for path, levels in _factors(plan).items() if len(levels) > 1}
    scenarios, series = _scenarios(plan, analysed)
    groups = _groups(scenarios, choice_paths, varied)
    first = scenarios[0].condition if scenarios else ()
    return Campaign(
        folder=folder,
        page_folder=page_folder,
        plan=plan,
        estimates=estimates,
        verdicts=verdicts,
        record=_read(folder / FACTS) or {},
        journal={entry.trial: entry for entry in read_journal(folder / JOURNAL)[0]},
        series=series,
        scenarios=scenarios,
        groups=groups,
        constant_levels=tuple((path, level) for path, level in first if path not in varied),
        choice_paths=choice_paths,
        scenario_by_key={scenario.key: scenario for scenario in scenarios},
    )


def metric_name(name: str) -> str:
    """A metric's name without unit, in kebab case: `phase_connect_ns` and `phase-connect` are the same."""
    name = name.replace("_", "-")
    for unit in ("-ns", "-bps", "-bytes", "-s"):
        if name.endswith(unit) and not name.startswith("wire-"):
            return name.removesuffix(unit)
    return name


def level_words(path: str, level: str) -> str:
    """A level with enough of its factor's path to be understood; sizes and links speak for themselves."""
    return level if path in ROWS_OF_THE_CHART else f"{path.removeprefix('workload.')} {level}"


def _scenarios(plan: Json, analysed: dict[str, Json]) -> tuple[tuple[Scenario, ...], tuple[Series, ...]]:
    entries = list(plan.get("scenarios") or [])
    identities = list(dict.fromkeys(_identity(entry) for entry in entries))
    stacks_with_variants = {stack for _, stack, _ in identities if len([i for i in identities if i[1] == stack]) > 1}
    series = {}
    for identity, look in zip(identities, looks([(stack, impl) for _, stack, impl in identities]), strict=True):
        label, stack, implementation = identity
        variants = {impl for _, other, impl in identities if other == stack}
        text = f"{label} ({implementation})" if stack in stacks_with_variants and len(variants) > 1 else label
        series[identity] = Series(text, stack, implementation, look)
    scenarios = tuple(
        Scenario(entry, analysed.get(entry["key"]), series[_identity(entry)], _condition(entry)) for entry in entries
    )
    return scenarios, tuple(series.values())


def _identity(entry: Json) -> tuple[str, str, str]:
    levels = entry.get("levels") or {}
    stack = str(entry["stack"])
    ends = entry.get("implementation") or {}
    client, server = str(ends.get("client", "builtin")), str(ends.get("server", "builtin"))
    return str(levels.get("stack", stack)), stack, client if client == server else f"{client} to {server}"


def _condition(entry: Json) -> Levels:
    levels = {path: str(level) for path, level in (entry.get("levels") or {}).items() if not _is_series_path(path)}
    levels.setdefault("link", str(entry.get("link_name", "")))
    return tuple(levels.items())


def _is_series_path(path: str) -> bool:
    return path == "stack" or path.split(".")[0] in {"implementation", "implementations"}


def _factors(plan: Json) -> dict[str, list[str]]:
    factors: dict[str, dict[str, None]] = {}
    for entry in plan.get("scenarios") or []:
        levels = {"link": entry.get("link_name", "")} | (entry.get("levels") or {})
        for path, level in levels.items():
            factors.setdefault(path, {})[str(level)] = None
    return {path: list(levels) for path, levels in factors.items()}


def _choice_paths(plan: Json, verdicts: Json | None) -> tuple[str, ...]:
    judged = {
        path
        for claim in (verdicts or {}).get("claims") or []
        for choice in claim.get("choices") or []
        for path in choice.get("levels") or {}
    }
    factors = _factors(plan)
    varied = [path for path, levels in factors.items() if len(levels) > 1 and not _is_series_path(path)]
    return tuple(path for path in varied if path in judged or path not in ROWS_OF_THE_CHART)


def _groups(scenarios: Iterable[Scenario], choice_paths: tuple[str, ...], varied: set[str]) -> tuple[Group, ...]:
    groups: dict[Levels, dict[Levels, list[Scenario]]] = {}
    for scenario in scenarios:
        choices = tuple((path, level) for path, level in scenario.condition if path in choice_paths)
        groups.setdefault(choices, {}).setdefault(scenario.condition, []).append(scenario)
    return tuple(
        Group(
            title=", ".join(level_words(*pair) for pair in choices),
            levels=choices,
            conditions=tuple(
                Condition(levels, _label(levels, choice_paths, varied), tuple(members))
                for levels, members in conditions.items()
            ),
        )
        for choices, conditions in groups.items()
    )


def _label(levels: Levels, choice_paths: tuple[str, ...], varied: set[str]) -> str:
    shown = [(path, level) for path, level in levels if path in varied and path not in choice_paths]
    shown.sort(key=lambda pair: pair[0] == "link")
    return " · ".join(level_words(*pair) for pair in shown) or dict(levels).get("link", "all")


def _read(path: Path) -> Json | None:
    try:
        value: Json = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except json.JSONDecodeError as error:
        raise RunError(f"{path}:{error.lineno}: not JSON: {error.msg}", hint="make it again with wirelab analyze") from error
    return value
