"""What a user asks of `choose`."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from wirelab.answer.choose.question import Asked, question, require_possible
from wirelab.errors import Where, WirelabError

ASKED = {"send": "64B", "every": "10min", "link": "nb-iot-psm"}


def at(key: str) -> str:
    return f"--{key}"


def asked(**more: str | Sequence[str]) -> Asked:
    return question({**ASKED, **{key.replace("_", "-"): value for key, value in more.items()}}, at)


def test_texts_become_base_units() -> None:
    found = asked(
        battery="2400mAh 3.6V", base_current="20uA", life="5 years", price="0.50EUR/MB", deadline="10s", reply="20B"
    )
    assert (found.send_bytes, found.every_ns, found.reply_bytes) == (64, 600 * 10**9, 20)
    assert (found.battery, found.base_current_a, found.life_years) == ((2400.0, 3.6), pytest.approx(20e-6), 5.0)
    assert (found.deadline_ns, found.delivery, found.auth, found.batch) == (10 * 10**9, "at-least-once", None, (6,))


def test_a_command_that_must_arrive_earlier_makes_contacts_more_frequent() -> None:
    assert asked(command_within="1h").contact_ns == 600 * 10**9
    assert asked(command_within="1min").contact_ns == 60 * 10**9


def test_lists_are_texts_or_lists() -> None:
    assert asked(protocols="coap, http1,coap").protocols == ("coap", "http1")
    assert asked(batch=["1", "6", "24"]).batch == (6, 24)
    assert asked(flip="interval,nat").flips == ("interval", "nat")


@pytest.mark.parametrize(
    ("more", "key", "words"),
    [
        ({"battery": "2400mAh"}, "battery", "has no voltage"),
        ({"battery": "much"}, "battery", "is not a battery"),
        ({"battery": "0mAh 3V"}, "battery", "is an empty battery"),
        ({"life": "5 years"}, "life", "needs a battery"),
        ({"base_current": "20uA"}, "base-current", "needs a battery"),
        ({"battery": "2400mAh 3.6V", "life": "long"}, "life", "is not a life"),
        ({"price": "0.50/MB"}, "price", "has no currency"),
        ({"price": "1EUR/MB", "tariff": "x.toml"}, "price", "exclude each other"),
        ({"send": "64"}, "send", "has no unit"),
        ({"every": "0s"}, "every", "must be more than 0"),
        ({"auth": "password"}, "auth", "unknown auth 'password'"),
        ({"delivery": "exactly-once"}, "delivery", "unknown delivery"),
        ({"batch": "1,many"}, "batch", "is not a number of readings"),
        ({"flip": "colour"}, "flip", "unknown number"),
        ({"flip": "interval,size,nat"}, "flip", "at most two axes"),
    ],
)
def test_what_is_wrong_is_named_with_its_option_and_a_hint(more: dict[str, str], key: str, words: str) -> None:
    with pytest.raises(WirelabError, match=words) as caught:
        asked(**more)
    assert caught.value.where == f"--{key}"
    assert caught.value.hint is not None


def test_what_is_missing_is_said_as_an_option_or_as_a_line_of_the_file() -> None:
    with pytest.raises(WirelabError) as caught:
        question({"send": "64B", "every": "10min"}, at)
    assert caught.value.hint == "such as --link nb-iot-psm"
    with pytest.raises(WirelabError) as caught:
        question({"send": "64B", "link": "nb-iot"}, lambda key: Where("mine.toml", key=key))
    assert str(caught.value) == (
        'mine.toml: every: what to wait for between messages is not given\nhint: such as every = "10min"'
    )


def test_a_deadline_below_the_links_round_trip_is_refused() -> None:
    with pytest.raises(WirelabError, match="100 ms is less than the link's round trip of 200 ms") as caught:
        require_possible(asked(deadline="100ms"), 200 * 10**6, None, None)
    assert caught.value.where == "--deadline"
    require_possible(asked(deadline="200ms"), 200 * 10**6, None, None)


def test_an_interval_shorter_than_receiving_takes_is_refused() -> None:
    with pytest.raises(WirelabError, match="receiving 128 B takes 512 ms at 2 kbit/s, longer than") as caught:
        require_possible(asked(every="500ms", reply="128B"), 0, 1e6, 2000.0)
    assert (caught.value.where, caught.value.hint) == ("--every", "more than 512 ms, or a smaller --reply")
    require_possible(asked(every="513ms", reply="128B"), 0, 1e6, 2000.0)


def test_an_interval_shorter_than_sending_takes_is_refused() -> None:
    with pytest.raises(WirelabError, match="sending 64 B takes 512 ms at 1 kbit/s, longer than") as caught:
        require_possible(asked(every="500ms"), 0, 1000.0, None)
    assert caught.value.where == "--every"
    require_possible(asked(every="513ms"), 0, 1000.0, None)
