"""Why a scenario has no day, as its plan shows it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import whole_scenario
from wirelab.metrics.no_day import BACK_TO_BACK, ONE_MESSAGE, SHARED_RADIO, why_no_day
from wirelab.schema.plan import Scenario

EVERY = {"process": "periodic", "interval_ns": 600 * 10**9}
RANDOM = {"process": "poisson", "rate_hz": 0.01}
RADIO = {"buffer_bytes": 1000, "sleeps": [{"after_ns": 10**9, "wake_ns": 10**9}]}


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
    assert why_no_day(scenario(workload)) == expected


def test_several_clients_cannot_share_the_radio_stage_of_a_link() -> None:
    two = {"arrival": EVERY, "clients": 2}
    assert why_no_day(scenario(two)) is None
    assert why_no_day(scenario(two, radio=RADIO)) == SHARED_RADIO
    assert why_no_day(scenario({"arrival": EVERY}, radio=RADIO)) is None
    subscribers = {"kind": "pubsub", "subscribers": 2, "messages": 3, "arrival": EVERY}
    assert why_no_day(scenario(subscribers, radio=RADIO)) == SHARED_RADIO
