"""Scenarios as the report arranges them: by series (one colour), by condition (one row) and by choices (one group)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from wirelab.report.numbers import COUNT, UNITS, Estimate, Unit
from wirelab.report.palette import Look
from wirelab.schema.estimates import (
    AnalysedScenario,
    Downloads,
    EnumeratedRecord,
    Messages,
    MetricRecord,
    NatRecord,
    OfferedRecord,
    Outcomes,
    SettingInForce,
)
from wirelab.schema.plan import Level
from wirelab.schema.plan import Scenario as Planned
from wirelab.schema.recovery import RecoveryRecord
from wirelab.schema.request import OWN, own_words
from wirelab.site import page_words
from wirelab.toml import inline

Levels = tuple[tuple[str, str], ...]
Moment = Literal["mean", "sd", "median"]
MOMENTS: tuple[Moment, ...] = ("mean", "sd", "median")
_IMAGES, _IMAGE_SIZE = "workload.page.objects", "workload.page.object-size"
ROW_PATHS = ("link", "workload.upload", "workload.download", "workload.page", _IMAGES, _IMAGE_SIZE)
"""Factors that make the rows of a chart, next to levels of congestion; they are those of publications."""


@dataclass(frozen=True)
class Series:
    """One protocol by one pair of implementations: what a chart draws in one colour.

    `provider` names its programs. `origin` is the protocol between proxy and server, None without a proxy.
    """

    label: str
    protocol: str
    implementation: str
    provider: str
    look: Look
    origin: str | None = None


@dataclass(frozen=True, eq=False)
class Scenario:
    """One scenario of the plan with its estimates, if any trial of it was analysed."""

    plan: Planned
    estimates: AnalysedScenario | None
    series: Series

    @property
    def key(self) -> str:
        """Key in every file of the campaign."""
        return self.plan.key

    @property
    def name(self) -> str:
        """The levels in words."""
        return self.plan.name

    @property
    def anchor(self) -> str:
        """The anchor of its list of trials."""
        return f"scenario-{self.key[:16]}"

    @property
    def points(self) -> list[dict[str, Level]]:
        """The grid points that it stands for; several if a choice does not change it."""
        own: dict[str, Level] = {"link": self.plan.link_name}
        return [own | point for point in self.plan.points or (self.plan.levels,)]

    @property
    def outcomes(self) -> Outcomes | None:
        """The number of exchanges by outcome; None if none was analysed."""
        return None if self.estimates is None else self.estimates["denominators"]

    @property
    def complete(self) -> bool:
        """Whether each exchange completed, or was sent where nothing answers, and no trial failed."""
        ends = self.outcomes
        return ends is not None and ends["completed"] + ends["sent"] >= ends["exchanges"] and not ends["failed_trials"]

    @property
    def exchanges(self) -> int:
        """The number of its exchanges that were analysed."""
        return 0 if self.outcomes is None else self.outcomes["exchanges"]

    @property
    def messages(self) -> Messages | None:
        """The number of lost and duplicate messages, and of stalls; None for other workloads."""
        return None if self.estimates is None else self.estimates.get("messages")

    @property
    def nat(self) -> NatRecord | None:
        """What its clients did when the NAT had forgotten their mapping; None without one."""
        return None if self.estimates is None else self.estimates.get("nat")

    @property
    def downloads(self) -> Downloads | None:
        """For downloads in turn: the largest and the smallest size, each with its outcomes; else None."""
        return None if self.estimates is None else self.estimates.get("downloads")

    @property
    def settings(self) -> list[SettingInForce]:
        """Its given settings, configured and in force, a row for each end."""
        return [] if self.estimates is None else self.estimates.get("settings", [])

    @property
    def offered(self) -> OfferedRecord | None:
        """The rates at which messages of an open loop came and were served; None of other workloads."""
        return None if self.estimates is None else self.estimates.get("offered")

    @property
    def recovery(self) -> RecoveryRecord | None:
        """What outages did; None without one."""
        return None if self.estimates is None else self.estimates.get("recovery")

    @property
    def enumerated(self) -> EnumeratedRecord | None:
        """Its exact probabilities of long delays next to those of the sample; None if they were not enumerated."""
        return None if self.estimates is None else self.estimates.get("enumerated")

    @property
    def overload(self) -> OfferedRecord | None:
        """The same if more was offered than was served, else None."""
        return self.offered if self.offered is not None and not self.offered["keeps_up"] else None

    def compared(self, metric: str) -> bool:
        """Whether a metric of it is shown next to others: not if it does not match its levels, and nothing that takes
        time if more was offered than was served. Counts are the same at any rate.
        """
        return self.plotted and (self.overload is None or is_untimed(metric))

    @property
    def plotted(self) -> bool:
        """Whether charts show it: not if a library clamps or ignores a setting of its levels."""
        return all(row["in_force"] is not False for row in self.settings)

    @property
    def metrics(self) -> dict[str, MetricRecord]:
        """Everything estimated, by metric; empty if none was analysed."""
        return {} if self.estimates is None else self.estimates["metrics"]

    def metric(self, name: str) -> MetricRecord | None:
        """Everything estimated of a metric; None if nothing was, and of delays that only grow."""
        if self.overload is not None and is_delay(name):
            return None
        return next((value for key, value in self.metrics.items() if metric_name(key) == metric_name(name)), None)

    def unit(self, metric: str) -> Unit:
        """The unit of a metric."""
        found = self.metric(metric)
        return COUNT if found is None else UNITS.get(found["unit"], COUNT)

    def estimate(self, metric: str, statistic: str) -> Estimate | None:
        """One estimate: `mean`, `sd`, `median`, or a quantile such as `0.95`."""
        values = self.metric(metric)
        if values is None:
            return None
        if statistic in MOMENTS:
            return Estimate.of(values[statistic])
        return Estimate.of(values["quantiles"].get(statistic))

    def above_s(self, metric: str, statistic: str) -> float | None:
        """The timeout, if the statistic is only known to be above it; else None."""
        value = self.estimate(metric, statistic)
        ends = self.outcomes
        if value is None or value.point is not None or ends is None or not ends["timed-out"]:
            return None
        return self.plan.workload.timeout_ns / 1e9


@dataclass(frozen=True)
class Condition:
    """The levels shared by scenarios that differ only in protocol or implementation: a row of the chart."""

    label: str
    scenarios: tuple[Scenario, ...]


@dataclass(frozen=True)
class Group:
    """The conditions under one set of choices; a campaign without choices has one group, with an empty title.

    `own` are the keys of scenarios that no earlier group shows; the others are there to be compared with.
    """

    title: str
    conditions: tuple[Condition, ...]
    own: frozenset[str]

    @property
    def scenarios(self) -> list[Scenario]:
        """All scenarios, by condition."""
        return [scenario for _, scenario in self.pairs]

    @property
    def pairs(self) -> list[tuple[Condition, Scenario]]:
        """Each scenario with its condition."""
        return [(condition, scenario) for condition in self.conditions for scenario in condition.scenarios]


def metric_name(name: str) -> str:
    """A metric's name without unit, in kebab case: `phase_connect_ns` and `phase-connect` are the same."""
    name = name.replace("_", "-")
    for unit in ("-ns", "-bps", "-bytes", "-s", "-j"):
        if name.endswith(unit) and not name.startswith("wire-"):
            return name.removesuffix(unit)
    return name


