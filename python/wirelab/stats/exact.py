"""Numbers that are the same in every trial under the virtual clock, and their range over phases that are varied."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wirelab.schema import Clock, RequestWorkload
from wirelab.schema.estimates import EXACT
from wirelab.schema.plan import Scenario
from wirelab.stats.dataset import Dataset, Measured

RESOLUTION = 2e-5
"""Of a number, the difference that no digit shows. Each look at the clock takes 256 ns of it, and trials that repeat
differ by some of these.
"""


def repeats(dataset: Dataset, scenario: Scenario, one: Measured) -> bool:
    """Whether a metric has the same values in each trial, two of them or more, and all at one phase."""
    workload, sample = scenario.workload, one.sample
    if dataset.plan.clock is not Clock.VIRTUAL or len(sample.trials) < 2:
        return False
    if isinstance(workload, RequestWorkload) and workload.phases_vary:
        return False
    first, *others = (np.sort(trial) for trial in sample.trials)
    return len(set(sample.censored)) == 1 and all(
        len(first) == len(other) and np.allclose(first, other, rtol=RESOLUTION, atol=0) for other in others
    )


def mark(found: object) -> None:
    """In a record of what repeats, call each number exact whose interval has no width to see."""
    if isinstance(found, dict):
        if _is_exact(found):
            found["method"] = EXACT
        for each in found.values():
            mark(each)


def _is_exact(record: object) -> bool:
    match record:
        case {"point": float(point), "low": float(low), "high": float(high), "method": _}:
            return high - low <= RESOLUTION * abs(point)
    return False


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
