"""What runs say, put into a record."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.enumeration.toy import grown, in_a_row, request_and_reply
from wirelab.enumeration import answer
from wirelab.enumeration.answer import Grown, both
from wirelab.enumeration.bounds import Bounds
from wirelab.enumeration.search import Asked
from wirelab.enumeration.tree import Run, Tree


def _grown(tree: Tree, name: str = "one", seed: int = 1) -> Grown:
    return Grown(
        name=name, protocol="http1", client="builtin", server="builtin", seed=seed, trial="t",
        asked={"1 %": Asked(both(0.01), 0.001)}, beyond_s=(0.1, 0.25), tree=tree, rests={}, whole=dict(tree.runs),
    )  # fmt: skip


def test_a_record_has_every_probability_quantile_and_price() -> None:
    found = answer.scenario(_grown(grown(in_a_row(4), 2)), ["a", "b", "c", "d"])
    beyond = {(each["loss"], each["delay_s"]): each["bounds"] for each in found["beyond"]}
    assert beyond["1 %", 0.1]["low"] == pytest.approx(1 - 0.99**4, abs=1e-4)
    assert {loss for loss, _ in beyond} == {"0.1 %", "0.5 %", "1 %", "2 %", "5 %"}
    assert [each["delay_s"] for each in found["packets"]] == [pytest.approx(0.2)] * 4
    assert [each["words"] for each in found["packets"]] == ["a", "b", "c", "d"]
    assert [each["delay_s"] for each in found["worst"]] == [pytest.approx(0.04 + 0.2 * k) for k in (0, 1, 2)]
    assert found["whole_to"] == 2
    median = next(each for each in found["quantiles"] if (each["loss"], each["share"]) == ("1 %", 0.5))
    assert median["low_s"] == median["high_s"] == pytest.approx(0.04)


def test_a_worst_case_is_not_known_beyond_the_horizon() -> None:
    # One loss is beyond the horizon already, so what a second one adds was not run.
    tree = grown(in_a_row(4), 2)
    assert [each["known"] for each in answer.worst(tree)] == [True, True, True]
    short = Tree(0.1)
    for run in sorted(tree.runs.values(), key=lambda run: len(run.pattern)):
        if len(run.pattern) <= 1:
            short.add(run)
    assert [each["known"] for each in answer.worst(short)] == [True, True, False]


def test_curves_rise_with_the_rate() -> None:
    [_, curve] = answer.curves(grown(in_a_row(4), 3), (0.1, 0.25))
    assert all(low <= high for low, high in zip(curve["low"], curve["high"], strict=True))
    assert all(one <= other for one, other in pairwise(curve["low"]))


def test_an_experiments_own_losses_have_a_curve_by_the_delay() -> None:
    made = _grown(grown(in_a_row(4), 2))
    assert answer.scenario(made, ["a", "b", "c", "d"])["exceedances"] == []
    found = Grown(**{**vars(made), "stands_for": {"1 %": "one, lossy"}})
    [curve] = answer.exceedances(found)
    delays = answer.delays_s(made.tree.horizon_s)
    assert len(delays) == len(curve["low"]) == len(curve["high"])
    assert delays[-1] == pytest.approx(made.tree.horizon_s)
    beyond_100_ms = next(at for at, delay in enumerate(delays) if delay > 0.1)
    probability = 1 - 0.99**4
    assert curve["low"][beyond_100_ms] - 1e-12 <= probability <= curve["high"][beyond_100_ms] + 1e-12
    assert all(one >= other for one, other in pairwise(curve["high"]))
    assert answer.scenario(found, ["a", "b", "c", "d"])["stands_for"] == {"1 %": "one, lossy"}


def test_what_was_not_run_has_no_price() -> None:
    found = answer.prices(_grown(grown(in_a_row(3), 0)), ["a", "b", "c"], {})
    assert [(each["run"], each["delay_s"], each["bytes"]) for each in found] == [(False, None, None)] * 3


def test_an_exchange_without_an_end_costs_no_number() -> None:
    tree = grown(request_and_reply(most=1), 1)
    [request, reply] = answer.prices(_grown(tree), ["request", "reply"], {})
    assert (request["run"], request["delay_s"], reply["delay_s"]) == (True, None, None)


def test_bytes_are_those_of_all_packets() -> None:
    tree = grown(in_a_row(2), 1)
    whole = {pattern: Run(pattern, tuple(type(d)(d.direction, d.lost, d.at_s, 100) for d in run.draws), run.end_s)
             for pattern, run in tree.runs.items()}  # fmt: skip
    made = _grown(tree)
    found = answer.prices(Grown(**{**vars(made), "whole": whole}), ["a", "b"], {})
    assert [each["bytes"] for each in found] == [100, 100]
    assert [each["energy_j"] for each in found] == [None, None]


def test_energy_is_that_of_the_run_less_that_of_the_run_without_losses() -> None:
    made = _grown(grown(in_a_row(2), 1))
    found = answer.prices(made, ["a", "b"], {(): 0.25, (0,): 0.75})
    assert [each["energy_j"] for each in found] == [0.5, None]


def test_two_scenarios_cross_where_their_polynomials_do() -> None:
    """One of two packets has to be lost, or two of eight."""
    one = grown(in_a_row(2, cost_s=0.26), 4, horizon_s=0.3)
    other = grown(in_a_row(8, cost_s=0.1), 4, horizon_s=0.3)
    [found] = answer.crossed({"one": one, "other": other}, [0.25])
    assert found["delay_s"] == 0.25
    assert found["high"] - found["low"] < 1e-4
    rate = (found["low"] + found["high"]) / 2
    values = [answer.ByRate.beyond(tree, 0.25).at(rate).low for tree in (one, other)]
    assert values[0] == pytest.approx(values[1], abs=1e-4)


def test_each_of_two_crossovers_says_who_becomes_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference with roots at 2 % and at 3 %, which are closer than a factor of two."""

    def between(_one: answer.ByRate, _other: answer.ByRate) -> Callable[[float], Bounds]:
        return lambda rate: Bounds(*[-(rate - 0.02) * (rate - 0.03)] * 2)

    monkeypatch.setattr(answer, "_difference", between)
    tree = grown(in_a_row(2), 1)
    found = [each for each in answer.crossed({"one": tree, "other": tree}, []) if each["delay_s"] is None]
    assert [(each["lower"], each["upper"], round(each["low"], 4)) for each in found] == [
        ("one", "other", 0.02), ("other", "one", 0.03),
    ]  # fmt: skip


