"""Which protocols can give what is asked, and how each can use connections."""

from __future__ import annotations

import pytest

from wirelab.answer.choose.candidates import LEAST_MESSAGES, MESSAGES, Candidate, Forgets, candidates
from wirelab.answer.choose.question import Asked
from wirelab.cli.choose.work import others
from wirelab.errors import WirelabError
from wirelab.experiment.programs.own_protocols import own_protocols
from wirelab.schema import registered

S = 10**9
OTHERS = own_protocols(others())
TYPICAL = Forgets(udp=(120 * S, 30 * S), tcp=(1200 * S, 150 * S))


def found(asked: Asked, forgets: Forgets = TYPICAL) -> tuple[dict[str, Candidate], dict[str, str]]:
    these, apart = candidates(asked, registered().protocols, forgets, "--protocols")
    return {each.name: each for each in these}, {each["protocol"]: each["why"] for each in apart}


def asked(every_s: float = 600, **more: object) -> Asked:
    return Asked(send_bytes=64, every_ns=round(every_s * S), link="nb-iot-psm", **more)  # type: ignore[arg-type]


def test_only_protocols_of_the_same_security_are_compared() -> None:
    keys, apart = found(asked(auth="psk"))
    assert {each.protocol for each in keys.values()} == {"coaps"}
    assert apart["https1"] == "It has certificates here: compare it with --auth server-certificate."
    assert apart["coap"] == "It has no security here: compare it with --auth none."
    mutual, _ = found(asked(auth="mutual"))
    assert all(each.settings["client-certificate"] == "true" for each in mutual.values())
    assert "coaps, new" not in mutual
    plain, _ = found(asked(auth="none"))
    assert "coap, new" in plain
    assert "coaps, new" not in plain


def test_without_a_wish_every_secure_protocol_is_compared() -> None:
    some, apart = found(asked())
    assert {"coaps, new", "https1, new", "mqtts, new"} <= some.keys()
    assert apart["mqtt"] == "It has no security; --auth none compares those without."


def test_an_echo_is_no_protocol_to_choose() -> None:
    some, apart = found(asked(auth="none"))
    assert not any("raw-" in name for name in (*some, *apart))


def test_a_keep_alive_is_tried_where_a_nat_forgets_within_the_interval() -> None:
    some, _ = found(asked(600, protocols=("coaps", "https1")))
    kept = {each.keep_alive_ns for each in some.values() if each.protocol == "coaps"}
    assert kept == {None, 96 * S, 24 * S}
    assert some["coaps, persistent, a ping each 24 s"].settings["ping-interval"] == "24000 ms"
    assert {each.keep_alive_ns for each in some.values() if each.protocol == "https1"} == {None, 120 * S}
    often, _ = found(asked(20, protocols=("coaps", "https1")))
    assert all(each.keep_alive_ns is None for each in often.values())


def test_quic_needs_no_keep_alive_and_keeps_its_connection_for_longer_than_the_interval() -> None:
    some, _ = found(asked(3600, protocols=("h3",)))
    assert {each.keep_alive_ns for each in some.values()} == {None}
    assert some["h3, persistent"].settings["quic-idle-timeout"] == "7200000 ms"


def test_mqtts_own_keep_alive_is_taken_rather_than_that_of_tcp() -> None:
    some, _ = found(asked(3600, protocols=("mqtts",)))
    assert some["mqtts, persistent"].settings["keep-alive"] == "0 s"
    assert some["mqtts, persistent, a ping each 16 min"].settings["keep-alive"] == "960000 ms"


def test_what_has_no_session_is_not_resumed() -> None:
    some, _ = found(asked(auth="psk"))
    assert "coaps, resumed" not in some
    assert "coaps, new" in some


def test_a_trial_with_many_keep_alives_has_fewer_messages() -> None:
    some, _ = found(asked(86_400, protocols=("coaps",)))
    assert some["coaps, new"].messages == MESSAGES
    assert LEAST_MESSAGES <= some["coaps, persistent, a ping each 24 s"].messages < MESSAGES


def test_the_delivery_is_the_same_for_all() -> None:
    once, _ = found(asked(delivery="at-most-once", auth="none"))
    assert once["mqtt, new"].settings["qos"] == 0
    assert once["coap, new"].settings["confirmable"] == "false"
    assert once["amqp, new"].settings["delivery"] == "at-most-once"


def test_a_reply_leaves_out_what_cannot_carry_one() -> None:
    some, apart = found(asked(reply_bytes=20))
    assert apart["mqtts"] == "Its acknowledgement carries no reply."
    assert "coaps, new" in some


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"protocols": ("coap", "mqtt"), "auth": "psk"}, "none of these has --auth psk: coap, mqtt"),
        ({"protocols": ("coapz",)}, "unknown protocol 'coapz'"),
        ({"protocols": ("mqtts",), "reply_bytes": 5}, "no protocol can give what is asked: mqtts"),
    ],
)
def test_what_no_protocol_gives_is_refused(more: dict[str, object], words: str) -> None:
    with pytest.raises(WirelabError, match=words) as caught:
        found(asked(**more))
    assert caught.value.where == "--protocols"
    assert caught.value.hint is not None


def test_without_a_nat_no_keep_alive_is_needed() -> None:
    some, _ = found(asked(), Forgets(None, None))
    assert all(each.keep_alive_ns is None for each in some.values())


def test_what_other_programs_speak_opens_a_connection_for_each_message() -> None:
    these, apart = candidates(asked(auth="psk"), [*registered().protocols, *OTHERS], TYPICAL, "--protocols")
    [theirs] = [each for each in these if not each.builtin]
    assert (theirs.name, theirs.auth, theirs.settings) == ("mqtts-psk, new", "psk", {"qos": 1})
    assert {each.protocol for each in these if each.builtin} == {"coaps"}
    assert "mqtts" in {each["protocol"] for each in apart}
