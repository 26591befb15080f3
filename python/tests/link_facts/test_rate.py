"""What the agent says that impairments let pass."""

from __future__ import annotations

from typing import Any

import pytest

from tests.asked import chain, facts
from wirelab.experiment.link.shared import NatTable
from wirelab.stats.link.over_time import mean_rate_bps

QUEUE = {"discipline": "drop-tail", "bytes": 1000}
FALLING = {"kind": "schedule", "queue": QUEUE, "points": [{"at_ns": 0, "rate_bps": 100}, {"at_ns": 1, "rate_bps": 50}]}


@pytest.mark.parametrize(
    ("stage", "rate"),
    [
        ({"kind": "rate", "rate_bps": 1000, "queue": QUEUE}, 1000),
        ({"kind": "token-bucket", "rate_bps": 1000, "burst_bytes": 1500, "queue": QUEUE}, 1000),
        ({"kind": "duty-cycle", "rate_bps": 1000, "share": 0.01, "queue": QUEUE}, 10),
        ({"kind": "delivery-trace", "opportunities_ms": [0, 500, 1000], "queue": QUEUE}, 36_000),
        (FALLING, 50),
        ({**FALLING, "repeat_ns": 2}, 75),
        (
            {
                "kind": "schedule",
                "queue": QUEUE,
                "points": [{"at_ns": 0, "rate_bps": 100}, {"at_ns": 1}],
                "repeat_ns": 2,
            },
            None,
        ),
        ({"kind": "delay", "delay_ns": 1}, None),
    ],
)
def test_the_rate_is_what_a_stage_sustains(stage: dict[str, Any], rate: int | None) -> None:
    assert mean_rate_bps(chain(stage).stages[0]) == rate


def test_a_mediums_rate_is_that_of_its_frames() -> None:
    medium = {"kind": "serialiser", "rate_bps": 54_000_000, "queue_bytes": 1000}
    assert [each.rate_bps for each in facts({"medium": medium}).shared] == [54_000_000]
    nat = NatTable().spec().model_dump(mode="json")
    assert [each.rate_bps for each in facts({"nat": nat}).shared] == [None]
