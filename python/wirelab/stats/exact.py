"""Numbers that are the same in every trial under the virtual clock, and their range over phases that are varied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wirelab.schema import Clock, RequestWorkload
from wirelab.schema.estimates import EXACT, EXACT_IN_PHASES
from wirelab.schema.plan import Scenario
from wirelab.stats.dataset import Dataset, Measured
from wirelab.stats.estimate.model import Estimate

DIGITS = 5
"""So many digits are shown of the most exact number. Each look at the clock takes 256 ns of it, and trials that repeat
differ by some of these.
"""


def repeats(dataset: Dataset, scenario: Scenario, one: Measured) -> str | None:
    """The method of a metric that has the same values in each trial, two of them or more; none if they differ."""
    workload, sample = scenario.workload, one.sample
    if dataset.plan.clock is not Clock.VIRTUAL or len(sample.trials) < 2:
        return None
    first, *others = (np.sort(trial) for trial in sample.trials)
    same = len(set(sample.censored)) == 1 and all(
        len(first) == len(other) and bool(np.all(np.abs(first - other) <= _last_digit(first))) for other in others
    )
    if not same:
        return None
    return EXACT_IN_PHASES if isinstance(workload, RequestWorkload) and workload.phases_vary else EXACT


def mark(found: object, method: str) -> None:
    """In a record of what repeats, give this method to each number whose interval has no width to see."""
    if isinstance(found, dict):
        if _is_exact(found):
            found["method"] = method
        for each in found.values():
            mark(each, method)


def _is_exact(record: object) -> bool:
    match record:
        case {"point": float(point), "low": float(low), "high": float(high), "method": _}:
            return _no_width(point, low, high)
    return False


def marked(found: Estimate, method: str | None) -> Estimate:
    """An estimate with this method, if there is one and its interval has no width to see."""
    if method is None or found.point is None or found.low is None or found.high is None:
        return found
    return replace(found, method=method) if _no_width(found.point, found.low, found.high) else found


def _no_width(point: float, low: float, high: float) -> bool:
    return high - low <= float(_last_digit(np.array(point)))


def _last_digit(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """One unit of the last digit that is shown of each number; 0 for 0."""
    with np.errstate(divide="ignore"):
        steps: NDArray[np.float64] = 10.0 ** (np.floor(np.log10(np.abs(values))) - (DIGITS - 1))
    return steps


def over_phases(dataset: Dataset) -> Iterator[str]:
    """How far the median of a trial's delays depends on the phase, for each scenario whose phases are varied."""
    metric = dataset.plan.experiment.metric
    if dataset.plan.clock is not Clock.VIRTUAL:
        return
    for scenario in dataset.scenarios:
        workload = scenario.workload
        if not isinstance(workload, RequestWorkload) or not workload.phases_vary:
            continue
        for one in dataset.measured(scenario.key):
            if one.metric.name == metric and one.unit == "s" and (medians := _medians(one)):
                low, high = (f"{end * 1e3:.3f} ms" for end in (min(medians), max(medians)))
                went = f"went from {low} to {high}" if low != high else f"stayed at {low}"
                phases = f"{len(medians)} phase{'s' * (len(medians) > 1)} of {scenario.name}"
                yield f"Over {phases}, the median of {metric} in a trial {went}."


def _medians(one: Measured) -> list[float]:
    return [float(np.median(trial)) for trial in one.sample.trials if len(trial)]
