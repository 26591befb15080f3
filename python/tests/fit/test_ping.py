import numpy as np
import pytest

from tests.fit import samples
from wirelab.fit import MeasurementError, observe_ping

RTTS = [20.0, 21.5, 19.25, 22.0, 20.125, 30.0]
LOST = np.array([False, True, False, False, True, False])
ANSWERED = [20_000_000, 19_250_000, 22_000_000, 30_000_000]
HEAD = "PING example.org (192.0.2.1) 56(84) bytes of data.\n"


def reply(seq: int, rest: str = "time=20.0 ms") -> str:
    return f"64 bytes from 192.0.2.1: icmp_seq={seq} ttl=57 {rest}\n"


@pytest.mark.parametrize(
    "text",
    [samples.iputils(RTTS, LOST), samples.iputils(RTTS, LOST, stamped=True), samples.busybox(RTTS, LOST)],
    ids=["iputils", "iputils -D", "busybox"],
)
def test_gaps_in_the_sequence_are_losses(text: str) -> None:
    seen = observe_ping(text)
    assert seen.round_trips_ns.tolist() == ANSWERED
    assert seen.lost is not None
    assert seen.lost.tolist() == LOST.tolist()


def test_the_interval_is_from_the_stamps_or_from_the_summary() -> None:
    assert observe_ping(samples.iputils(RTTS, LOST, stamped=True)).interval_ns == pytest.approx(200e6, rel=1e-3)
    assert observe_ping(samples.iputils(RTTS, LOST)).interval_ns == 200_000_000
    assert observe_ping(samples.busybox(RTTS, LOST)).interval_ns is None


def test_losses_at_the_end_are_read_from_the_summary() -> None:
    lost = np.array([False, False, True, True])
    seen = observe_ping(samples.iputils(RTTS[:4], lost))
    assert seen.lost is not None
    assert seen.lost.tolist() == [False, False, True, True]


def test_an_interrupted_log_is_reported_as_having_an_unknown_end() -> None:
    seen = observe_ping(samples.iputils(RTTS[:4], np.array([True, False, False, True]), summary=False))
    assert seen.lost is not None
    assert seen.lost.tolist() == [True, False, False]
    assert "no summary" in seen.seen[-1]


def test_a_log_cut_at_its_beginning_begins_with_its_first_reply() -> None:
    seen = observe_ping(reply(7) + reply(9))
    assert seen.lost is not None
    assert seen.lost.tolist() == [False, True, False]


def test_unanswered_requests_count_unless_answered_late() -> None:
    waiting = "no answer yet for icmp_seq={}\n"
    seen = observe_ping(HEAD + reply(1) + waiting.format(2) + reply(3) + reply(2, "time=1200 ms") + waiting.format(4))
    assert seen.lost is not None
    assert seen.lost.tolist() == [False, False, False, True]
    assert 1_200_000_000 in seen.round_trips_ns


def test_duplicates_count_once() -> None:
    seen = observe_ping(HEAD + reply(1) + reply(1, "time=25.0 ms (DUP!)") + reply(2))
    assert seen.round_trips_ns.tolist() == [20_000_000] * 2
    assert seen.seen[0].startswith("1 replies were duplicated")


def test_errors_of_the_network_are_losses() -> None:
    error = "From 192.0.2.254 icmp_seq=2 Destination Host Unreachable\n"
    seen = observe_ping(HEAD + reply(1) + error + reply(3))
    assert seen.lost is not None
    assert seen.lost.tolist() == [False, True, False]
    assert "error of the network" in seen.seen[0]


def test_sequence_numbers_wrap_after_16_bits() -> None:
    seen = observe_ping(reply(65534) + reply(65535) + reply(1) + reply(2))
    assert seen.lost is not None
    assert seen.lost.tolist() == [False, False, True, False, False]


def test_ipv6_and_other_languages_read_alike() -> None:
    german = "64 Bytes von 2001:db8::1: icmp_seq={} ttl=57 Zeit={} ms\n"
    assert observe_ping(german.format(1, "20,5") + german.format(2, "21")).round_trips_ns.tolist() == [
        20_500_000,
        21_000_000,
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is not a ping log"),
        ("hello\nworld\n", "is not a ping log"),
        (HEAD + "\n3 packets transmitted, 3 received, 0% packet loss, time 400ms\n", "has no replies, only a summary"),
        (HEAD + "no answer yet for icmp_seq=1\n", "has no round trip"),
        (HEAD + reply(1), "has one round trip"),
        (HEAD + reply(1) + HEAD + reply(1), "more than one ping run"),
        (HEAD + reply(1, "") + reply(2, ""), "has no round trip"),
    ],
)
def test_a_text_that_is_not_a_ping_log_or_is_too_short_is_refused(text: str, what: str) -> None:
    with pytest.raises(MeasurementError, match=what):
        observe_ping(text)
