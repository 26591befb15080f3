"""A link without some of what it does."""

from __future__ import annotations

from tests.asked import single_link
from wirelab.experiment.link.without import without_schedule, without_slots
from wirelab.schema import LinkSpec


def _kinds(link: LinkSpec) -> list[str]:
    return [stage.kind for stage in link.uplink]


def test_stages_of_the_slots_are_gone_in_both_directions() -> None:
    link = single_link('{ rtt = "20 ms", loss = "2 %", corrupt = "1 %", rate = "1 Mbit/s" }')
    assert _kinds(link) == ["rate", "loss", "corrupt", "delay"]
    without = without_slots(link, "loss", "corrupt")
    assert _kinds(without) == ["rate", "delay"]
    assert [stage.kind for stage in without.downlink] == ["rate", "delay"]
    assert without_slots(link) == link


def test_a_schedule_is_no_rate_and_goes_by_itself() -> None:
    link = single_link('{ rtt = "20 ms", schedule = { points = [{ at = "0 s", delay = "5 ms" }], repeat = "1 s" } }')
    assert "schedule" in _kinds(without_slots(link, "rate"))
    assert "schedule" not in _kinds(without_schedule(link))
    assert "delay" in _kinds(without_schedule(link))
