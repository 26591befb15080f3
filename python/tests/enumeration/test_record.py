"""The record of an enumeration."""

from __future__ import annotations

from tests.asked import ask, load_experiment
from tests.enumeration.toy import grown, in_a_row
from wirelab.enumeration import answer
from wirelab.enumeration.answer import Grown, both
from wirelab.enumeration.record import About, record
from wirelab.enumeration.search import Asked
from wirelab.enumeration.single import singles
from wirelab.plan import make_plan

ABOUT = About(["each way 10 ms"] * 2, ["30 B"] * 2, "7.2 (virtual clock)", ["a radio"] * 2, 3.0)


def _grown(name: str, seed: int, packets: int) -> Grown:
    tree = grown(in_a_row(packets, 0.26), 3, 0.3)
    return Grown(
        name=name, protocol=name, client="builtin", server="builtin", seed=seed, trial="t",
        asked={"1 %": Asked(both(0.01), 0.001)}, beyond_s=(0.1, 0.25), tree=tree, rests={}, whole=dict(tree.runs),
    )  # fmt: skip


def test_a_record_has_every_scenario_with_each_of_its_seeds() -> None:
    plan = make_plan(singles(load_experiment("message", ["protocol=coap"]), ask, 2).experiment)
    made = [_grown("coap", 1, 2), _grown("coap", 2, 2), _grown("h2", 1, 4)]
    scenarios = [answer.scenario(each, [f"data {at}" for at in range(9)]) for each in made]
    found = record(plan, made, scenarios, (0.1, 0.25), ABOUT)
    assert (found["experiment"], found["kernel"], found["seconds"]) == ("message", "7.2 (virtual clock)", 3.0)
    assert (found["links"], found["workloads"], found["radios"]) == (["each way 10 ms"], ["30 B"], ["a radio"])
    assert [(each["name"], each["seed"]) for each in found["scenarios"]] == [("coap", 1), ("coap", 2), ("h2", 1)]
    assert found["runs"] == sum(len(each.tree.runs) for each in made)
    assert found["bounded"]
    assert found["horizon_s"] == found["delays_s"][-1] == 0.25
    assert {each["name"]: each["within"] for each in found["losses"]}["1 %"] == 0.001
    assert {each["name"]: each["within"] for each in found["losses"]}["2 %"] is None
    assert {each["name"] for each in found["over_seeds"]} == {"coap"}
