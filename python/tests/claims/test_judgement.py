"""Verdicts from intervals, at their bounds."""

import numpy as np
import pytest

from tests.claims.fakes import Fake
from wirelab.claims.judgement import (
    CONFIRMED,
    CONTRADICTED,
    INCONCLUSIVE,
    Context,
    Judgement,
    all_of,
    decided_by,
    number,
    plain_part,
    within,
    written,
)
from wirelab.stats.estimate.bootstrap import Draws
from wirelab.stats.estimate.model import Estimate


def exactly(value: float) -> Draws:
    """A statistic that is the same in every resample: its interval is one point at every level."""
    return Draws(value, np.full(10, value), df=9.0, n=10)


def spread(low: float, high: float) -> Draws:
    """A statistic that is anywhere between two values alike."""
    return Draws((low + high) / 2, np.linspace(low, high, 10_001), df=np.inf, n=10)


def context(confirm: float = 0.9, contradict: float = 0.9) -> Context:
    return Context(Fake({}), confirm, contradict, 1.25)


@pytest.mark.parametrize(
    ("value", "strict", "verdict"),
    [
        (1.0, False, CONFIRMED),
        (1.0, True, INCONCLUSIVE),
        (1.5, True, CONFIRMED),
        (2.0, False, CONFIRMED),
        (2.0, True, INCONCLUSIVE),
        (2.001, False, CONTRADICTED),
        (0.999, True, CONTRADICTED),
    ],
)
def test_the_bounds_belong_to_the_claim_unless_it_is_strict(value: float, strict: bool, verdict: str) -> None:
    assert within(context(), exactly(value), 1.0, 2.0, strict=strict) == verdict


@pytest.mark.parametrize(("low", "high"), [(None, 2.0), (1.0, None), (None, None)])
def test_a_missing_bound_does_not_decide(low: float | None, high: float | None) -> None:
    assert within(context(), exactly(1.5), low, high) == CONFIRMED


def test_an_interval_across_a_bound_decides_nothing() -> None:
    assert within(context(), spread(0.5, 1.5), 1.0, None) == INCONCLUSIVE


def test_confirming_and_contradicting_have_their_own_levels() -> None:
    # 5 % to 95 % of these is above 1.04, the whole is not; and so for contradicting.
    assert within(context(confirm=0.9), spread(1.0, 2.0), 1.04, None) == CONFIRMED
    assert within(context(confirm=0.999), spread(1.0, 2.0), 1.04, None) == INCONCLUSIVE
    assert within(context(contradict=0.9), spread(1.0, 2.0), None, 1.04) == CONTRADICTED
    assert within(context(contradict=0.999), spread(1.0, 2.0), None, 1.04) == INCONCLUSIVE


def test_a_statistic_that_is_not_defined_everywhere_decides_nothing() -> None:
    assert within(context(), Draws(1.5, np.array([1.0, np.nan]), df=1.0, n=2), 1.0, 2.0) == INCONCLUSIVE


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        ([], INCONCLUSIVE),
        ([CONFIRMED, CONFIRMED], CONFIRMED),
        ([CONFIRMED, INCONCLUSIVE], INCONCLUSIVE),
        ([INCONCLUSIVE, CONTRADICTED], CONTRADICTED),
        ([CONFIRMED, CONTRADICTED], CONTRADICTED),
    ],
)
def test_all_parts_must_be_confirmed_and_one_contradicts(verdicts: list[str], verdict: str) -> None:
    assert all_of(verdicts) == verdict


def test_a_printed_number_has_no_interval() -> None:
    shown = number(Draws(1.4, np.empty(0), df=np.inf, n=0))
    assert (shown.low, shown.high, shown.method) == (None, None, "as printed")
    assert written(shown) == "1.4"
    assert written(Estimate(None, None, None, 0.95, 0, "none")) == "undefined"
    assert written(Estimate(1.4321, 1.3, 1.5, 0.95, 3, "some")) == "1.43 [1.3, 1.5]"
    assert written(Estimate(1.00512, 1.00508, 1.00517, 0.95, 3, "some")) == "1.0051 [1.0051, 1.0052]"
    assert written(Estimate(1.0, 1.0, 1.0, 0.95, 3, "some")) == "1 [1, 1]"


def test_the_evidence_of_a_judgement_counts_each_scenario_once() -> None:
    judgement = Judgement("order", "h1 < h2", CONFIRMED, "why", scenarios={"a": 30, "b": 20})
    assert plain_part(judgement) == {
        "form": "order",
        "text": "h1 < h2",
        "verdict": CONFIRMED,
        "why": "why",
        "paper": None,
        "ours": None,
        "judged": [],
        "n": 50,
        "parts": [],
    }


def test_the_deciding_interval_has_its_own_level_and_an_inconclusive_one_the_widest() -> None:
    two = context(confirm=0.9, contradict=0.99)
    [(_, held)], [(_, contradicted)], [(_, inconclusive)] = (
        decided_by(two, verdict, spread(1.0, 2.0)) for verdict in (CONFIRMED, CONTRADICTED, INCONCLUSIVE)
    )
    assert (held.level, contradicted.level, inconclusive.level) == (0.9, 0.99, 0.99)
    assert held.low is not None and contradicted.low is not None and contradicted.low < held.low
    printed = Draws(1.4, np.empty(0), df=np.inf, n=0)
    assert decided_by(two, CONFIRMED, printed) == ()


def test_a_bound_decides_only_on_its_own_side() -> None:
    at_least = Draws(2.0, np.full(10, 2.0), df=9.0, n=10, tells=(True, False))
    assert within(context(), at_least, 1.5, None) == CONFIRMED
    assert within(context(), at_least, 1.5, 3.0) == INCONCLUSIVE
    assert within(context(), at_least, 3.0, None) == INCONCLUSIVE
    assert within(context(), at_least, None, 1.5) == CONTRADICTED
    at_most = exactly(1.0).over(at_least)
    assert at_most.tells == (False, True)
    assert within(context(), at_most, None, 1.0) == CONFIRMED
    assert within(context(), at_most, 1.0, None) == CONTRADICTED
    assert at_least.over(at_least).tells == (False, False)
    assert (written(number(at_least)), written(number(at_most))) == ("at least 2", "at most 0.5")