def test_two_scenarios_cross_where_their_means_do() -> None:
    """Two packets whose loss costs 2 s, against eight packets whose loss costs 0.1 s: 0.02 + 4 p is 0.08 + 0.8 p at
    some 1.9 %.
    """
    few, many = grown(request_and_reply(), 3, horizon_s=3.0), grown(in_a_row(8, cost_s=0.1), 3, horizon_s=3.0)
    [found] = answer.crossed({"few": few, "many": many}, [])
    assert (found["lower"], found["upper"], found["delay_s"]) == ("few", "many", None)
    means = [answer.ByRate.mean(tree) for tree in (few, many)]
    assert means[0].at(found["low"] - 1e-5).high < means[1].at(found["low"] - 1e-5).low
    assert means[0].at(found["high"] + 1e-5).low > means[1].at(found["high"] + 1e-5).high
    assert 0.015 < found["low"] < found["high"] < 0.025


def test_seeds_are_averaged_with_an_interval() -> None:
    made = [_grown(grown(in_a_row(count), 4), seed=seed) for seed, count in enumerate((3, 4, 5), 1)]
    found = list(answer.over_seeds(("one", answer.beyond(each, {"1 %": both(0.01)})) for each in made))
    first = found[0]
    assert first["seeds"] == 3
    assert first["low"] < first["bounds"]["low"] <= first["bounds"]["high"] < first["high"]
    assert first["bounds"]["low"] == pytest.approx(sum(1 - 0.99**n for n in (3, 4, 5)) / 3, abs=1e-5)
    assert not list(answer.over_seeds([("one", answer.beyond(made[0], {"1 %": both(0.01)}))]))


def test_what_was_asked_for_is_bounded_or_not() -> None:
    assert answer.bounded(_grown(grown(in_a_row(4), 3)))
    assert not answer.bounded(_grown(grown(in_a_row(4), 0)))
