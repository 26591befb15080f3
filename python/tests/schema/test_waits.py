"""Which protocols' subscribers can wait how."""

import pytest

from wirelab.schema import Fixed, PubSub, registered
from wirelab.schema.describe import NeededSetting, WaitDescription
from wirelab.schema.waits import lacks_setting, lacks_wait
from wirelab.schema.workload import CheckIn, Connected, Poll, Wait

CHECK_IN, POLL = CheckIn(every_ns=2, stay_ns=1), Poll(every_ns=2)
KEPT = (
    NeededSetting(setting="clean-start", values=(False,), what="a session that is kept"),
    NeededSetting(setting="qos", values=(1, 2), what="messages that are kept"),
)
WAITS = {
    "mqtt": (WaitDescription(by="check-in", needs=KEPT),),
    "coap": (WaitDescription(by="poll"),),
    "http1": (WaitDescription(by="check-in"), WaitDescription(by="poll")),
    "amqp": (),
}


def workload(wait: Wait) -> PubSub:
    return PubSub(message_bytes=30, messages=1, timeout_ns=1, arrival=Fixed(rate_hz=1), wait=wait)


@pytest.mark.parametrize(
    ("name", "wait", "refusal"),
    [
        ("mqtt", POLL, ("mqtt fetches nothing by request", 'wait = { check-in = "10 min" }')),
        ("coap", CHECK_IN, ("coap keeps nothing for a subscriber that is away", 'wait = { poll = "10 min" }')),
        ("amqp", CHECK_IN, ("amqp keeps nothing for a subscriber that is away", 'wait = "connected"')),
        ("amqp", Connected(), None),
        ("http1", CHECK_IN, None),
        ("http1", POLL, None),
    ],
)
def test_a_protocol_has_only_some_ways(name: str, wait: Wait, refusal: object) -> None:
    known = registered().protocol(name)
    assert known is not None
    protocol = known.model_copy(update={"waits": WAITS[name]})
    assert lacks_wait(protocol, workload(wait)) == refusal
    assert lacks_wait(protocol.model_copy(update={"libraries": ()}), workload(wait)) is None


def test_a_check_in_needs_a_session_that_is_kept() -> None:
    known = registered().protocol("mqtt")
    assert known is not None
    mqtt = known.model_copy(update={"waits": WAITS["mqtt"]})
    refusal = ("a check-in needs a session that is kept (clean-start = true)", "[protocols.mqtt] clean-start = false")
    assert lacks_setting(mqtt, workload(CHECK_IN), {"clean-start": True}) == refusal
    assert lacks_setting(mqtt, workload(CHECK_IN), {"clean-start": False}) is None
    refusal = ("a check-in needs messages that are kept (qos = 0)", "[protocols.mqtt] qos = 1")
    assert lacks_setting(mqtt, workload(CHECK_IN), {"clean-start": False, "qos": 0}) == refusal
    assert lacks_setting(mqtt, workload(CHECK_IN), {"clean-start": False, "qos": 2}) is None
    assert lacks_setting(mqtt, workload(Connected()), {"clean-start": True}) is None


def test_the_registered_protocols_say_so() -> None:
    for name, waits in WAITS.items():
        protocol = registered().protocol(name)
        assert protocol is not None
        assert protocol.waits == waits
