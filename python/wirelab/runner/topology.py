"""Hosts and links of a campaign's lanes: the requests to the host, and the addresses of all hosts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wirelab.plan import stable_hash
from wirelab.schema import AddressFamily
from wirelab.schema.campaign import packet_log
from wirelab.schema.host import HostAddress, LaneLink, LinkAddresses, LinkTrial
from wirelab.schema.plan import Plan, Scenario, Trial


@dataclass(frozen=True)
class LaneAddresses:
    """The hosts of each link with their addresses; the client's link is the first."""

    links: tuple[LinkAddresses, ...]

    def has(self, family: AddressFamily) -> bool:
        """Whether the lanes have addresses of this family."""
        return all(_address(host, family) is not None for link in self.links for host in (*link.near, *link.far))

    def peer(self, scenario: Scenario) -> str:
        """The address of the client's peer: the server, or a proxy."""
        if not scenario.topology:
            return _found(_address(self.links[0].far[0], _family(scenario, self.links[0].name)))
        return self.between(scenario, "client", "server" if scenario.origin is None else "proxy")

    def server(self, scenario: Scenario) -> str:
        """The server's address: on the client's link, or on the one from the proxy."""
        return self.peer(scenario) if scenario.origin is None else self.between(scenario, "proxy", "server")

    def between(self, scenario: Scenario, one: str, other: str) -> str:
        """The address of the other host on the first link that has the two on its sides."""
        for link in self.links:
            for here, there in ((link.near, link.far), (link.far, link.near)):
                if any(host.host == one for host in here):
                    found = next((host for host in there if host.host == other), None)
                    if found is not None:
                        return _found(_address(found, _family(scenario, link.name)))
        raise AssertionError(f"no link between {one} and {other}")


def lane_links(plan: Plan) -> tuple[LaneLink, ...]:
    """The links of every lane; empty for a plain client and server."""
    topology = next((scenario.topology for scenario in plan.scenarios if scenario.topology), ())
    return tuple(LaneLink(name=link.name, near=link.near, far=link.far) for link in topology)


def other_links(scenario: Scenario, trial: Trial, folder: Path) -> dict[str, LinkTrial]:
    """A trial's requests for the links other than the client's."""
    return {
        link.name: LinkTrial(
            link=link.link, seed=stable_hash(trial.link_seed, link.name), packet_log=folder / packet_log(link.name)
        )
        for link in scenario.topology
        if link.link is not None
    }


def in_url(address: str) -> str:
    """An address as a URL has it."""
    return f"[{address}]" if ":" in address else address


def _family(scenario: Scenario, link: str) -> AddressFamily:
    other = (each.link for each in scenario.topology if each.name == link and each.link is not None)
    return next(iter(other), scenario.link).family or AddressFamily.IPV4


def _address(host: HostAddress, family: AddressFamily) -> str | None:
    return host.ipv6 if family is AddressFamily.IPV6 else host.ipv4


def _found(address: str | None) -> str:
    assert address is not None, "the barrier lets no family through that the hosts do not have"
    return address


def families(scenario: Scenario) -> Iterable[AddressFamily]:
    """Families of addresses that the scenario's links ask for."""
    return [link.family or AddressFamily.IPV4 for link in scenario.links]
