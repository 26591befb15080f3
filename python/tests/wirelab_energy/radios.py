"""Radios for tests, made from what ships with other numbers."""

from typing import Any

from wirelab_energy import Radio
from wirelab_energy.errors import Where
from wirelab_energy.radio import parse_radio

WHERE = Where("mine.toml")
NS = 1_000_000_000


def document(**changes: Any) -> dict[str, Any]:
    """A radio of round numbers: Ethernet at 1 V, so that a current is a power."""
    made: dict[str, Any] = {
        "title": "Mine",
        "machine": "ethernet",
        "supply": {"voltage": "1 V"},
        "power": {"transmit": ["2 W", "3 W", "5 W"], "receive": "2 W", "idle": "1 W"},
        "rate": {"line": "8 kbit/s"},
        "sources": {"power.transmit": "my scale"},
    }
    return made | changes


def mine(**changes: Any) -> Radio:
    return parse_radio("mine", document(**changes), WHERE)


def three_states(**changes: Any) -> Radio:
    """The radio that the guide computes by hand."""
    made = document() | {
        "machine": "plain",
        "power": {"transmit": "500 mW", "awake": "50 mW", "asleep": "10 uW"},
        "rate": {"uplink": "20 kbit/s", "downlink": "20 kbit/s"},
        "inputs": {"stays-awake": "10 s"},
        "sources": {},
    }
    return parse_radio("three-states", made | changes, WHERE)
