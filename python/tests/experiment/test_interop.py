"""Every pair of a client and a server that speak the same protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asked import interop_experiment
from wirelab.errors import WirelabError
from wirelab.experiment.interop import Only


def pairs(**chosen: list[str]) -> set[tuple[str, str, str]]:
    experiment = interop_experiment(Path("/nowhere"), Only(**chosen))
    return {
        (each.protocol, each.implementation["client"], each.implementation["server"]) for each in experiment.scenarios
    }


def test_a_program_with_both_roles_is_paired_with_itself_and_all_others() -> None:
    found = pairs(protocols=["h2"], clients=["builtin", "curl"], servers=["builtin", "nginx"])
    assert found == {("h2", client, server) for client in ("builtin", "curl") for server in ("builtin", "nginx")}


def test_a_program_is_not_paired_for_protocols_that_it_does_not_speak() -> None:
    assert pairs(protocols=["h3"], clients=["builtin", "curl"], servers=["builtin"]) == {("h3", "builtin", "builtin")}
    assert ("raw-udp", "builtin", "builtin") in pairs()


def test_a_program_without_a_tested_workload_is_left_out() -> None:
    everybody = {name for _, *names in pairs(protocols=["h2"]) for name in names}
    assert "nginx" in everybody
    assert not {"chromium", "node"} & everybody


def test_each_pair_is_tried_over_new_and_persistent_connections() -> None:
    experiment = interop_experiment(Path("/nowhere"), Only(["http1"], ["builtin"], ["nginx"]))
    assert {each.workload.connection.policy for each in experiment.scenarios} == {"new", "persistent"}
    assert len({each.name for each in experiment.scenarios}) == 2


def test_only_protocols_with_pubsub_are_tried_with_it() -> None:
    experiment = interop_experiment(Path("/nowhere"), Only(clients=["builtin"]), workload="pubsub")
    protocols = {each.protocol for each in experiment.scenarios}
    assert {"mqtt", "coap", "http1"} <= protocols
    assert "raw-tcp" not in protocols
    assert {each.workload.kind for each in experiment.scenarios} == {"pubsub"}


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(WirelabError, match="unknown server 'ngnix'") as caught:
        pairs(servers=["ngnix"])
    assert "nginx" in str(caught.value.hint)


def test_clients_and_servers_that_never_meet_are_refused() -> None:
    with pytest.raises(WirelabError, match="no client and server of these speak the same protocol"):
        pairs(protocols=["h3"], clients=["curl"])
