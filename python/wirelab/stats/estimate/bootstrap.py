"""Hierarchical bootstrap: trials, then exchanges within them.

Resampling exchanges inside every resampled trial would count their spread twice (Davison and Hinkley 1997, section
3.8): it is already in the spread between trials. So a resampled trial has its exchanges resampled only with the
probability that makes the variance of the mean unbiased, `S_b^2 / (T - 1)` with `S_b^2` the plug-in variance of T trial
means. With one trial that probability is 1.

Intervals are percentiles whose tails are those of Student's t with the trials' degrees of freedom (Hesterberg 2015,
expanded percentile interval). Where a tail holds fewer than five resamples (up to four trials, or one trial whose
exchanges are few), the bootstrap's standard error is used instead: of a mean, a median and a standard deviation as it
is, with what is not possible cut off; of what comes of them, such as a ratio, in its logarithm. In simulations of
two-mode delays with two to four trials that covers means and standard deviations as often as a logarithm would, whose
upper ends were up to 1e11 times the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wirelab.stats.estimate import large
from wirelab.stats.estimate.model import Estimate, finite
from wirelab.stats.estimate.sample import Floats

RESAMPLES = 2000
"""Resamples for an interval at 95 %."""

WITHIN = 64
"""Resamples of each trial's exchanges from which the second stage draws, for statistics that add up over trials."""

ROUNDING = 1e-12
"""Relative spread of a mean below which only floating point error is left."""

UNKNOWN = "time-outs leave it unknown"
LEAST_IN_TAIL = 5
BLOCK = 1_000_000


