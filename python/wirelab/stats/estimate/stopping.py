"""The rule that ends a scenario early: enough trials when the interval of the statistic that ranks is narrow.

Looking after every block and stopping at the first narrow interval favours intervals that are narrow by luck. Coverage
of the reported interval was simulated under the rule (`python/tests/stats/estimate/test_stopping.py`): lognormal and
two-mode delays, with and without an effect of the trial, 5 to 20 trials of 5 or 16. It stayed at 93.6 % or above,
because the rule looks at a cautious interval; with the reported one it fell to 91.8 %. This holds from `LEAST_TRIALS`
trials and `LEAST_VALUES` values on, and the rule asks for both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from wirelab.schema.plan import Plan
from wirelab.statistic import MEDIAN, quantile_of
from wirelab.stats.estimate.descriptive import mean_and_sd, quantile
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.estimate.sample import Sample

LEAST_TRIALS = 5
LEAST_VALUES = 30

ReadValues = Callable[[str], Sequence[Sequence[float]]]


def make_enough(plan: Plan, read_values: ReadValues) -> Callable[[str], bool]:
    """A function from a scenario's key to whether it has enough trials; asked at the end of a block.

    `read_values` gives the headline metric's values of each trial so far, infinity for a
    timed-out exchange. Without a rule in the plan, n is fixed and the answer is always no.
    """
    rule = plan.experiment.stop.interval
    if rule is None:
        return lambda _: False
    horizons = {scenario.key: scenario.workload.timeout_ns / 1e9 for scenario in plan.scenarios}
    return lambda scenario: narrow_enough(read_values(scenario), rule.relative, rule.of, horizons.get(scenario))


def narrow_enough(
    trials: Sequence[Sequence[float]], relative: float, of: str = MEDIAN, horizon_s: float | None = None
) -> bool:
    """True if half the interval of a statistic is at most `relative` of it; never while its interval is not known, as
    with too few values or with too many time-outs.
    """
    sample = _sample(trials)
    if len(sample.completed()) < LEAST_TRIALS or sample.n < LEAST_VALUES:
        return False
    estimate = _estimate(sample, quantile_of(of), horizon_s)
    if estimate is None or estimate.point is None or estimate.low is None or estimate.high is None:
        return False
    return (estimate.high - estimate.low) / 2 <= relative * estimate.point


def _estimate(sample: Sample, q: float | None, horizon_s: float | None) -> Estimate | None:
    """Of a quantile, or of the mean."""
    if q is not None:
        return quantile(sample, q, cautious=True)
    mean, _ = mean_and_sd(sample, np.random.default_rng(len(sample.trials)), horizon_s=horizon_s)
    return mean


def _sample(trials: Sequence[Sequence[float]]) -> Sample:
    completed = [[value for value in trial if math.isfinite(value)] for trial in trials]
    late = [sum(map(math.isinf, trial)) for trial in trials]
    return Sample(tuple(np.array(values, dtype=np.float64) for values in completed), tuple(late))
