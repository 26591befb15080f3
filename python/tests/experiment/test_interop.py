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


def test_who_speaks_a_protocol_in_both_roles_meets_itself_and_everybody_else() -> None:
    found = pairs(protocols=["h2"], clients=["builtin", "curl"], servers=["builtin", "nginx"])
    assert found == {("h2", client, server) for client in ("builtin", "curl") for server in ("builtin", "nginx")}


def test_who_does_not_speak_a_protocol_is_left_out_of_it() -> None:
    assert pairs(protocols=["h3"], clients=["builtin", "curl"], servers=["builtin"]) == {("h3", "builtin", "builtin")}
    assert ("raw-udp", "builtin", "builtin") in pairs()


def test_who_does_nothing_that_is_tried_is_left_out() -> None:
    everybody = {name for _, *names in pairs(protocols=["h2"]) for name in names}
    assert "nginx" in everybody
    assert not {"chromium", "node"} & everybody


def test_each_pair_is_tried_over_fresh_and_over_kept_connections() -> None:
    experiment = interop_experiment(Path("/nowhere"), Only(["http1"], ["builtin"], ["nginx"]))
    assert {each.workload.connection.policy for each in experiment.scenarios} == {"new", "persistent"}
    assert len({each.name for each in experiment.scenarios}) == 2


def test_only_protocols_that_notify_are_tried_with_it() -> None:
    experiment = interop_experiment(Path("/nowhere"), Only(clients=["builtin"]), workload="pubsub")
    protocols = {each.protocol for each in experiment.scenarios}
    assert {"mqtt", "coap", "http1"} <= protocols
    assert "raw-tcp" not in protocols
    assert {each.workload.kind for each in experiment.scenarios} == {"pubsub"}


def test_a_name_that_is_none_is_refused_with_the_nearest() -> None:
    with pytest.raises(WirelabError, match="unknown server 'ngnix'") as caught:
        pairs(servers=["ngnix"])
    assert "nginx" in str(caught.value.hint)


def test_clients_and_servers_that_never_meet_are_refused() -> None:
    with pytest.raises(WirelabError, match="no client and server of these speak the same protocol"):
        pairs(protocols=["h3"], clients=["curl"])