@dataclass(frozen=True)
class Draws:
    """A statistic's bootstrap distribution, with the degrees of freedom of its standard error.

    `tells` says whether its lower and its upper tail say something: where time-outs count as the time-out, a mean is no
    smaller, but may be larger; where they are missing, neither says anything.
    """

    point: float
    values: Floats
    df: float
    n: int
    tells: tuple[bool, bool] = (True, True)
    least: float = -np.inf
    """The lower bound of the statistic."""
    logarithmic: bool = True
    """Whether its standard error is that of its logarithm, as long as it is above 0 in every resample."""
    method: str = "hierarchical bootstrap"
    """What `values` are, for an estimate."""
    _formed: dict[tuple[str, int], tuple[Draws | None, Draws]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def ordered(self) -> Floats:
        """The resampled values in order."""
        return np.sort(self.values)

    def interval(self, level: float) -> tuple[float | None, float | None]:
        """Interval at `level`; None where the statistic is not finite."""
        ordered = self.ordered
        if not np.isfinite(self.point) or len(ordered) == 0 or np.isnan(ordered[-1]):
            return None, None
        if ordered[0] == ordered[-1]:
            return self.point, self.point
        tail, reach = expanded_tail(level, self.df)
        if tail * len(ordered) >= LEAST_IN_TAIL:
            last = int(np.ceil(tail * len(ordered))) - 1
            low, high = float(ordered[last]), float(ordered[len(ordered) - 1 - last])
            return finite(min(low, self.point)), finite(max(high, self.point))
        if not np.isfinite(ordered[[0, -1]]).all():
            return None, None
        if self.logarithmic and self.point > 0 and ordered[0] > 0:
            spread = min(reach * float(np.std(np.log(ordered))), 700.0)
            return self.point * float(np.exp(-spread)), finite(self.point * float(np.exp(spread)))
        spread = reach * float(np.std(ordered))
        return finite(max(self.point - spread, self.least)), finite(self.point + spread)

    def estimate(self, level: float, method: str | None = None) -> Estimate:
        low, high = self.interval(level)
        method = method or self.method
        if low is None and high is None:
            method = "no interval: the statistic is not defined in every resample"
        elif not any(self.tells):
            low, high, method = None, None, f"no interval: {UNKNOWN}"
        elif self.tells != (True, True):
            low, high = (low if self.tells[0] else None), (high if self.tells[1] else None)
            method = f"{method}, a bound: time-outs count as the time-out"
        return Estimate(finite(self.point), low, high, level, self.n, method)

    def over(self, other: Draws) -> Draws:
        """The ratio of two independent statistics."""
        return self._once("over", other, lambda: self._ratio(other))

    def times(self, scale: float) -> Draws:
        """The statistic in other units."""
        return self._once(f"times {scale}", None, lambda: self._scaled(scale))

    def less(self, seconds: float) -> Draws:
        """The statistic of delays without so much of each; none is below 0."""
        values = np.maximum(self.values - seconds, 0.0)
        return replace(self, point=max(self.point - seconds, 0.0), values=values)

    def minus(self, other: Draws) -> Draws:
        """The difference of two independent statistics."""
        return self._once("minus", other, lambda: self._difference(other))

    def _ratio(self, other: Draws) -> Draws:
        with np.errstate(divide="ignore", invalid="ignore"):
            point = float(np.float64(self.point) / np.float64(other.point))
            values = self.values / other.values
        least = 0.0 if min(self.least, other.least) >= 0 else -np.inf
        df, n = welch(self, other), self.n + other.n
        return Draws(point, values, df, n, self._tells_with(other), least, method=self._method_with(other))

    def _scaled(self, scale: float) -> Draws:
        least = self.least * scale if scale > 0 else -np.inf
        return replace(self, point=self.point * scale, values=self.values * scale, least=least)

    def _difference(self, other: Draws) -> Draws:
        df = welch(self, other, relative=False)
        return Draws(
            self.point - other.point, self.values - other.values, df, self.n + other.n, self._tells_with(other),
            method=self._method_with(other),
        )  # fmt: skip

    def _tells_with(self, other: Draws) -> tuple[bool, bool]:
        """Of a ratio or a difference: the other's upper tail is the lower one's, and the other way round."""
        return self.tells[0] and other.tells[1], self.tells[1] and other.tells[0]

    def _method_with(self, other: Draws) -> str:
        """That of the side with fewer trials, which is not the bootstrap-t's if the sides differ."""
        return self.method if np.isfinite(self.df) or not np.isfinite(other.df) else other.method

    def _once(self, what: str, other: Draws | None, form: Callable[[], Draws]) -> Draws:
        """Form it once: claims ask for the same one at many levels. It keeps `other`, so that its id stays its own."""
        key = what, id(other)
        if key not in self._formed:
            self._formed[key] = other, form()
        return self._formed[key][1]


def welch(*draws: Draws, relative: bool = True) -> float:
    """Welch-Satterthwaite degrees of freedom of a combination, from each part's (relative) bootstrap variance."""
    numerator = denominator = 0.0
    for draw in draws:
        finite_values = draw.values[np.isfinite(draw.values)]
        scale = draw.point if relative and draw.point else 1.0
        variance = float(np.var(finite_values / scale)) if len(finite_values) else 0.0
        numerator += variance
        denominator += variance**2 / draw.df
    return numerator**2 / denominator if denominator > 0 else max(draw.df for draw in draws)


def expanded_tail(level: float, df: float) -> tuple[float, float]:
    """The tail's share under the expanded percentile (Hesterberg 2015), and the reach in standard errors."""
    from scipy.special import ndtr, stdtrit

    reach = float(-stdtrit(df, (1 - level) / 2))
    return float(ndtr(-reach)), reach


def moments(trials: Sequence[Floats], resamples: int, rng: np.random.Generator) -> tuple[Draws, Draws]:
    """Mean and standard deviation (n - 1) of the exchanges, in the same resamples."""
    sizes = np.array([len(trial) for trial in trials], dtype=np.float64)
    pooled = np.concatenate(trials)
    centre = float(np.mean(pooled))
    sums = np.empty((len(trials), WITHIN + 1, 2))
    few = not large.is_large(trials)
    for index, trial in enumerate(trials):
        shifted = trial - centre
        if not few:
            sums[index, 0] = shifted.sum(), (shifted**2).sum()
            sums[index, 1:] = large.resampled_sums(shifted, WITHIN, rng)
            continue
        rows = shifted[rng.integers(0, len(trial), (WITHIN, len(trial)))]
        sums[index, 0] = shifted.sum(), (shifted**2).sum()
        sums[index, 1:, 0] = rows.sum(axis=1)
        sums[index, 1:, 1] = (rows**2).sum(axis=1)
    chosen, within = _stages(trials, resamples, rng)
    variant = np.where(within, rng.integers(1, WITHIN + 1, chosen.shape), 0)
    picked = sums[chosen, variant].sum(axis=1)
    count = sizes[chosen].sum(axis=1)
    mean = picked[:, 0] / count
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.maximum(picked[:, 1] / count - mean**2, 0) * count / (count - 1)
    df = _df(trials)
    sd = float(np.std(pooled, ddof=1)) if len(pooled) > 1 else float("nan")
    if np.ptp(pooled) == 0:
        sd, mean, variance = 0.0 if len(pooled) > 1 else float("nan"), np.zeros(resamples), np.zeros(resamples)
    values = mean + centre
    # What the shift leaves of a mean of nothing but 0 is its rounding, of either sign.
    values[np.abs(values) < ROUNDING * abs(centre)] = 0.0
    means = Draws(centre, values, df, len(pooled), least=_least(pooled), logarithmic=False)
    return means, Draws(sd, np.sqrt(variance), df, len(pooled), least=0.0, logarithmic=False)


def medians(trials: Sequence[Floats], resamples: int, rng: np.random.Generator) -> Draws:
    """Median of the exchanges; values may be infinite (above the time-out)."""
    return quantiles(trials, 0.5, resamples, rng)


def quantiles(trials: Sequence[Floats], q: float, resamples: int, rng: np.random.Generator) -> Draws:
    """A quantile of the exchanges, interpolated; values may be infinite (above the time-out)."""
    return _quantiles(trials, q, *_stages(trials, resamples, rng), rng)


def quantiles_of(trials: Sequence[Floats], q: float, chosen: NDArray[np.int64]) -> Draws:
    """The same of these resamples of whole trials."""
    return _quantiles(trials, q, chosen, np.zeros(chosen.shape, dtype=np.bool_), np.random.default_rng(0))


def _quantiles(
    trials: Sequence[Floats], q: float, chosen: NDArray[np.int64], within: NDArray[np.bool_], rng: np.random.Generator
) -> Draws:
    if large.is_large(trials):
        values = large.quantiles(trials, q, chosen, within, rng)
    elif len({len(trial) for trial in trials}) == 1:
        values = _quantiles_of_equal(np.stack(trials), q, chosen, within, rng)
    else:
        values = np.array([_quantile_of_one(trials, q, *row, rng) for row in zip(chosen, within, strict=True)])
    pooled = np.concatenate(trials)
    point = float(_quantile(pooled[None].copy(), q)[0])
    return Draws(point, values, _df(trials), len(pooled), least=_least(pooled), logarithmic=False)


def _quantile(rows: Floats, q: float) -> Floats:
    """The quantile of each row, which is put into another order; infinite if one of the values next to it is."""
    position = q * (rows.shape[1] - 1)
    lower = int(position + 1e-9)
    weight = position - lower
    upper = lower if weight < 1e-9 else lower + 1
    rows.partition([lower, upper], axis=1)
    if upper == lower:
        return rows[:, lower].copy()
    found: Floats = rows[:, lower] * (1 - weight) + rows[:, upper] * weight
    return found


def _quantiles_of_equal(
    table: Floats, q: float, chosen: NDArray[np.int64], within: NDArray[np.bool_], rng: np.random.Generator
) -> Floats:
    """Trials of one size, a block of resamples at a time."""
    size = table.shape[1]
    rows = max(1, BLOCK // (chosen.shape[1] * size))
    parts = []
    for start in range(0, len(chosen), rows):
        picked = table[chosen[start : start + rows]]
        again = within[start : start + rows]
        columns = rng.integers(0, size, (int(again.sum()), size))
        picked[again] = np.take_along_axis(picked[again], columns, axis=1)
        parts.append(_quantile(picked.reshape(len(picked), -1), q))
    return np.concatenate(parts)


def _quantile_of_one(
    trials: Sequence[Floats], q: float, chosen: NDArray[np.int64], within: NDArray[np.bool_], rng: np.random.Generator
) -> float:
    parts = [trials[index] for index in chosen]
    for slot in np.flatnonzero(within):
        parts[slot] = rng.choice(parts[slot], len(parts[slot]))
    return float(_quantile(np.concatenate(parts)[None], q)[0])


def _stages(
    trials: Sequence[Floats], resamples: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Which trial fills each place of each resample, and whether its exchanges are resampled too."""
    shape = (resamples, len(trials))
    return rng.integers(0, len(trials), shape), rng.random(shape) < _within_probability(trials)


def _within_probability(trials: Sequence[Floats]) -> float:
    if len(trials) == 1:
        return 1.0
    finite_trials = [trial[np.isfinite(trial)] for trial in trials]
    finite_trials = [trial for trial in finite_trials if len(trial)]
    if len(finite_trials) < 2:
        return 1.0
    between = float(np.var([trial.mean() for trial in finite_trials]))
    within = float(np.mean([trial.var() / len(trial) for trial in finite_trials]))
    return min(1.0, between / (len(trials) - 1) / within) if within > 0 else 0.0


def _least(values: Floats) -> float:
    """Of an average of values: times and sizes are not below 0."""
    return 0.0 if values.min() >= 0 else -np.inf


def _df(trials: Sequence[Floats]) -> float:
    return float(len(trials) - 1 if len(trials) > 1 else max(len(trials[0]) - 1, 1))
