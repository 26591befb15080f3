"""What the agent says that impairments delay, against closed forms."""

from __future__ import annotations

import pytest

from tests.asked import chain
from wirelab.stats.link.over_time import mean_delay_ns as mean

MS = 1_000_000


QUEUE = {"discipline": "drop-tail", "bytes": 1000}


def mean_delay_ns(stage: dict[str, object]) -> float:
    return mean(chain(stage).stages[0])


def delay(delay_ns: int, jitter: dict[str, object] | None, **rest: object) -> float:
    return mean_delay_ns({"kind": "delay", "delay_ns": delay_ns, "jitter": jitter, **rest})


@pytest.mark.parametrize(
    ("jitter", "mean"),
    [
        (None, 10 * MS),
        ({"distribution": "normal", "sigma_ns": MS}, 10 * MS),
        ({"distribution": "uniform", "half_width_ns": MS}, 10 * MS),
        ({"distribution": "table", "offsets_ns": [-MS, 0, 3 * MS]}, 10.5 * MS),
    ],
)
def test_a_symmetric_spread_keeps_the_mean(jitter: dict[str, object] | None, mean: float) -> None:
    assert delay(10 * MS, jitter) == pytest.approx(mean, rel=1e-6)


def test_netems_pareto_has_a_lower_mean_because_its_table_is_truncated() -> None:
    """Cut at x = 3/2 + 3/4 x 4: the mean of min(X, x) is 3/2 - 1 / (2 x^2)."""
    end = 1.5 + 0.75 * 32767 / 8192
    cut = -4 / 3 / (2 * end**2)
    assert delay(100 * MS, {"distribution": "pareto", "sigma_ns": MS}) == pytest.approx(100 * MS + cut * MS, rel=1e-7)
    mixed = delay(100 * MS, {"distribution": "pareto-normal", "sigma_ns": MS})
    assert mixed == pytest.approx(100 * MS + 0.75 * cut * MS, rel=1e-6)


def test_delays_below_zero_count_as_zero() -> None:
    assert delay(0, {"distribution": "uniform", "half_width_ns": 4 * MS}) == pytest.approx(MS)
    assert delay(0, {"distribution": "normal", "sigma_ns": MS}) == pytest.approx(MS / 6.283185307**0.5, rel=1e-3)


def test_correlation_narrows_the_spread() -> None:
    loose = delay(0, {"distribution": "uniform", "half_width_ns": MS})
    tight = delay(0, {"distribution": "uniform", "half_width_ns": MS}, correlation=0.9)
    assert 0 < tight < loose / 2


def test_reordered_packets_add_to_the_mean_delay() -> None:
    assert mean_delay_ns({"kind": "reorder", "probability": 0.1, "by_ns": 5 * MS}) == pytest.approx(MS / 2)


def test_a_repeating_schedule_is_averaged_over_its_period() -> None:
    points = [{"at_ns": 0, "delay_ns": 10 * MS}, {"at_ns": 30, "delay_ns": 20 * MS}]
    assert mean_delay_ns({"kind": "schedule", "queue": QUEUE, "points": points, "repeat_ns": 40}) == pytest.approx(
        12.5 * MS
    )
    assert mean_delay_ns({"kind": "schedule", "queue": QUEUE, "points": points}) == 20 * MS


def test_other_stages_add_no_delay() -> None:
    assert mean_delay_ns({"kind": "loss", "probability": 0.1}) == 0
