"""What is taken away from a link, and what programs could do otherwise."""

from __future__ import annotations

import pytest

from tests.asked import ask
from wirelab.answer.interventions import CAUSES, CHANGES, LARGE_WINDOW, causes_of
from wirelab.experiment.experiment import load_experiment
from wirelab.experiment.grid.scenario import Scenario
from wirelab.schema.workload import Persistent, RequestWorkload, Resumed


def scenario(*sets: str) -> Scenario:
    return load_experiment("message", ["protocol=h2", *sets], ask).scenarios[0]


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        (["rtt=20 ms"], ["propagation"]),
        (["rtt=20 ms", "loss=1 %", "rate=1 Mbit/s"], ["propagation", "serialisation and queueing", "lost packets"]),
        (["rtt=20 ms", "corrupt=1 %", "duplicate=1 %"],
         ["propagation", "lost packets", "duplicates and reordering"]),
        (["rtt=0 ms"], []),
    ],
)  # fmt: skip
def test_the_causes_of_a_link_are_what_it_does(keys: list[str], names: list[str]) -> None:
    of = scenario(*(f"link.{key}" for key in keys))
    assert [cause.name for cause in causes_of([of])] == names


def test_a_sleeping_radio_is_a_cause() -> None:
    assert "the radio's sleep" in [cause.name for cause in causes_of([scenario("link=nb-iot-psm")])]


def test_a_link_without_all_of_its_causes_does_nothing() -> None:
    link = scenario("link=nb-iot-psm").link
    for cause in CAUSES:
        link = cause.without(link)
    assert (link.uplink, link.downlink, link.medium, link.radio, link.nat) == ((), (), None, None, None)


def changed(of: Scenario) -> dict[str, Scenario]:
    return {change.name: made for change in CHANGES if (made := change.made(of)) is not None}


def test_only_what_is_otherwise_is_changed() -> None:
    found = changed(scenario("protocols.h2.tls=1.2", "protocols.h2.nagle=true"))
    assert [*found] == [
        "with TLS 1.3 instead of 1.2", "without Nagle's algorithm", "with resumed sessions",
        "with a persistent connection",
    ]  # fmt: skip
    assert found["with TLS 1.3 instead of 1.2"].settings["tls"] == "1.3"
    assert found["without Nagle's algorithm"].settings["nagle"] is False
    for name, policy in (("with resumed sessions", Resumed()), ("with a persistent connection", Persistent)):
        workload = found[name].workload
        assert isinstance(workload, RequestWorkload)
        assert workload.connection == policy or isinstance(workload.connection, Persistent)
    assert [*changed(scenario())] == ["with resumed sessions", "with a persistent connection"]
    assert [*changed(scenario("protocol=coap"))] == ["with a persistent connection"]
    assert [*changed(scenario("workload.connection=persistent"))] == []


def test_a_policy_is_not_changed_where_it_makes_no_difference() -> None:
    assert [*changed(scenario("protocols.h2.resumption=true"))] == ["with a persistent connection"]
    assert [*changed(scenario("workload.exchanges=1"))] == []
    busy = changed(scenario("workload.concurrency=4"))["with a persistent connection"].workload
    assert isinstance(busy, RequestWorkload)
    assert busy.connection == Persistent(connections=4)


def test_a_schedule_is_a_cause_by_itself() -> None:
    of = scenario(
        "link.schedule={ points = [{ at = '0 s', rate = '1 Mbit/s', delay = '100 ms' }] }", "link.queue=64 kB"
    )
    assert "the schedule" in [cause.name for cause in causes_of([of])]
    assert "serialisation and queueing" not in [cause.name for cause in causes_of([of])]


def test_windows_are_widened_where_something_is_large_enough_to_fill_them() -> None:
    large = changed(scenario("workload.message=1 MB"))["with flow-control windows of 16 MiB"]
    assert large.settings["initial-window-size"] == large.settings["connection-window"] == LARGE_WINDOW
    assert "stream-window" not in large.settings
