"""Which links can be enumerated, and what their loss weighs."""

from __future__ import annotations

import pytest

from tests.asked import ask, single_link
from wirelab.enumeration.link import NotEnumerableError, check, loss_of, patterned, with_lost
from wirelab.schema import LinkSpec


def _link(text: str) -> LinkSpec:
    return single_link(f"{{ {text} }}")


def _kinds(link: LinkSpec) -> list[str]:
    return [stage.kind for stage in link.uplink]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ('rtt = "20 ms"', ["loss-pattern", "delay"]),
        ('rtt = "20 ms", rate = "1 Mbit/s"', ["rate", "loss-pattern", "delay"]),
        ('rtt = "20 ms", loss = "2 %"', ["loss-pattern", "delay"]),
    ],
)
def test_a_pattern_stands_where_losses_are(text: str, kinds: list[str]) -> None:
    link = patterned(_link(text))
    assert _kinds(link) == kinds
    ask(link)


def test_packets_are_lost_by_their_number_in_each_direction() -> None:
    link = with_lost(patterned(_link('rtt = "20 ms"')), {"uplink": [False, True], "downlink": []})
    patterns = [
        stage.to_json() for way in (link.uplink, link.downlink) for stage in way if stage.kind == "loss-pattern"
    ]
    assert [each["pattern"] for each in patterns] == ["01", "0"]
    assert not any(each["repeat"] for each in patterns)


def test_independent_loss_weighs_by_direction() -> None:
    loss = loss_of(ask(_link('rtt = "20 ms", uplink = { loss = "2 %" }')))
    assert loss is not None
    assert loss.uplink.weight([True, False]) == pytest.approx(0.02 * 0.98)
    assert loss.downlink.weight([False, False]) == 1


@pytest.mark.parametrize(
    ("state", "first"), [("good", 0.01), ("bad", 0.8), ("stationary", (0.3 * 0.01 + 0.1 * 0.8) / 0.4)]
)
def test_gilbert_elliott_begins_in_the_state_that_is_stated(state: str, first: float) -> None:
    link = _link('gilbert-elliott = { p = "10 %", r = "30 %", 1-h = "80 %", 1-k = "1 %" }')
    loss = loss_of(ask(link), state)  # type: ignore[arg-type]
    assert loss is not None
    assert loss.uplink.weight([True]) == pytest.approx(first, rel=1e-9)


def test_a_link_without_loss_has_none() -> None:
    assert loss_of(ask(_link('rtt = "20 ms"'))) is None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('rtt = "20 ms", jitter = "normal 2 ms"', "uplink is random"),
        ('rtt = "20 ms", duplicate = "1 %"', "uplink is random"),
        ('rtt = "20 ms", corrupt = "1 %"', "uplink is random"),
        ('rtt = "20 ms", backend = "netem"', "netem runs the link"),
    ],
)
def test_what_is_random_besides_loss_is_refused(text: str, what: str) -> None:
    link = _link(text)
    with pytest.raises(NotEnumerableError) as refused:
        check(link, ask(link))
    assert what in refused.value.what
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('loss = "1 %", loss-correlation = "50 %"', "correlated"),
        ("loss-pattern = { every = 10 }", "a pattern already"),
    ],
)
def test_loss_that_is_no_weight_of_packets_is_refused(text: str, what: str) -> None:
    with pytest.raises(NotEnumerableError) as refused:
        loss_of(ask(_link(text)))
    assert what in refused.value.what


def test_a_shared_medium_is_refused() -> None:
    link = single_link("wifi-poor")
    with pytest.raises(NotEnumerableError):
        check(link, ask(link))
