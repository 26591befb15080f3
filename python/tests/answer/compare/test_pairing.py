"""Which scenarios are compared, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import whole_plan, whole_scenario
from wirelab.answer.compare.pairing import between, described, differing, within
from wirelab.errors import WirelabError
from wirelab.schema.plan import Plan, Scenario

CLEAN: dict[str, Any] = {"uplink": [], "downlink": []}
LOSSY = {**CLEAN, "uplink": [{"kind": "loss", "probability": 0.1}]}
NGINX = {"client": "builtin", "server": "nginx"}


def scenario(key: str, **more: Any) -> dict[str, Any]:
    return {"key": key, "name": key, "workload": {"kind": "request-response"}, **more}


def plan(*scenarios: dict[str, Any]) -> Plan:
    whole = {
        "schema_version": 1, "identity_version": 1, "experiment": {}, "seed": 7, "scenarios": list(scenarios),
        "blocks": [],
    }  # fmt: skip
    return Plan.model_validate(whole_plan(whole))


def names(pairs: tuple[tuple[Scenario, Scenario], ...]) -> list[tuple[str, str]]:
    return [(old.name, new.name) for old, new in pairs]


def test_scenarios_that_are_alike_are_compared_whatever_their_names() -> None:
    found = between(
        plan(scenario("a"), scenario("b", protocol="h2"), scenario("c", protocol="h3")),
        plan(scenario("x", protocol="h2"), scenario("y"), scenario("z", link=LOSSY)),
    )
    assert names(found.pairs) == [("b", "x"), ("a", "y")]
    assert [each.name for each in found.only_old] == ["c"]
    assert [each.name for each in found.only_new] == ["z"]
    assert found.by is None
    assert found.differs == ({}, {})


def test_one_program_on_each_side_is_what_is_compared() -> None:
    found = between(plan(scenario("a")), plan(scenario("b", implementation=NGINX)))
    assert names(found.pairs) == [("a", "b")]
    assert found.by == "implementation"
    assert found.differs == ({"server.implementation": "builtin"}, {"server.implementation": "nginx"})


def test_each_of_several_programs_is_compared_with_itself() -> None:
    both = scenario("a"), scenario("b", implementation=NGINX)
    found = between(plan(*both), plan(*both))
    assert names(found.pairs) == [("a", "a"), ("b", "b")]


def test_what_is_named_may_differ() -> None:
    old, new = plan(scenario("a")), plan(scenario("b", congestion_control="bbr"))
    assert names(between(old, new, "congestion-control").pairs) == [("a", "b")]
    with pytest.raises(WirelabError) as raised:
        between(old, new)
    assert "'a' and 'b' differ in congestion-control (cubic, then bbr)" in str(raised.value)
    assert "--by congestion-control" in str(raised.value)


def test_more_than_one_difference_is_refused_with_both() -> None:
    old, new = plan(scenario("a")), plan(scenario("b", congestion_control="bbr", cpu={"client": 0.5}))
    with pytest.raises(WirelabError, match=r"differ in client\.cpu \(none, then 0\.5\) besides congestion-control"):
        between(old, new, "congestion-control")


def test_two_that_are_alike_on_one_side_are_no_pair() -> None:
    old, new = plan(scenario("a")), plan(scenario("b", link=LOSSY), scenario("c", link={**LOSSY, "downlink": []}))
    with pytest.raises(WirelabError, match="several scenarios are alike without link"):
        between(old, new, "link")


def test_a_path_that_no_scenario_has_is_an_error_with_the_nearest() -> None:
    with pytest.raises(WirelabError, match=r"no scenario has this path \(conection-control\)") as raised:
        between(plan(scenario("a")), plan(scenario("b")), "conection-control")
    assert "did you mean 'congestion-control'?" in str(raised.value)


def test_sides_of_one_campaign_differ_in_one_key_alone() -> None:
    one = plan(
        scenario("a"), scenario("b", congestion_control="bbr"), scenario("c", protocol="h2"),
        scenario("d", protocol="h2", congestion_control="bbr"), scenario("e", protocol="h3"),
    )  # fmt: skip
    found = within(one, "congestion-control")
    assert names(found.pairs) == [("a", "b"), ("c", "d")]
    assert [each.name for each in found.alone] == ["e"]
    assert found.only_old == ()
    assert found.differs == ({"congestion-control": "cubic"}, {"congestion-control": "bbr"})


def test_three_values_in_one_campaign_are_refused_and_so_is_one() -> None:
    three = plan(*(scenario(each, congestion_control=each) for each in ("cubic", "bbr", "reno")))
    with pytest.raises(WirelabError, match="3 scenarios differ in congestion-control alone, and two are compared"):
        within(three, "congestion-control")
    with pytest.raises(WirelabError, match="differ in link alone") as raised:
        within(plan(scenario("a"), scenario("b", protocol="h2")), "link")
    assert "what differs: protocol.name" in str(raised.value)


def test_paths_are_those_of_experiments() -> None:
    whole = {"settings": {"tls": "1.3"}, "cpu": {"client": 0.25}, "program_settings": {"server": {"workers": 2}}}
    found = described(Scenario.model_validate(whole_scenario(scenario("a", link=LOSSY, **whole))))
    assert found["protocol.tls"] == "1.3"
    assert found["client.cpu"] == "0.25"
    assert found["server.workers"] == "2"
    assert found["server.implementation"] == "builtin"
    assert found["link.uplink.0.probability"] == "0.1"
    assert found["link.name"] == "clean"
    assert differing(found, {**found, "client.cpu": "1.0"}) == ["client.cpu"]
