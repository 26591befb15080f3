import pytest

from tests.wirelab_energy.radios import NS, three_states
from wirelab_energy import Packet, radio_energy

RADIO = three_states()


def spans(*packets: Packet, end_s: float = 30, **inputs: str) -> list[tuple[str, float, float]]:
    energy = radio_energy(RADIO.with_inputs(inputs), packets, 0, round(end_s * NS))
    return [(each.state, each.start_ns / NS, each.end_ns / NS) for each in energy.timeline]


def test_it_transmits_stays_awake_and_sleeps() -> None:
    # 2,500 B are a second at 20 kbit/s.
    assert spans(Packet(NS, True, 2500)) == [
        ("asleep", 0, 1), ("transmit", 1, 2), ("awake", 2, 12), ("asleep", 12, 30),
    ]  # fmt: skip


def test_what_it_receives_is_over_at_its_time_and_keeps_it_awake() -> None:
    assert spans(Packet(5 * NS, False, 2500)) == [("asleep", 0, 4), ("awake", 4, 15), ("asleep", 15, 30)]


def test_a_radio_that_never_sleeps_is_awake_before_and_after() -> None:
    awake = {"stays-awake": "never"}
    assert spans(Packet(NS, True, 2500), **awake) == [("awake", 0, 1), ("transmit", 1, 2), ("awake", 2, 30)]
    at_once = {"stays-awake": "0 s"}
    assert spans(Packet(NS, True, 2500), **at_once) == [("asleep", 0, 1), ("transmit", 1, 2), ("asleep", 2, 30)]


@pytest.mark.parametrize(("size", "air_s"), [(111, 0.0444), (36, 0.0144), (0, 0)])
def test_a_packet_has_no_headers_of_a_link_layer(size: int, air_s: float) -> None:
    assert radio_energy(RADIO, [Packet(NS, True, size)], 0, NS).airtime_up_s == pytest.approx(air_s)
