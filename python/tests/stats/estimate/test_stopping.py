"""The stopping rule, and what the reported interval covers when it decides how much is measured."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.documents import whole_plan
from tests.repeats import repeats
from wirelab.schema.plan import Plan
from wirelab.stats.estimate.descriptive import median
from wirelab.stats.estimate.sample import Floats, Sample
from wirelab.stats.estimate.stopping import make_enough, narrow_enough

REPEATS = repeats(250)
LEAST, MOST = 5, 20


def _lognormal(size: int, effect: float, rng: np.random.Generator) -> Floats:
    return 0.05 * np.exp(rng.normal(rng.normal(0, effect), 0.6, size))


def _two_modes(size: int, effect: float, rng: np.random.Generator) -> Floats:
    hit = rng.random(size) < np.clip(0.45 + rng.normal(0, effect), 0, 1)
    return np.where(hit, 0.24, 0.04) * np.exp(rng.normal(0, 0.05, size))


@pytest.mark.simulation
@pytest.mark.parametrize("size", [5, 16])
@pytest.mark.parametrize(
    ("draw", "effect", "truth"),
    [(_lognormal, 0.0, 0.05), (_lognormal, 0.15, 0.05), (_two_modes, 0.0, None), (_two_modes, 0.05, None)],
)
def test_the_interval_keeps_its_coverage_under_the_stopping_rule(
    draw: Callable[[int, float, np.random.Generator], Floats], effect: float, truth: float | None, size: int
) -> None:
    rng = np.random.default_rng(21)
    if truth is None:
        truth = float(np.median(np.concatenate([draw(200, effect, rng) for _ in range(3000)])))
    covered = 0
    for _ in range(REPEATS):
        trials = [draw(size, effect, rng) for _ in range(LEAST)]
        while len(trials) < MOST and not narrow_enough([list(trial) for trial in trials], 0.1):
            trials.append(draw(size, effect, rng))
        estimate = median(Sample.of(trials))
        covered += estimate.low is not None and estimate.high is not None and estimate.low <= truth <= estimate.high
    assert covered / REPEATS >= 0.93 - 2 * (0.93 * 0.07 / REPEATS) ** 0.5


def _plan(interval: dict[str, object] | None) -> Plan:
    return Plan.model_validate(whole_plan({"scenarios": [], "experiment": {"stop": {"interval": interval}}}))


def test_a_narrow_interval_ends_the_run_and_a_wide_one_does_not() -> None:
    rng = np.random.default_rng(0)
    values = {
        "narrow": [list(rng.normal(1, 0.05, 20)) for _ in range(6)],
        "wide": [list(np.exp(rng.normal(0, 1, 20))) for _ in range(6)],
    }
    enough = make_enough(_plan({"relative": 0.1, "of": "median"}), values.__getitem__)
    assert enough("narrow")
    assert not enough("wide")


def test_without_a_rule_no_scenario_stops_early() -> None:
    assert not make_enough(_plan(None), lambda _: [[1.0] * 100] * 30)("any")


def test_few_trials_do_not_stop_however_narrow_the_interval() -> None:
    assert not narrow_enough([[1.0] * 100] * 4, 0.1)
    assert narrow_enough([[1.0] * 100] * 5, 0.1)


def test_a_scenario_that_mostly_times_out_does_not_stop_early() -> None:
    assert not narrow_enough([[1.0] + [float("inf")] * 9] * 10, 0.1)


def test_the_rule_watches_the_statistic_that_ranks() -> None:
    rng = np.random.default_rng(3)
    trials = [[*rng.normal(1, 0.02, 18), *rng.uniform(2, 9, 2)] for _ in range(8)]
    assert narrow_enough(trials, 0.1, "median")
    assert not narrow_enough(trials, 0.1, "p95")
    enough = make_enough(_plan({"relative": 0.1, "of": "p95"}), lambda _: trials)
    assert not enough("any")
    steady = [list(rng.normal(1, 0.02, 60)) for _ in range(8)]
    assert narrow_enough(steady, 0.1, "p95")


def test_the_rule_watches_a_mean_with_its_time_outs() -> None:
    rng = np.random.default_rng(4)
    trials = [list(rng.normal(1, 0.02, 20)) for _ in range(8)]
    assert narrow_enough(trials, 0.1, "mean", 30.0)
    late = [[*trial[:-1], float("inf")] if i < 2 else trial for i, trial in enumerate(trials)]
    assert not narrow_enough(late, 0.1, "mean", 30.0)


def test_the_rule_does_not_stop_while_the_statistic_that_ranks_is_above_the_time_out() -> None:
    trials = [[1.0] * 18 + [float("inf")] * 2] * 10
    assert narrow_enough(trials, 0.1, "median")
    assert not narrow_enough(trials, 0.1, "p95")
