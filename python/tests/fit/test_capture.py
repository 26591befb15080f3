import pytest

from tests.fit.samples import Capture
from wirelab.fit import MeasurementError, observe_capture


def opened(trip: float = 40, answer: float = 0.1) -> Capture:
    """A handshake seen at the client, which answers soon."""
    capture = Capture()
    capture.client(0, "S", 0, None)
    capture.server(trip, "SA", 0, 1)
    capture.client(trip + answer, "A", 1, 1)
    return capture


def test_round_trips_are_those_that_crossed_the_link() -> None:
    capture = opened()
    capture.client(50, "AP", 1, 1, 100)
    capture.server(95, "A", 1, 101)
    capture.server(96, "AP", 1, 101, 200)
    capture.client(96.2, "A", 101, 201)
    seen = observe_capture(capture.rows)
    assert seen.round_trips_ns.tolist() == [40_000_000, 45_000_000]
    assert seen.seen == ("Taken at the client, by how soon its own answers come.",)


def test_a_capture_at_the_server_is_known_by_its_answers() -> None:
    capture = Capture()
    capture.client(0, "S", 0, None)
    capture.server(0.1, "SA", 0, 1)
    capture.client(40, "A", 1, 1)
    capture.server(41, "AP", 1, 1, 100)
    capture.client(82, "A", 1, 101)
    seen = observe_capture(capture.rows)
    assert seen.round_trips_ns.tolist() == [39_900_000, 41_000_000]
    assert seen.seen[0].startswith("Taken at the server")


def test_a_capture_between_the_ends_says_so() -> None:
    capture = opened(trip=30, answer=20)
    capture.client(60, "AP", 1, 1, 100)
    capture.server(90, "A", 1, 101)
    assert observe_capture(capture.rows).seen[0].startswith("Taken between the ends, it seems")


def test_the_last_segment_that_an_ack_covers_gives_the_round_trip_sample() -> None:
    capture = opened()
    capture.client(50, "A", 1, 1, 1000)
    capture.client(58, "A", 1001, 1, 1000)
    capture.server(98, "A", 1, 2001)
    assert observe_capture(capture.rows).round_trips_ns.tolist() == [40_000_000, 40_000_000]


def test_retransmitted_segments_give_no_sample_and_count_as_lost() -> None:
    capture = opened()
    capture.client(50, "A", 1, 1, 1000)
    capture.server(90, "A", 1, 1001)
    capture.client(100, "A", 1001, 1, 1000)
    capture.client(300, "A", 1001, 1, 1000)
    capture.server(340, "A", 1, 2001)
    seen = observe_capture(capture.rows)
    assert seen.round_trips_ns.tolist() == [40_000_000, 40_000_000]
    assert seen.lost_by_way["uplink"].tolist() == [False, False, True]
    assert seen.lost_by_way["downlink"].tolist() == [False]


def test_a_segment_acknowledged_too_soon_after_its_retransmission_was_not_lost() -> None:
    capture = opened()
    capture.client(50, "A", 1, 1, 1000)
    capture.server(90, "A", 1, 1001)
    capture.client(100, "A", 1001, 1, 1000)
    capture.client(300, "A", 1001, 1, 1000)
    capture.server(302, "A", 1, 2001)
    assert observe_capture(capture.rows).lost_by_way["uplink"].tolist() == [False, False, False]


def test_a_retransmitted_segment_that_was_never_acknowledged_was_lost() -> None:
    capture = opened()
    capture.client(50, "A", 1, 1, 1000)
    capture.server(90, "A", 1, 1001)
    capture.client(100, "A", 1001, 1, 1000)
    capture.client(300, "A", 1001, 1, 1000)
    assert observe_capture(capture.rows).lost_by_way["uplink"].tolist() == [False, False, True]


def test_a_gap_filled_late_is_a_loss_and_one_filled_soon_is_reordering() -> None:
    capture = opened()
    capture.client(50, "AP", 1, 1, 100)
    capture.server(90, "A", 1, 101, 1000)
    capture.server(92, "A", 2001, 101, 1000)
    capture.server(93, "A", 1001, 101, 1000)
    capture.server(94, "A", 4001, 101, 1000)
    capture.server(139, "A", 3001, 101, 1000)
    capture.client(139.1, "A", 101, 5001)
    seen = observe_capture(capture.rows)
    assert seen.lost_by_way["downlink"].tolist() == [False, False, False, False, False, True]


def test_bytes_that_arrived_in_the_best_second_are_a_lower_bound_of_the_rate() -> None:
    capture = opened()
    capture.client(50, "AP", 1, 1, 100)
    capture.server(60, "A", 1, 101)
    for index in range(200):
        capture.server(90 + 10 * index, "A", 1 + 1210 * index, 101, 1210)
    capture.client(2090, "A", 101, 1 + 1210 * 200)
    rate = observe_capture(capture.rows).rates["downlink"]
    assert rate.bits_per_second == 8 * 100 * 1250


def test_bytes_acknowledged_in_the_best_second_are_a_lower_bound_of_the_rate() -> None:
    capture = opened()
    for index in range(200):
        capture.client(50 + 10 * index, "A", 1 + 1000 * index, 1, 1000)
        capture.server(90 + 10 * index, "A", 1, 1001 + 1000 * index)
    rate = observe_capture(sorted(capture.rows, key=lambda row: row["at_ns"])).rates["uplink"]
    assert rate.bits_per_second == 8 * 100 * 1000


def test_an_ack_that_waited_for_a_retransmission_gives_no_rate() -> None:
    capture = opened()
    capture.client(50, "A", 1, 1, 1000)
    capture.server(90, "A", 1, 1001)
    capture.client(100, "A", 1001, 1, 1000)
    capture.client(101, "A", 2001, 1, 60000)
    capture.client(1200, "A", 1001, 1, 1000)
    capture.server(1240, "A", 1, 62001)
    capture.client(1250, "A", 62001, 1, 1000)
    capture.server(1290, "A", 1, 63001)
    rates = observe_capture(capture.rows).rates
    assert rates["uplink"].bits_per_second == 8 * 1001


def test_a_short_capture_has_no_rate() -> None:
    capture = opened()
    capture.client(50, "A", 1, 1, 1000)
    capture.server(90, "A", 1, 1001)
    assert observe_capture(capture.rows).rates == {}


def test_sequence_numbers_may_wrap() -> None:
    capture = opened()
    last = 2**32 - 500
    capture.client(50, "A", 2**31 - 1, 1, 1000)
    capture.server(90, "A", 1, 2**31 + 999)
    capture.client(150, "A", last, 1, 1000)
    capture.server(191, "A", 1, 500)
    assert observe_capture(capture.rows).round_trips_ns.tolist()[-1] == 41_000_000


def test_segments_larger_than_packets_are_reported() -> None:
    capture = opened()
    capture.client(50, "A", 1, 1, 5000)
    capture.server(90, "A", 1, 5001)
    assert "1 segments are longer than 1500 bytes" in observe_capture(capture.rows).seen[1]


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([], "has no TCP segments"),
        (opened().rows[:1], "has no round trip"),
        (opened().rows[:2], "has one round trip"),
        ([row | {"transport": "udp", "tcp_sequence": None} for row in opened().rows], "has no TCP segments"),
    ],
)
def test_a_capture_without_enough_tcp_is_refused(rows: list[dict[str, object]], what: str) -> None:
    with pytest.raises(MeasurementError, match=what):
        observe_capture(rows)
