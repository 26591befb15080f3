"""Where the numbers of a judgement come from: a campaign, or the publication's own tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np

from wirelab.claims.grade import Grades
from wirelab.claims.judgement import MOST_TIMED_OUT, TimeOuts
from wirelab.claims.load import LEAST_VALUES, Claims
from wirelab.claims.part import OF_COMPLETED, Levels, Statistic
from wirelab.claims.samples import Point, Samples
from wirelab.experiment.grid.scenario import path_in_version_1
from wirelab.stats.estimate import bootstrap, published_rule, studentized
from wirelab.stats.estimate.bootstrap import RESAMPLES, Draws
from wirelab.stats.estimate.descriptive import time_outs_in_mean
from wirelab.stats.estimate.proportion import Share
from wirelab.stats.estimate.sample import Floats, Sample
from wirelab.stats.link.grade import DISTURBED
from wirelab.units import format_duration


@dataclass(kw_only=True)
class Noted:
    """What every source notes (`judgement.Source`)."""

    words: str
    touched: dict[str, int] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    few: dict[str, str] = field(default_factory=dict)
    time_outs: dict[tuple[str, bool], TimeOuts] = field(default_factory=dict)
    unusable: dict[str, str] = field(default_factory=dict)
    waited: dict[str, float] = field(default_factory=dict)
    disturbed: dict[str, tuple[int, int]] = field(default_factory=dict)
    without: str | None = None


@dataclass
class Published(Noted):
    """The publication's numbers as printed: points without intervals, or where it printed every value a sample."""

    claims: Claims
    words: str = field(default="printed", kw_only=True)
    _drawn: dict[tuple[Sequence[str], ...], dict[str, Draws]] = field(default_factory=dict)

    def draws(self, metric: str, statistic: str, levels: Levels, horizon_s: float | None = None) -> Draws | None:
        case = frozenset(levels.items())
        values = self.claims.values.get((metric, case))
        if values is not None:
            return self._sampled(metric, statistic, levels, np.array(values, dtype=np.float64), horizon_s)
        value = self.claims.numbers.get((metric, statistic, case))
        if value is not None and horizon_s is not None:
            self.absent[" ".join(levels.values())] = "its mean is printed without a horizon"
            return None
        return None if value is None else Draws(value, np.array([value]), np.inf, 0)

    def beyond(self, metric: str, bound_s: float, levels: Levels) -> Share | None:
        values = self.claims.values.get((metric, frozenset(levels.items())))
        if values is None:
            self.absent[" ".join(levels.values())] = "a share needs every value, and they are not printed"
            return None
        return Share.beyond(Sample.of([values]), bound_s)

    def _sampled(self, metric: str, statistic: str, levels: Levels, values: Floats, horizon_s: float | None) -> Draws:
        """As of one trial. Draws of one case are the same whichever part asks."""
        name: tuple[Sequence[str], ...]
        name = metric, *sorted((path_in_version_1(path), level) for path, level in levels.items())
        if horizon_s is not None:
            name, values = (*name, f"at {horizon_s:g} s"), np.minimum(values, horizon_s)
        if name not in self._drawn:
            rng = np.random.default_rng(list(repr(name).encode()))
            mean, sd = bootstrap.moments((values,), RESAMPLES, rng)
            median = bootstrap.medians((values,), RESAMPLES, rng)
            self._drawn[name] = {"mean": mean, "sd": sd, "median": median, OF_COMPLETED: mean}
        return self._drawn[name][statistic]

    def unanswered(self, levels: Levels) -> list[tuple[int, int]] | None:  # noqa: ARG002 (nobody printed outcomes yet)
        return None

    def name_of(self, scenario: str) -> str:
        return scenario


@dataclass(frozen=True)
class Of:
    """What draws are of."""

    scenario: str
    metric: str
    statistic: str
    horizon_s: float | None = None


