"""How many messages connections carry at a time, and what is proposed where that is too few."""

from __future__ import annotations

from typing import Any

import pytest

from tests.asked import load_experiment
from wirelab.plan import make_plan
from wirelab.schema.describe import registered
from wirelab.stats.machine.carried import Carried, carried, enough


def _carried(protocol: str, over: float, connections: int = 1, **settings: Any) -> Carried | None:
    sets = (f"protocol={protocol}", "workload.connection={ persistent = %d }" % connections)  # noqa: UP031
    [scenario, *_] = make_plan(load_experiment("quickstart", sets)).scenarios
    return carried(registered(), scenario.model_copy(update={"settings": settings}), over)


def test_so_many_are_enough_that_95_percent_of_what_they_serve_is_offered() -> None:
    assert [enough(1, 1.9), enough(1, 2), enough(10, 1.5)] == [2, 3, 16]


def test_a_protocol_that_multiplexes_without_a_limit_carries_any_number() -> None:
    assert _carried("h2", 5) is None


def test_one_exchange_after_the_other_needs_more_connections() -> None:
    assert _carried("http1", 5) == (1, 6, "more connections: workload.connection = { persistent = 6 }")


@pytest.mark.parametrize(
    ("nstart", "connections", "over", "found"),
    [
        (1, 1, 5, Carried(1, 6, "raise protocols.coap.nstart to 6")),
        (500, 1, 1.9, Carried(500, 1000, "raise protocols.coap.nstart to 1000")),
        (
            500, 2, 2, Carried(
                1000, 3000, "raise protocols.coap.nstart to 1000, its maximum, which is not enough (1,053 are needed); "
                "more connections: workload.connection = { persistent = 3 }",
            ),
        ),
        (
            1000, 1, 1.9, Carried(
                1000, 2000, "protocols.coap.nstart is at its maximum, which is not enough (2,000 are needed); "
                "more connections: workload.connection = { persistent = 2 }",
            ),
        ),
    ],
)  # fmt: skip
def test_nstart_is_raised_to_its_maximum_at_most(nstart: int, connections: int, over: float, found: Carried) -> None:
    assert _carried("coap", over, connections, nstart=nstart) == found
