"""The case that `docs/guide/energy.md` computes by hand: the model has the same numbers to 0.1 %."""

import re
from pathlib import Path

import pytest

from tests.wirelab_energy.radios import NS, three_states
from wirelab_energy import Packet, battery_life, partition, repeated

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "energy.md"
REQUEST, ANSWER = 20 + 8 + 4 + 4 + 7 + 3 + 1 + 64, 20 + 8 + 4 + 4
INTERVAL_S, ROUND_TRIP_NS = 600, NS // 5
BY_HAND_MJ = {"transmit": 22.2, "awake": 507.78, "asleep": 5.898}


def test_the_model_agrees_with_the_hand_in_every_state() -> None:
    assert (REQUEST, ANSWER) == (111, 36)
    starts = [nth * INTERVAL_S * NS for nth in range(10)]
    packets = [
        packet
        for start in starts
        for packet in (Packet(start, True, REQUEST), Packet(start + ROUND_TRIP_NS, False, ANSWER))
    ]
    end_ns = starts[-1] + INTERVAL_S * NS
    _, messages = partition(three_states(), packets, 0, end_ns, starts[1:])
    for message in messages:
        taken = {state: 1e3 * share.joules.typical for state, share in message.states.items()}
        assert taken == pytest.approx(BY_HAND_MJ, rel=1e-3)
        assert 1e3 * message.joules.typical == pytest.approx(535.878, rel=1e-6)
    day = repeated(three_states(), None, messages[4], INTERVAL_S)
    assert day.total_j.typical == pytest.approx(77.1664, rel=1e-6)
    assert battery_life(day, 2400, 3.6).typical == pytest.approx(403.08, rel=1e-4)


def test_the_guide_has_the_same_radio_and_the_same_numbers() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    section = text[text.index("## A case computed by hand") :]
    for number in (*BY_HAND_MJ.values(), 535.878, 77.1664, 403.08):
        assert re.search(rf"\b{re.escape(f'{number:g}')}0*\b", section), number