@dataclass
class Measured(Noted):
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
    words: str = field(default="measured", kw_only=True)
    grades: Grades | None = None
    _shorter: dict[Of, Draws] = field(default_factory=dict)
    _drawn: dict[Of, Draws | None] = field(default_factory=dict)
    _calm: dict[Of, Draws | None] = field(default_factory=dict)
    _time_outs: dict[Of, TimeOuts] = field(default_factory=dict)

    def draws(self, metric: str, statistic: str, levels: Levels, horizon_s: float | None = None) -> Draws | None:
        scenario = self._scenario(levels)
        if scenario is None:
            return None
        name = self.metrics.get(metric, metric)
        if self._overloaded(scenario, name, levels) or self._after_time_out(scenario, name, horizon_s, levels):
            return None
        of = Of(scenario, name, statistic, horizon_s)
        if of not in self._drawn:
            self._draw(of)
        draws = self._drawn[of]
        if self.without == DISTURBED and name in self.samples.calm(scenario):
            return self._without_disturbed(of)
        sample = self.samples.of(scenario).get(name)
        if draws is None and sample is not None and (few := len(sample.values)) < LEAST_VALUES:
            values = f"{few} completed value{'s' * (few != 1)}"
            self.few[scenario] = f"{self.name_of(scenario)}: {values}, and an interval needs {LEAST_VALUES}"
        if draws is not None:
            self.touched[scenario] = max(draws.n, self.touched.get(scenario, 0))
            self._quality(scenario, name, statistic)
            if self.without == scenario and scenario in self.waited:
                draws = self._less(of, draws)
            if (time_outs := self._time_outs.get(of)) is not None:
                self.time_outs[scenario, time_outs.horizon_s is None] = time_outs
        return draws

    def beyond(self, metric: str, bound_s: float, levels: Levels) -> Share | None:
        scenario = self._scenario(levels)
        if scenario is None:
            return None
        name = self.metrics.get(metric, metric)
        if self._overloaded(scenario, name, levels) or self._after_time_out(scenario, name, bound_s, levels):
            return None
        sample = self.samples.of(scenario).get(name)
        if self.without == DISTURBED:
            sample = self.samples.calm(scenario).get(name, sample)
        if sample is not None and self.filtered:
            sample = published_rule.filtered(sample)
        if sample is None or not sample.n:
            return None
        wait_s = None
        if self.without != DISTURBED:
            self.touched[scenario] = max(sample.n, self.touched.get(scenario, 0))
            self._quality(scenario, name, "share")
            if self.without == scenario and self.grades is not None:
                wait_s = self.grades.wait_s(scenario, name, "share")
        known = sample.unknown_share <= MOST_TIMED_OUT
        return replace(Share.beyond(sample, bound_s + (wait_s or 0.0)), tells=(known, known))

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

    def _after_time_out(self, scenario: str, metric: str, instant_s: float | None, levels: Levels) -> bool:
        """Whether delays are only known to be longer than a time-out before the instant; notes why."""
        time_out_s = self.samples.horizon_s(scenario, metric)
        if instant_s is None or time_out_s is None or instant_s <= time_out_s:
            return False
        instant, time_out = (format_duration(round(each * 1e9)) for each in (instant_s, time_out_s))
        self.absent[" ".join(levels.values())] = (
            f"{self.name_of(scenario)}: {instant} is after its time-out, {time_out}"
        )
        return True

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

    def _less(self, of: Of, draws: Draws) -> Draws:
        wait_s = self.grades.wait_s(of.scenario, of.metric, of.statistic) if self.grades is not None else None
        if wait_s is None:
            return draws
        if of not in self._shorter:
            self._shorter[of] = draws.less(wait_s)
        return self._shorter[of]

    def _scenario(self, levels: Levels) -> str | None:
        found = self.samples.scenario({**self.choice, **levels})
        why = "" if found is None else self.samples.not_in_force.get(found)
        if why is None:
            return found
        self.absent[" ".join(levels.values())] = why
        return None

    def _draw(self, of: Of) -> None:
        for statistic, draws in self._judged(of, self.samples.of(of.scenario).get(of.metric)).items():
            self._drawn[replace(of, statistic=statistic)] = draws

    def _without_disturbed(self, of: Of) -> Draws | None:
        if of not in self._calm:
            for statistic, draws in self._judged(of, self.samples.calm(of.scenario)[of.metric]).items():
                self._calm[replace(of, statistic=statistic)] = draws
        return self._calm[of]

    def _judged(self, of: Of, sample: Sample | None) -> dict[str, Draws | None]:
        if sample is not None and self.filtered:
            sample = published_rule.filtered(sample)
        if sample is None or sample.n < LEAST_VALUES:
            return dict.fromkeys(get_args(Statistic))
        if of.statistic == OF_COMPLETED:
            drawn = {OF_COMPLETED: self._of_completed(of, sample)}
        elif of.horizon_s is not None:
            drawn = {"mean": self._restricted(of, sample, of.horizon_s)}
        else:
            drawn = self._statistics(of.scenario, of.metric, sample)
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
        if sum(map(len, completed)) >= LEAST_VALUES:
            mean, sd = bootstrap.moments(completed, self.resamples, rng)
            if any(sample.censored):
                horizon_s = self.samples.dataset.horizon_s(scenario)
                counted = sample.restricted(horizon_s)
                time_outs = TimeOuts(horizon_s, time_outs_in_mean(sample, horizon_s))
                self._time_outs.setdefault(Of(scenario, metric, "mean"), time_outs)
            if len(counted) >= studentized.LEAST_TRIALS:
                own = self.samples.dataset.rng(scenario, "claims", "mean")
                mean = studentized.means(counted, self.resamples, own, horizon_s)
            elif any(sample.censored):
                mean, _ = bootstrap.moments(counted, self.resamples, rng)
        median = bootstrap.medians(sample.with_censored(), self.resamples, rng) if self.samples.medians else None
        return {"mean": mean, "sd": None if sample.censored_share > MOST_TIMED_OUT else sd, "median": median}

    def _restricted(self, of: Of, sample: Sample, horizon_s: float) -> Draws | None:
        """A mean at a horizon of the claim's own, drawn as one at the time-out is."""
        if sum(map(len, sample.completed())) < LEAST_VALUES:
            return None
        if any(sample.censored):
            time_outs = TimeOuts(horizon_s, time_outs_in_mean(sample, horizon_s))
            self._time_outs.setdefault(of, time_outs)
        rng = self.samples.dataset.rng(of.scenario, "claims", "mean")
        return studentized.means(sample.restricted(horizon_s), self.resamples, rng, horizon_s)

    def _of_completed(self, of: Of, sample: Sample) -> Draws | None:
        """A mean that time-outs are left out of, as a program prints it that measures answers alone. Without any it is
        drawn as the mean is.
        """
        completed = sample.completed()
        if len(sample.values) < LEAST_VALUES:
            return None
        if any(sample.censored):
            self._time_outs.setdefault(of, TimeOuts(None, sample.censored_share, self.name_of(of.scenario)))
        horizon_s = None if self.filtered else self.samples.horizon_s(of.scenario, of.metric)
        rng = self.samples.dataset.rng(of.scenario, "claims", "mean")
        return studentized.means(completed, self.resamples, rng, horizon_s)
