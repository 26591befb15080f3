"""Where the numbers of a judgement come from: a campaign, or the publication's own tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from wirelab.claims.load import Claims
from wirelab.claims.part import Levels
from wirelab.experiment.grid.scenario import path_in_version_1
from wirelab.schema.plan import Level
from wirelab.stats.dataset import Dataset, points
from wirelab.stats.estimate import bootstrap, published_rule
from wirelab.stats.estimate.bootstrap import RESAMPLES, Draws
from wirelab.stats.estimate.sample import Floats, Sample
from wirelab.stats.settings_in_force import not_in_force, settings_in_force

MOST_TIMED_OUT = 0.01
"""Of more, a mean over what completed says little: time-outs then count as the time-out, which makes it a bound. A
metric of which a time-out tells nothing, such as a phase, then decides nothing.
"""

Point = Mapping[str, Level]


@dataclass
class Published:
    """The publication's numbers as printed: points without intervals, or where it printed every value a sample."""

    claims: Claims
    words: str = "printed"
    touched: dict[str, int] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    _drawn: dict[tuple[Sequence[str], ...], dict[str, Draws]] = field(default_factory=dict)

    def draws(self, metric: str, statistic: str, levels: Levels) -> Draws | None:
        case = frozenset(levels.items())
        values = self.claims.values.get((metric, case))
        if values is not None:
            return self._sampled(metric, statistic, levels, np.array(values, dtype=np.float64))
        value = self.claims.numbers.get((metric, statistic, case))
        return None if value is None else Draws(value, np.array([value]), np.inf, 0)

    def _sampled(self, metric: str, statistic: str, levels: Levels, values: Floats) -> Draws:
        """As of one trial. Draws of one case are the same whichever part asks."""
        name = metric, *sorted((path_in_version_1(path), level) for path, level in levels.items())
        if name not in self._drawn:
            rng = np.random.default_rng(list(repr(name).encode()))
            mean, sd = bootstrap.moments((values,), RESAMPLES, rng)
            self._drawn[name] = {"mean": mean, "sd": sd, "median": bootstrap.medians((values,), RESAMPLES, rng)}
        return self._drawn[name][statistic]

    def unanswered(self, levels: Levels) -> list[tuple[int, int]] | None:  # noqa: ARG002 (nobody printed outcomes yet)
        return None


@dataclass
class Measured:
    """A campaign's samples at one combination of the levels that the publication leaves open.

    `metrics` maps a claim's name of a metric to that of the dataset. With `filtered`, values are those that the
    publication's outlier rule keeps. Metrics of one scenario are resampled together, since they are of the same
    exchanges.
    """

    samples: Samples
    choice: Point
    metrics: Mapping[str, str]
    filtered: bool
    resamples: int
    words: str = "measured"
    touched: dict[str, int] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    _drawn: dict[tuple[str, str, str], Draws | None] = field(default_factory=dict)

    def draws(self, metric: str, statistic: str, levels: Levels) -> Draws | None:
        scenario = self._scenario(levels)
        if scenario is None:
            return None
        name = self.metrics.get(metric, metric)
        if (scenario, name, statistic) not in self._drawn:
            self._draw(scenario, name)
        draws = self._drawn[scenario, name, statistic]
        if draws is not None:
            self.touched[scenario] = max(draws.n, self.touched.get(scenario, 0))
        return draws

    def unanswered(self, levels: Levels) -> list[tuple[int, int]] | None:
        scenario = self._scenario(levels)
        trials = self.samples.dataset.unanswered(scenario) if scenario is not None else []
        if scenario is None or not trials:
            return None
        self.touched[scenario] = sum(exchanges for _, exchanges in trials)
        return trials

    def _scenario(self, levels: Levels) -> str | None:
        found = self.samples.scenario({**self.choice, **levels})
        why = "" if found is None else self.samples.not_in_force.get(found)
        if why is None:
            return found
        self.absent[" ".join(levels.values())] = why
        return None

    def _draw(self, scenario: str, metric: str) -> None:
        sample = self.samples.of(scenario).get(metric)
        if sample is not None and self.filtered:
            sample = published_rule.filtered(sample)
        trials = sample.completed() if sample is not None else ()
        time_out_s = self.samples.time_out_s(scenario)
        bound = False
        if sample is not None and sample.censored_share > MOST_TIMED_OUT:
            bound = True
            trials = tuple(trial for trial in sample.with_censored(time_out_s) if len(trial))
        if sum(map(len, trials)) < 2:
            for statistic in ("mean", "sd", "median"):
                self._drawn[scenario, metric, statistic] = None
            return
        rng = self.samples.dataset.rng(scenario, "claims")
        mean, sd = bootstrap.moments(trials, self.resamples, rng)
        every = sample.with_censored() if sample is not None else ()
        drawn = {
            "mean": replace(mean, tells=(True, not bound)),
            "sd": None if bound else sd,
            "median": bootstrap.medians(every, self.resamples, rng) if self.samples.medians else None,
        }
        unknown = sample is not None and sample.unknown_share > MOST_TIMED_OUT
        for statistic, draws in drawn.items():
            judged = replace(draws, tells=(False, False)) if draws is not None and unknown else draws
            self._drawn[scenario, metric, statistic] = judged


@dataclass
class Samples:
    """A campaign's scenarios by their points in the grid, and their samples, read once. `medians` says whether any
    claim uses them.
    """

    dataset: Dataset
    grid: frozenset[str]
    medians: bool
    _points: dict[frozenset[tuple[str, str]], str] = field(default_factory=dict)
    _samples: dict[str, dict[str, Sample]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for scenario in self.dataset.scenarios:
            for point in points(scenario):
                self._points[_key(point)] = scenario.key

    def scenario(self, point: Point) -> str | None:
        """Key of the scenario at exactly these levels."""
        return self._points.get(_key(point))

    @cached_property
    def not_in_force(self) -> dict[str, str]:
        """By key, for each scenario that does not match its levels: the setting that was not in force, and why."""
        rows = settings_in_force(self.dataset)
        whys = ((one, not_in_force(rows.get(one.key, ()))) for one in self.dataset.scenarios)
        return {one.key: f"{one.name}: {why}" for one, why in whys if why}

    def time_out_s(self, scenario: str) -> float:
        """After which an exchange of the scenario times out."""
        return self.dataset.plan.scenario(scenario).workload.timeout_ns * 1e-9

    def of(self, scenario: str) -> dict[str, Sample]:
        """The scenario's samples by metric."""
        if scenario not in self._samples:
            self._samples[scenario] = {one.metric.name: one.sample for one in self.dataset.measured(scenario)}
        return self._samples[scenario]

    def choices(self) -> list[dict[str, Level]]:
        """Every combination of levels outside the publication's grid, in plan order."""
        found: dict[frozenset[tuple[str, str]], dict[str, Level]] = {}
        for scenario in self.dataset.scenarios:
            for point in points(scenario):
                choice = {path: level for path, level in point.items() if path not in self.grid}
                found.setdefault(_key(choice), choice)
        return list(found.values())


def _key(point: Point) -> frozenset[tuple[str, str]]:
    return frozenset((path, _plain(level)) for path, level in point.items())


def same_level(one: object, other: object) -> bool:
    """Whether two levels as written are the same."""
    return _plain(one) == _plain(other)


def _plain(level: object) -> str:
    """Levels are compared without spaces and case: `3.5 KB` is `3.5 kB`."""
    return "".join(str(level).split()).lower()
