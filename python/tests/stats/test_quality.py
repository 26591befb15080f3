"""The quality of one scenario."""

from __future__ import annotations

from typing import Any

from wirelab.stats.quality import of_scenario


def quality(
    link: str, waits: str | None = None, offered: dict[str, Any] | None = None, shared: str | None = None
) -> Any:
    scenario: Any = {"endpoints": None if waits is None else {"flag": waits, "why": "CPU"}}
    if offered is not None:
        scenario["offered"] = {"flag": "unusable", "why": "overload", **offered}
    links: Any = [
        {"link_name": "a", "flag": link, "why": "late"},
        {"link_name": "b", "flag": "unusable", "why": "other"},
    ]
    certificates: Any = [
        {"topology_links": ["core"], "link_names": [], "flag": shared or "good", "why": "core"},
        {"topology_links": [], "link_names": ["b"], "flag": "unusable", "why": "other"},
    ]
    return of_scenario(scenario, "a", links, certificates)


def test_the_worst_counts_and_another_link_does_not() -> None:
    assert quality("good")[0] == "good"
    assert quality("limited", waits="good") == ("limited", "late")
    assert quality("limited", waits="unusable") == ("unusable", "CPU")
    assert quality("good", shared="limited") == ("limited", "core")


def test_an_overload_counts_only_if_more_is_offered_than_served() -> None:
    assert quality("good", offered={"keeps_up": True})[0] == "good"
    assert quality("good", offered={"keeps_up": False}) == ("unusable", "overload")


def test_without_anything_to_grade_there_is_none() -> None:
    scenario: Any = {"endpoints": None}
    links: Any = [{"link_name": "a", "flag": "not measured", "why": "nothing passed"}]
    assert of_scenario(scenario, "a", links, []) is None
