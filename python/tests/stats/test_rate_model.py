from __future__ import annotations

from typing import Any

import pytest

from wirelab.stats.rate_model import mean_rate, medium_rate

FALLING = {"kind": "schedule", "points": [{"at_ns": 0, "rate_bps": 100}, {"at_ns": 1, "rate_bps": 50}]}


@pytest.mark.parametrize(
    ("stage", "rate"),
    [
        ({"kind": "rate", "rate_bps": 1000}, 1000),
        ({"kind": "token-bucket", "rate_bps": 1000, "burst_bytes": 1500}, 1000),
        ({"kind": "duty-cycle", "rate_bps": 1000, "share": 0.01}, 10),
        ({"kind": "delivery-trace", "opportunities_ms": [0, 500, 1000]}, 36_000),
        (FALLING, 50),
        ({**FALLING, "repeat_ns": 2}, 75),
        ({"kind": "schedule", "points": [{"at_ns": 0, "rate_bps": 100}, {"at_ns": 1}], "repeat_ns": 2}, None),
        ({"kind": "delay", "delay_ns": 1}, None),
    ],
)
def test_a_rate_is_what_a_stage_sustains(stage: dict[str, Any], rate: int | None) -> None:
    assert mean_rate(stage) == rate


def test_a_mediums_rate_is_that_of_its_frames() -> None:
    assert medium_rate(None) is None
    assert medium_rate({"kind": "wifi", "rate_bps": 54_000_000}) == 54_000_000
    assert medium_rate({"kind": "ieee802154"}) == 250_000
