from tests.wirelab_energy.radios import NS, mine
from wirelab_energy import Packet, load_radio
from wirelab_energy.track import Span, follow

RADIO = mine()


def spans(packets: list[Packet], end_s: float = 3) -> list[tuple[str, float, float]]:
    track = follow(RADIO.machine, RADIO.values("typical"), packets, 0, round(end_s * NS))
    return [(each.state, each.start_ns / NS, each.end_ns / NS) for each in track.spans]


def test_a_packet_of_the_clients_begins_at_its_time_and_one_for_it_ends_there() -> None:
    # 974 B and 26 of Ethernet's are a second at 8 kbit/s; a gap of 12 B follows.
    assert spans([Packet(NS, True, 974)]) == [("idle", 0, 1), ("transmit", 1, 2), ("idle", 2, 3)]
    assert spans([Packet(2 * NS, False, 974)]) == [("idle", 0, 0.988), ("receive", 0.988, 1.988), ("idle", 1.988, 3)]


def test_packets_that_would_overlap_follow_one_another() -> None:
    both = spans([Packet(NS, True, 974), Packet(NS, True, 974)], end_s=4)
    assert [each for each in both if each[0] == "transmit"] == [("transmit", 1, 2), ("transmit", 2.012, 3.012)]


def test_states_leave_no_gap_and_cover_the_tail() -> None:
    radio = load_radio("nrf9160-nbiot")
    packets = [Packet(NS, True, 100), Packet(4 * NS, False, 50), Packet(30 * NS, True, 100)]
    track = follow(radio.machine, radio.values("typical"), packets, 0, 31 * NS)
    assert track.spans[0].start_ns == 0
    assert all(one.end_ns == other.start_ns for one, other in zip(track.spans, track.spans[1:], strict=False))
    assert all(one.state != other.state for one, other in zip(track.spans, track.spans[1:], strict=False))
    assert track.spans[-1].end_ns == track.settled_ns == track.quiet_ns + 70 * NS


def test_without_packets_the_radio_rests_all_the_time() -> None:
    radio = load_radio("nrf9160-nbiot")
    track = follow(radio.machine, radio.values("typical"), [], 5, 10 * NS)
    assert track.spans == (Span("psm", 5, 10 * NS),)
    assert track.settled_ns == 5
