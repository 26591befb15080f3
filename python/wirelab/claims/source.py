"""Where the numbers of a judgement come from: a campaign, or the publication's own tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from wirelab.claims.grade import Grades
from wirelab.claims.judgement import TimeOuts
from wirelab.claims.load import Claims
from wirelab.claims.part import Levels
from wirelab.experiment.grid.scenario import path_in_version_1
from wirelab.schema.plan import Level
from wirelab.stats.dataset import Dataset, points
from wirelab.stats.estimate import bootstrap, published_rule, studentized
from wirelab.stats.estimate.bootstrap import RESAMPLES, Draws
from wirelab.stats.estimate.descriptive import time_outs_in_mean
from wirelab.stats.estimate.sample import Floats, Sample
from wirelab.stats.link.grade import DISTURBED
from wirelab.stats.settings_in_force import not_in_force, settings_in_force

MOST_TIMED_OUT = 0.01
"""With more, a standard deviation of what completed decides nothing, and neither does a metric of which a time-out
says nothing, such as a phase.
"""

Point = Mapping[str, Level]


@dataclass
class Published:
    """The publication's numbers as printed: points without intervals, or where it printed every value a sample."""

    claims: Claims
    words: str = "printed"
    touched: dict[str, int] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    time_outs: dict[str, TimeOuts] = field(default_factory=dict)
    unusable: dict[str, str] = field(default_factory=dict)
    waited: dict[str, float] = field(default_factory=dict)
    disturbed: dict[str, tuple[int, int]] = field(default_factory=dict)
    without: str | None = None
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

    def name_of(self, scenario: str) -> str:
        return scenario


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
    time_outs: dict[str, TimeOuts] = field(default_factory=dict)
    grades: Grades | None = None
    unusable: dict[str, str] = field(default_factory=dict)
    waited: dict[str, float] = field(default_factory=dict)
    disturbed: dict[str, tuple[int, int]] = field(default_factory=dict)
    without: str | None = None
    _shorter: dict[tuple[str, str, str], Draws] = field(default_factory=dict)
    _drawn: dict[tuple[str, str, str], Draws | None] = field(default_factory=dict)
    _calm: dict[tuple[str, str, str], Draws | None] = field(default_factory=dict)
    _time_outs: dict[tuple[str, str], TimeOuts] = field(default_factory=dict)

    def draws(self, metric: str, statistic: str, levels: Levels) -> Draws | None:
        scenario = self._scenario(levels)
        if scenario is None:
            return None
        name = self.metrics.get(metric, metric)
        if self._overloaded(scenario, name, levels):
            return None
        if (scenario, name, statistic) not in self._drawn:
            self._draw(scenario, name)
        draws = self._drawn[scenario, name, statistic]
        if self.without == DISTURBED and name in self.samples.calm(scenario):
            return self._without_disturbed(scenario, name, statistic)
        if draws is not None:
            self.touched[scenario] = max(draws.n, self.touched.get(scenario, 0))
            self._quality(scenario, name, statistic)
            if self.without == scenario and scenario in self.waited:
                draws = self._less(scenario, name, statistic, draws)
            if statistic == "mean" and (scenario, name) in self._time_outs:
                self.time_outs[scenario] = self._time_outs[scenario, name]
        return draws

    def unanswered(self, levels: Levels) -> list[tuple[int, int]] | None:
        scenario = self._scenario(levels)
        if scenario is not None and self._overloaded(scenario, "end-to-end-delay", levels):
            return None
        trials = self.samples.dataset.unanswered(scenario) if scenario is not None else []
        if scenario is None or not trials:
            return None
        calm = self.samples.dataset.unanswered(scenario, undisturbed=True)
        if self.without == DISTURBED:
            return calm or None
        self.touched[scenario] = sum(exchanges for _, exchanges in trials)
        self._quality(scenario, "end-to-end-delay", "unanswered")
        self.disturbed.pop(scenario, None)
        if calm != trials:
            self.disturbed[scenario] = self.touched[scenario], sum(exchanges for _, exchanges in calm)
        return trials

    def name_of(self, scenario: str) -> str:
        return self.samples.dataset.plan.scenario(scenario).name

    def _overloaded(self, scenario: str, metric: str, levels: Levels) -> bool:
        """Whether a metric only says how long trials were; notes why."""
        why = None if self.grades is None else self.grades.overload(scenario, metric)
        if why is not None:
            self.absent[" ".join(levels.values())] = f"{self.name_of(scenario)}: {why}"
        return why is not None

    def _quality(self, scenario: str, metric: str, statistic: str) -> None:
        """Notes what the scenario's quality means for this statistic."""
        if self.grades is None:
            return
        if (why := self.grades.unusable(scenario, metric, statistic)) is not None:
            self.unusable[scenario] = why
        if (wait_s := self.grades.wait_s(scenario, metric, statistic)) is not None:
            self.waited[scenario] = max(wait_s, self.waited.get(scenario, 0.0))
        if (calm := self.samples.calm(scenario).get(metric)) is not None:
            self.disturbed[scenario] = self.samples.of(scenario)[metric].n, calm.n

    def _less(self, scenario: str, metric: str, statistic: str, draws: Draws) -> Draws:
        key = scenario, metric, statistic
        wait_s = self.grades.wait_s(*key) if self.grades is not None else None
        if wait_s is None:
            return draws
        if key not in self._shorter:
            self._shorter[key] = draws.less(wait_s)
        return self._shorter[key]

    def _scenario(self, levels: Levels) -> str | None:
        found = self.samples.scenario({**self.choice, **levels})
        why = "" if found is None else self.samples.not_in_force.get(found)
        if why is None:
            return found
        self.absent[" ".join(levels.values())] = why
        return None

    def _draw(self, scenario: str, metric: str) -> None:
        sample = self.samples.of(scenario).get(metric)
        for statistic, draws in self._judged(scenario, metric, sample).items():
            self._drawn[scenario, metric, statistic] = draws

    def _without_disturbed(self, scenario: str, metric: str, statistic: str) -> Draws | None:
        if (scenario, metric, statistic) not in self._calm:
            for each, draws in self._judged(scenario, metric, self.samples.calm(scenario)[metric]).items():
                self._calm[scenario, metric, each] = draws
        return self._calm[scenario, metric, statistic]

    def _judged(self, scenario: str, metric: str, sample: Sample | None) -> dict[str, Draws | None]:
        if sample is not None and self.filtered:
            sample = published_rule.filtered(sample)
        if sample is None or sample.n < 2:
            return dict.fromkeys(("mean", "sd", "median"))
        drawn = self._statistics(scenario, metric, sample)
        unknown = sample.unknown_share > MOST_TIMED_OUT
        return {
            statistic: replace(draws, tells=(False, False)) if draws is not None and unknown else draws
            for statistic, draws in drawn.items()
        }

    def _statistics(self, scenario: str, metric: str, sample: Sample) -> dict[str, Draws | None]:
        """A mean counts time-outs at the horizon, but says nothing if hardly anything else is in it."""
        rng = self.samples.dataset.rng(scenario, "claims")
        completed = counted = sample.completed()
        mean = sd = None
        horizon_s = None if self.filtered else self.samples.horizon_s(scenario, metric)
        if sum(map(len, completed)) >= 2:
            mean, sd = bootstrap.moments(completed, self.resamples, rng)
            if any(sample.censored):
                horizon_s = self.samples.dataset.horizon_s(scenario)
                counted = sample.restricted(horizon_s)
                time_outs = TimeOuts(horizon_s, time_outs_in_mean(sample, horizon_s))
                self._time_outs.setdefault((scenario, metric), time_outs)
            if len(counted) >= studentized.LEAST_TRIALS:
                own = self.samples.dataset.rng(scenario, "claims", "mean")
                mean = studentized.means(counted, self.resamples, own, horizon_s)
            elif any(sample.censored):
                mean, _ = bootstrap.moments(counted, self.resamples, rng)
        median = bootstrap.medians(sample.with_censored(), self.resamples, rng) if self.samples.medians else None
        return {"mean": mean, "sd": None if sample.censored_share > MOST_TIMED_OUT else sd, "median": median}


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
    _undisturbed: dict[str, dict[str, Sample]] = field(default_factory=dict)
    _horizons: dict[str, dict[str, float | None]] = field(default_factory=dict)

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
        return {one.key: f"a setting was not in force: {one.name}: {why}" for one, why in whys if why}

    def of(self, scenario: str) -> dict[str, Sample]:
        """The scenario's samples by metric."""
        if scenario not in self._samples:
            measured = list(self.dataset.measured(scenario))
            self._samples[scenario] = {one.metric.name: one.sample for one in measured}
            self._horizons[scenario] = {one.metric.name: one.horizon_s for one in measured}
            self._undisturbed[scenario] = {
                one.metric.name: one.undisturbed for one in measured if one.undisturbed is not None
            }
        return self._samples[scenario]

    def calm(self, scenario: str) -> dict[str, Sample]:
        """The same without the exchanges that the emulator disturbed, of metrics with any."""
        self.of(scenario)
        return self._undisturbed[scenario]

    def horizon_s(self, scenario: str, metric: str) -> float | None:
        """Where time-outs count in the metric's mean; None if a time-out says nothing about its value."""
        self.of(scenario)
        return self._horizons[scenario].get(metric)

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
