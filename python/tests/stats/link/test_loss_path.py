from __future__ import annotations

from typing import Any

import pytest

from tests.asked import facts
from wirelab.experiment.link.shared import NatTable
from wirelab.stats.link.loss_path import LossPath

LOSS = {"kind": "loss", "probability": 0.1}
RATE = {"kind": "rate", "rate_bps": 1000, "queue": {"discipline": "drop-tail", "bytes": 1000}}
AQM = {"discipline": "codel", "target_ns": 5 * 10**6, "interval_ns": 10**8, "bytes": 1000}
CODEL = {"kind": "rate", "rate_bps": 1000, "queue": AQM}
DELAY = {"kind": "delay", "delay_ns": 1}
OUTAGE = {"kind": "outage", "start_ns": 0, "duration_ns": 1}
DUPLICATE = {"kind": "duplicate", "probability": 0.1}
COUNTS = {"received": 1000, "lost": 50, "queue_full": 100, "aqm": 20, "outage": 3, "nat": 7, "retries": 5, "held": 0}


def reached(*stages: dict[str, Any], direction: str = "uplink", **link: Any) -> tuple[int, int]:
    found = facts({"uplink": stages, "downlink": stages, **link})
    return LossPath.of(found.uplink if direction == "uplink" else found.downlink).reached(COUNTS)


@pytest.mark.parametrize(
    ("stages", "found"),
    [
        ((LOSS, DELAY), (1000, 0)),
        ((DELAY, RATE), (1000, 0)),
        ((RATE, LOSS), (900, 0)),
        ((LOSS, RATE), (1000, 0)),
        ((CODEL, LOSS), (880, 0)),
        ((OUTAGE, LOSS), (997, 0)),
        ((OUTAGE, CODEL, LOSS, DELAY), (877, 0)),
        ((RATE, LOSS, RATE), (900, 100)),
    ],
)
def test_packets_that_were_dropped_before_did_not_reach_the_loss(
    stages: tuple[dict[str, Any], ...], found: tuple[int, int]
) -> None:
    assert reached(*stages) == found


def test_the_shared_medium_follows_the_loss() -> None:
    medium = {"kind": "serialiser", "rate_bps": 1, "queue_bytes": 1000}
    assert reached(LOSS, medium=medium) == (1000, 0)
    assert reached(RATE, LOSS, medium=medium) == (900, 100)


def test_address_translation_is_the_first_stage_of_the_downlink() -> None:
    nat = NatTable().spec().model_dump(mode="json")
    assert reached(LOSS, nat=nat, direction="uplink") == (1000, 0)
    assert reached(LOSS, nat=nat, direction="downlink") == (993, 0)


def test_the_radio_is_the_first_stage_of_the_uplink() -> None:
    radio = {"sleeps": [{"after_ns": 1, "wake_ns": 1}], "buffer_bytes": 1}
    up = LossPath.of(facts({"uplink": [LOSS], "downlink": [], "radio": radio}).uplink)
    assert up.reached({**COUNTS, "held": 2}) == (1000 - 100 - 2, 0)
    assert reached(LOSS, radio=radio, direction="downlink") == (1000, 0)
    assert reached(RATE, LOSS, radio=radio, direction="downlink") == (900, 100)


def test_a_schedules_loss_follows_its_queue() -> None:
    points = [{"at_ns": 0, "loss": 0.1}]
    schedule = {"kind": "schedule", "points": points, "queue": AQM}
    assert reached(schedule) == (880, 0)
    path = LossPath.of(facts({"uplink": [schedule], "downlink": []}).uplink)
    assert path.reached({**COUNTS, "held": 4}) == (876, 4)


def test_packets_held_at_the_end_may_be_before_or_after_the_loss() -> None:
    counts = {**COUNTS, "queue_full": 0, "held": 40}
    path = LossPath.of(facts({"uplink": [RATE, LOSS, DELAY], "downlink": []}).uplink)
    assert path.reached(counts) == (960, 40)
    assert LossPath.of(facts({"uplink": [LOSS, DELAY], "downlink": []}).uplink).reached(counts) == (1000, 0)


def test_copies_made_before_the_loss_reach_it_too() -> None:
    counts = {**COUNTS, "duplicated": 10}
    assert LossPath.of(facts({"uplink": [DUPLICATE, LOSS], "downlink": []}).uplink).reached(counts) == (1010, 0)
    assert LossPath.of(facts({"uplink": [LOSS, DUPLICATE], "downlink": []}).uplink).reached(counts) == (1000, 0)


def test_lost_packets_reached_the_loss() -> None:
    assert LossPath.of(facts({"uplink": [RATE, LOSS], "downlink": []}).uplink).reached(
        {**COUNTS, "queue_full": 990}
    ) == (
        50,
        0,
    )
