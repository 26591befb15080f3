"""No text makes a reader of measurements, or the fit, raise anything but their own errors."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fit import samples
from wirelab.errors import WirelabError
from wirelab.fit import Observations, Source, fit_profile, observe_irtt, observe_ping, profile_text

NUMBERS = st.sampled_from(
    ["0", "1", "2", "3", "65535", "65536", "9" * 10, "9" * 19, "9" * 400, "9" * 5000, "0.1", "1e9"]
)
REPLIES = st.builds(
    "{}64 bytes from 192.0.2.1: {}={} ttl=57 time={} ms{}".format,
    st.sampled_from(["", "[1700000000.5] ", "[1700000000.1] ", f"[{'9' * 400}.0] "]),
    st.sampled_from(["icmp_seq", "seq"]),
    NUMBERS,
    NUMBERS,
    st.sampled_from(["", " (DUP!)"]),
)
SUMMARIES = st.builds(
    "{} packets transmitted, {} received, 0% packet loss, time {}ms".format, NUMBERS, NUMBERS, NUMBERS
)
OTHERS = st.builds("no answer yet for icmp_seq={}".format, NUMBERS) | st.builds(
    "From 192.0.2.9 icmp_seq={} Destination Host Unreachable".format, NUMBERS
)
LOGS = st.lists(REPLIES | SUMMARIES | OTHERS | st.just("PING a") | st.text(max_size=20), max_size=12).map("\n".join)

RESULT = samples.irtt([10_000_000] * 40, [11_000_000] * 40, ["false", "true_up", "true_down", "false"] * 10)
VALUES: st.SearchStrategy[Any] = (
    st.integers(-(2**70), 2**70)
    | st.sampled_from([0, -1, 2**63 - 1, -(2**63), 2**63, 1, "true", "false", "true_up", None, True, [], {}])
    | st.floats(allow_nan=False, allow_infinity=False)
)


@settings(max_examples=500)
@given(LOGS)
def test_any_ping_log_is_read_or_refused(text: str) -> None:
    check(observe_ping, text)


@settings(max_examples=400)
@given(st.lists(st.tuples(st.integers(0, 500), VALUES), max_size=6), st.booleans())
def test_any_irtt_result_is_read_or_refused(changes: list[tuple[int, Any]], clocks_agree: bool) -> None:
    result = json.loads(json.dumps(RESULT))
    for place, value in changes:
        leaves = list(places(result))
        table, key = leaves[place % len(leaves)]
        table[key] = value
    check(lambda text: observe_irtt(text, clocks_agree=clocks_agree), json.dumps(result))


@settings(max_examples=200)
@given(st.text(max_size=60) | st.recursive(VALUES, st.lists, max_leaves=4).map(json.dumps))
def test_any_text_is_a_measurement_or_refused(text: str) -> None:
    check(observe_ping, text)
    check(observe_irtt, text)


@pytest.mark.parametrize("cut", range(0, 400, 7))
def test_a_measurement_that_was_cut_off_is_read_or_refused(cut: int) -> None:
    check(observe_ping, samples.iputils([20.0, 21.0, 22.0], np.array([False, True, False]), stamped=True)[:cut])
    check(observe_irtt, json.dumps(RESULT)[:cut])


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("64 bytes from a: icmp_seq=1 ttl=57 time=1 ms (DUP!)", "is not a ping log"),
        (
            "64 bytes from a: icmp_seq=1 ttl=57 time=1 ms\n9000000000 packets transmitted, 1 received",
            "covers 9,000,000,000",
        ),
        (f"64 bytes from a: icmp_seq={'9' * 5000} ttl=57 time=1 ms", "is not a ping log"),
    ],
)
def test_a_ping_log_of_more_than_any_ping_sends_is_refused(line: str, says: str) -> None:
    with pytest.raises(WirelabError, match=says):
        observe_ping(line)


@pytest.mark.parametrize("key", ["rtt", "send", "receive"])
def test_a_delay_of_more_than_64_bits_is_refused(key: str) -> None:
    result = json.loads(json.dumps(RESULT))
    result["round_trips"][0]["delay"][key] = 2**63
    with pytest.raises(WirelabError, match=f"is not an irtt result: round_trips.0.delay.{key}: "):
        observe_irtt(json.dumps(result))


def check(observe: Callable[[str], Observations], text: str) -> None:
    try:
        assert profile_text(fit_profile(observe(text), Source("any", "0" * 64)))
    except WirelabError as error:
        assert error.exit_code == 2
        assert error.what


def places(value: Any) -> list[tuple[Any, Any]]:
    keys = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in keys for place in ((value, key), *places(inner))]
