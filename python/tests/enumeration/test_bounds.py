"""Exact probabilities next to those by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.enumeration.toy import grown, in_a_row, request_and_reply
from wirelab.enumeration.bounds import Bounds, ByRate, Weighed, crossovers, worst_s
from wirelab.enumeration.loss import Independent, Loss, gilbert_elliott
from wirelab.enumeration.tree import Run
from wirelab.errors import RunError

RATES = (0.0, 0.001, 0.01, 0.05, 0.3)


def _independent(rate: float) -> Loss:
    return Loss(Independent(rate), Independent(rate))


@pytest.mark.parametrize("rate", RATES)
def test_one_request_and_one_reply_with_a_fixed_timer_as_by_hand(rate: float) -> None:
    """Each attempt fails with 1 - (1 - p)^2, whatever came before."""
    weighed = Weighed.of(grown(request_and_reply(), 10), _independent(rate))
    fails = 1 - (1 - rate) ** 2
    for x_s, attempts in [(0.5, 1), (2.5, 2), (4.5, 3), (6.5, 4), (8.5, 5)]:
        found = weighed.beyond(x_s)
        assert found.low == pytest.approx(fails**attempts, abs=1e-9)
        assert found.width <= 1e-9
    mean = weighed.mean()
    ends = sum((2 * attempt + 0.02) * fails**attempt * (1 - fails) for attempt in range(5)) + 10 * fails**5
    assert (mean.low, mean.high) == (pytest.approx(ends, abs=1e-9), pytest.approx(ends, abs=1e-9))


@pytest.mark.parametrize("rate", RATES)
def test_four_packets_that_cost_more_than_the_limit_each(rate: float) -> None:
    """As HTTP/1.1's SYN, SYN-ACK, request and reply: 1 - (1 - p)^4."""
    found = Weighed.of(grown(in_a_row(4), 1), _independent(rate)).beyond(0.2)
    exact = 1 - (1 - rate) ** 4
    assert found.low - 1e-12 <= exact <= found.high + 1e-12
    deep = Weighed.of(grown(in_a_row(4), 4, horizon_s=0.2), _independent(rate)).beyond(0.2)
    assert (deep.low, deep.high) == (pytest.approx(exact, abs=1e-9), pytest.approx(exact, abs=1e-9))


def test_a_tree_that_ends_early_has_bounds_that_deeper_ones_keep() -> None:
    loss = Loss(gilbert_elliott(0.05, 0.3, 0.7, 0.01), Independent(0.1))
    found = [Weighed.of(grown(in_a_row(6), losses), loss).beyond(0.25) for losses in range(5)]
    for shallow, deep in pairwise(found):
        assert shallow.low - 1e-12 <= deep.low <= deep.high <= shallow.high + 1e-12
    assert found[-1].width < found[0].width / 50


def test_quantiles_are_those_of_the_first_delay_whose_bound_is_low_enough() -> None:
    weighed = Weighed.of(grown(in_a_row(6), 2), _independent(0.1))
    delays = sorted(run.end_s for run in weighed.tree.runs.values() if run.end_s is not None)
    assert len(set(delays)) > 3
    for share in (0.1, 0.5, 0.8, 0.9, 0.99, 0.99999):
        low = next((x for x in delays if weighed.beyond(x).low <= 1 - share), None)
        high = next((x for x in delays if weighed.beyond(x).high <= 1 - share), None)
        assert weighed.quantile(share) == (low, high)


def test_weights_that_do_not_sum_to_one_are_an_error() -> None:
    tree = grown(request_and_reply(), 2)
    tree.runs[1, 9] = Run((1, 9), tree.runs[1, 3].draws, 1.0)
    with pytest.raises(RunError, match=r"sum to 1.* and not to 1"):
        Weighed.of(tree, _independent(0.1))


def test_quantiles_lie_between_those_of_both_extremes() -> None:
    weighed = Weighed.of(grown(request_and_reply(), 2), _independent(0.1))
    assert weighed.quantile(0.5) == (pytest.approx(0.02), pytest.approx(0.02))
    assert weighed.quantile(0.95) == (pytest.approx(2.02), pytest.approx(2.02))
    assert weighed.quantile(0.99999)[1] is None


def test_a_delay_beyond_the_horizon_is_not_known() -> None:
    with pytest.raises(ValueError, match="beyond the horizon"):
        Weighed.of(grown(request_and_reply(), 1), _independent(0.1)).beyond(11.0)


def test_the_worst_case_within_some_losses() -> None:
    tree = grown(request_and_reply(), 2)
    assert [worst_s(tree, losses) for losses in range(3)] == [
        pytest.approx(0.02), pytest.approx(2.02), pytest.approx(4.02),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="not every pattern of 3 losses"):
        worst_s(tree, 3)
    assert worst_s(grown(request_and_reply(most=1), 1), 1) is None


@pytest.mark.parametrize("rate", RATES)
def test_a_polynomial_of_the_rate_has_the_same_bounds(rate: float) -> None:
    tree = grown(in_a_row(5), 2)
    for x_s in (0.1, 0.25, 0.5):
        weighed, fast = Weighed.of(tree, _independent(rate)).beyond(x_s), ByRate.beyond(tree, x_s).at(rate)
        assert (fast.low, fast.high) == (pytest.approx(weighed.low, abs=1e-12), pytest.approx(weighed.high, abs=1e-12))
    mean, fast = Weighed.of(tree, _independent(rate)).mean(), ByRate.mean(tree).at(rate)
    assert (fast.low, fast.high) == (pytest.approx(mean.low, abs=1e-12), pytest.approx(mean.high, abs=1e-12))


def test_a_crossover_is_a_root_with_bounds() -> None:
    """Three packets of 0.2 s against one of 0.2 s whose loss is rarer: 1 - (1 - p)^3 = 0.1 at p = 1 - 0.9^(1/3)."""
    tree = grown(in_a_row(3), 4, horizon_s=0.2)

    def difference(rate: float) -> Bounds:
        found = Weighed.of(tree, _independent(rate)).beyond(0.2)
        return Bounds(found.low - 0.1, found.high - 0.1)

    [(low, high)] = crossovers(difference, [0.001, 0.01, 0.1, 0.5])
    root = 1 - 0.9 ** (1 / 3)
    assert low - 2e-6 <= root <= high + 2e-6
    assert abs(high - low) < 1e-5
    assert crossovers(difference, [0.1, 0.2]) == []
