import json
from pathlib import Path
from typing import Any

import pytest

from tests.asked import ask, single_link
from wirelab.errors import WirelabError
from wirelab.schema import Delay, LinkBackend, LinkSpec, Loss, Rate
from wirelab.schema.link_answer import LinkRefusedError

CASES = json.loads((Path(__file__).parents[4] / "tests" / "golden" / "netem.json").read_text(encoding="utf-8"))
"""Links, each with what the agent says of it."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_effects_that_netem_lacks_are_refused_with_the_hosts_message(case: dict[str, Any]) -> None:
    link = LinkSpec.model_validate({**case["link"], "backend": "netem"})
    said = None if case["refused"] is None else case["refused"].split(": ", 1)[1]
    try:
        ask(link)
    except LinkRefusedError as error:
        assert error.why.what == said
    else:
        assert said is None


def netem(*sets: str) -> LinkSpec:
    return single_link("clean", [*sets, "backend=netem"])


def refused(*sets: str) -> str:
    with pytest.raises(WirelabError) as raised:
        netem(*sets)
    return str(raised.value)


def test_a_netem_link_differs_only_in_its_backend() -> None:
    link = netem("rtt=20ms", "loss=1%")
    assert link == LinkSpec(
        uplink=(Loss(probability=0.01), Delay(delay_ns=10_000_000)),
        downlink=(Loss(probability=0.01), Delay(delay_ns=10_000_000)),
        backend=LinkBackend.NETEM,
    )
    assert single_link("clean", ["backend=wirelab"]) == single_link("clean")


def test_an_order_that_netem_lacks_is_refused_with_one_that_it_has() -> None:
    lossy = ("rtt=20ms", "loss=1%", "rate=1Mbit/s", "queue=100 packets")
    message = refused(*lossy)
    assert message.startswith("clean: order: netem drops before it serialises\nhint: order = [")
    order = message.split("hint: order = ")[1]
    assert isinstance(netem(*lossy, f"order={order}").uplink[-1], Rate)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (("rate=1Mbit/s", "queue=64kB"), "--set: queue: netem's queue is drop-tail, counted in packets alone"),
        (("outage={ start = '1 s', duration = '1 s' }",), "--set: outage: netem has no outage"),
        (("nat={}",), "--set: nat: netem has no nat"),
        (("uplink.loss-pattern={ pattern = '01' }",), "--set: uplink.loss-pattern: netem has no loss-pattern"),
        (("jitter=normal 1 ms", "jitter-correlation=50%"), "--set: jitter-correlation: netem takes the remainder"),
        (("duplicate=1%", "loss=1%", 'order=["duplicate", "loss"]'), "--set: duplicate: netem takes the copy"),
    ],
)
def test_a_refused_key_is_named_at_its_place(sets: tuple[str, ...], message: str) -> None:
    assert refused(*sets).startswith(message)
