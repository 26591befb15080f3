"""First retransmissions that come before the answer, in words."""

from __future__ import annotations

from wirelab.schema.short_timer import ShortTimer, short_timer_lines

MS = 10**6


def timer(name: str = "ack-timeout", *, is_setting: bool = True, answer_ms: int = 2900) -> ShortTimer:
    takes = "waking and a round trip"
    return ShortTimer(name=name, is_setting=is_setting, timer_ns=2000 * MS, answer_ns=answer_ms * MS, takes=takes)


def test_a_setting_has_a_value_that_is_long_enough() -> None:
    assert list(short_timer_lines([("coap", "psm", timer()), ("h3", "psm", None)])) == [
        "coap on psm: ack-timeout (2 s) is shorter than waking and a round trip (2.9 s): messages may be sent twice. "
        "--set protocols.coap.ack-timeout=6s"
    ]


def test_a_timer_without_a_setting_cannot_be_changed() -> None:
    assert list(short_timer_lines([("http1", "psm", timer("TCP's SYN", is_setting=False))])) == [
        "http1 on psm: TCP's SYN is retransmitted after 2 s, sooner than waking and a round trip (2.9 s); no setting "
        "changes that"
    ]


def test_protocols_and_links_with_the_same_time_out_share_a_line() -> None:
    shorter, longer = timer(answer_ms=2900), timer(answer_ms=5000)
    [line] = short_timer_lines([("coap", "psm", shorter), ("coaps", "edrx", longer)])
    assert line == (
        "coap, coaps on psm, edrx: ack-timeout (2 s) is shorter than waking and a round trip (up to 5 s): messages may "
        "be sent twice. --set protocols.coap.ack-timeout=10s --set protocols.coaps.ack-timeout=10s"
    )


def test_of_a_protocol_on_a_link_the_longest_answer_counts() -> None:
    [line] = short_timer_lines([("coap", "psm", timer(answer_ms=each)) for each in (2900, 5000, 3000)])
    assert "(5 s)" in line


def test_of_many_links_the_first_are_named() -> None:
    [line] = short_timer_lines([("coap", link, timer()) for link in "abcd"])
    assert line.startswith("coap on a, b, c, …: ack-timeout")