def is_delay(metric: str) -> bool:
    """Whether a metric is a time that passes."""
    from wirelab.metrics.registry import DELAYS

    return metric_name(metric) in _names(DELAYS)


def is_untimed(metric: str) -> bool:
    """Whether time has no part in a metric."""
    from wirelab.metrics.registry import UNTIMED

    return metric_name(metric) in _names(UNTIMED)


@cache
def _names(metrics: frozenset[str]) -> frozenset[str]:
    return frozenset(map(metric_name, metrics))


def makes_row(path: str) -> bool:
    """Whether a factor makes the rows of a chart."""
    return path in ROW_PATHS or _flows_of(path) is not None


def _flows_of(path: str) -> str | None:
    """The traffic with the varied number of flows: `bulk` of `traffic.bulk-*.flows`; None for other factors."""
    match path.split("."):
        case ["traffic", name, "flows"]:
            return name.rstrip("*-")
    return None


def levels_words(path: str, levels: Iterable[object]) -> str:
    """A factor's levels as written: a page by its name, another table as in the file."""
    shown = (page_words(json.dumps(level)) if path == "workload.page" and isinstance(level, dict) else
             level if isinstance(level, str) else inline(level) for level in levels)  # fmt: skip
    return ", ".join(shown)


def level_words(path: str, level: str) -> str:
    """A level with enough of its factor's path to be understood; sizes, links and workloads speak for themselves.

    `response-time` is what claims name their definition of response time by.
    """
    if path == "response-time":
        return {
            "response-time-curl": "response time as curl's",
            "response-time": "response time to the final response",
        }.get(level, level)
    if (traffic := _flows_of(path)) is not None:
        return " ".join(filter(None, (level, traffic, "flows")))
    if path.startswith("workload.page"):
        return {_IMAGES: f"{level} image{'s' * (level != '1')}", _IMAGE_SIZE: f"images of {level}"}.get(
            path, page_words(level)
        )
    if path in OWN:
        return own_words(level)
    return level if path in ROW_PATHS or path == "workload" else f"{_path_words(path)} {level}"


def _path_words(path: str) -> str:
    match path.split("."):
        case ["protocols", protocol, *keys]:
            return f"{protocol} {'.'.join(keys)}"
        case ["workload" | "protocol", *keys] if keys:
            return ".".join(keys)
        case ["links", link, *_, key]:
            return f"{link} {key}"
    return path
