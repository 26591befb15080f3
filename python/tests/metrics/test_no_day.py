"""Why a scenario has no day, as its plan shows it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import whole_scenario
from wirelab.metrics.no_day import BACK_TO_BACK, ONE_MESSAGE, SHARED_RADIO, why_no_day
from wirelab.schema import registered
from wirelab.schema.plan import Scenario

EVERY = {"process": "periodic", "interval_ns": 600 * 10**9}
RANDOM = {"process": "poisson", "rate_hz": 0.01}
RADIO = {"buffer_bytes": 1000, "sleeps": [{"after_ns": 10**9, "wake_ns": 10**9}]}


def why_no_day_of(planned: Scenario) -> str | None:
    return why_no_day(planned, registered())


def scenario(workload: dict[str, Any], **link: Any) -> Scenario:
    return Scenario.model_validate(
        whole_scenario({"key": "s", "workload": workload, "link": {"uplink": [], "downlink": [], **link}})
    )


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        ({"arrival": {"process": "closed"}}, BACK_TO_BACK),
        ({"kind": "page"}, BACK_TO_BACK),
        ({"arrival": EVERY}, None),
        ({"arrival": RANDOM, "exchanges": 1}, ONE_MESSAGE),
        ({"arrival": RANDOM, "exchanges": 1, "clients": 3}, ONE_MESSAGE),
        ({"arrival": RANDOM, "exchanges": 2}, None),
        ({"kind": "pubsub", "messages": 1, "arrival": RANDOM}, ONE_MESSAGE),
        ({"kind": "pubsub", "messages": 1, "arrival": EVERY}, None),
        ({"kind": "stream", "messages": 1}, None),
    ],
)
def test_messages_need_a_time_between_them(workload: dict[str, Any], expected: str | None) -> None:
    assert why_no_day_of(scenario(workload)) == expected


def test_several_clients_cannot_share_the_radio_stage_of_a_link() -> None:
    two = {"arrival": EVERY, "clients": 2}
    assert why_no_day_of(scenario(two)) is None
    assert why_no_day_of(scenario(two, radio=RADIO)) == SHARED_RADIO
    assert why_no_day_of(scenario({"arrival": EVERY}, radio=RADIO)) is None
    subscribers = {"kind": "pubsub", "subscribers": 2, "messages": 3, "arrival": EVERY}
    assert why_no_day_of(scenario(subscribers, radio=RADIO)) == SHARED_RADIO


@pytest.mark.parametrize(
    ("protocol", "policy", "settings", "expected"),
    [
        (
            "mqtts", {"policy": "persistent", "connections": 1}, {"keep-alive": 60},
            "keep-alive of 1 min is shorter than the interval of 10 min, and an idle start does not carry it out: "
            'use --clock virtual with arrival = "periodic"',
        ),
        ("mqtts", {"policy": "new"}, {"keep-alive": 60}, None),
        ("coap", {"policy": "persistent", "connections": 1}, {}, None),
        ("coaps", {"policy": "new"}, {}, None),
    ],
)  # fmt: skip
def test_a_timer_that_an_idle_start_leaves_out_is_the_reason(
    protocol: str, policy: dict[str, Any], settings: dict[str, Any], expected: str | None
) -> None:
    idle = {"process": "idle-start", "interval_ns": 600 * 10**9}
    of = scenario({"arrival": idle, "connection": policy, "exchanges": 3})
    planned = of.model_copy(update={"protocol": protocol, "settings": settings})
    assert why_no_day_of(planned) == expected
    waited = scenario({"arrival": EVERY, "connection": policy, "exchanges": 3})
    assert why_no_day_of(waited.model_copy(update={"protocol": protocol, "settings": settings})) is None
