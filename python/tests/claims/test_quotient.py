"""Two metrics of one case."""

from __future__ import annotations

from typing import Any

import pytest

from tests.claims.fakes import Fake
from wirelab.claims.family import judge_part
from wirelab.claims.forms import Quotient
from wirelab.claims.judgement import Context

PART = Quotient.model_validate(
    {
        "form": "quotient", "metric": "cpu", "per": "delay", "of": {"protocol": "h2"}, "published": 0.26,
        "printed": [0.255, 0.265],
    }
)  # fmt: skip


def judged(cpu: float, factor: float = 1.25, error: float = 0.01) -> Any:
    source = Fake({("h2", "cpu"): cpu, ("h2", "delay"): 0.627}, error)
    return judge_part(PART, Context(source, 0.95, 0.95, factor))  # type: ignore[arg-type]


@pytest.mark.parametrize(("cpu", "verdict"), [(0.163, "confirmed"), (0.427, "contradicted"), (0.204, "inconclusive")])
def test_a_quotient_is_judged_by_its_value(cpu: float, verdict: str) -> None:
    assert judged(cpu).verdict == verdict


def test_printed_numbers_that_disagree_contradict_a_quotient_without_tolerance() -> None:
    found = judged(0.427, factor=1.0, error=0.0)
    assert found.verdict == "contradicted"
    assert found.why.startswith("it is 0.681")


def test_a_quotient_needs_both_metrics() -> None:
    assert PART.metric_names() == ["cpu", "delay"]
    found = judge_part(PART, Context(Fake({("h2", "cpu"): 1.0}), 0.95, 0.95, 1.25))  # type: ignore[arg-type]
    assert (found.verdict, found.why) == ("inconclusive", "mean delay of h2 is not measured")


@pytest.mark.parametrize(("client", "verdict"), [(2.0, "confirmed"), (0.5, "contradicted"), (1.0, "inconclusive")])
def test_a_quotient_may_be_claimed_to_be_above_a_number(client: float, verdict: str) -> None:
    fields = {"form": "quotient", "metric": "client", "per": "server", "of": {"protocol": "h2"}, "above": 1}
    source = Fake({("h2", "client"): client, ("h2", "server"): 1.0})
    found = judge_part(Quotient.model_validate(fields), Context(source, 0.95, 0.95, 1.25))  # type: ignore[arg-type]
    assert (found.verdict, found.paper) == (verdict, "above 1")


@pytest.mark.parametrize("fields", [{}, {"above": 1, "published": 2, "printed": [1.5, 2.5]}, {"published": 2}])
def test_a_quotient_has_exactly_one_bound(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="needs either"):
        Quotient.model_validate({"form": "quotient", "metric": "a", "per": "b", "of": {}, **fields})
