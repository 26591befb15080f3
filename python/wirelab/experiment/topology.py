"""Who is on which link, and what else goes over it: `[topology]` and `[traffic]` of an experiment file.

Without them a client and a server are on one link. A link of the topology is what its `link` says, or the entry of
`[links]` with its name, or else what the factor `link` chooses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from wirelab.errors import WirelabError, did_you_mean
from wirelab.experiment.library import profiles
from wirelab.experiment.positions import Path
from wirelab.experiment.quantities import Duration, PositiveDuration, Size, Table
from wirelab.experiment.source import Source
from wirelab.schema import Description, Role
from wirelab.schema.topology import BulkTraffic, PingTraffic, Traffic

CLIENT, SERVER, PROXY = "client", "server", "proxy"
MAIN = "main"
MOST_FLOWS = 1000
MOST_HOSTS = 127
"""On one side of a link."""
SECOND, MS = 10**9, 10**6
_OF_KIND = {"bulk": ("direction", "stagger"), "ping": ("payload", "interval")}

HostName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=40)]
Hosts = Annotated[list[HostName], Field(min_length=1, max_length=MOST_HOSTS)]


class TopologyTable(Table):
    """Who is on a link: packets go between its two sides."""

    near: Hosts = Field(description="Hosts where the uplink begins: stations that share the link's air.")
    far: Hosts = Field(description="Hosts where it ends, behind one access point.")
    link: str | None = Field(
        default=None, description="What it is like: an entry of [links] or a profile. Otherwise what `link` chooses."
    )


class TrafficTable(Table):
    """Background traffic between two hosts: it begins before the client and ends with the trial."""

    kind: Literal["bulk", "ping"] = Field(description="Transfers over TCP, or floods of ICMP echo requests.")
    source: str | None = Field(default=None, alias="from", description="The host that begins it; the table's name.")
    to: str = Field(default=SERVER, description="The host at the other end.")
    flows: int = Field(default=1, ge=0, le=MOST_FLOWS, description="How many side by side; 0 is none.")
    direction: Literal["upload", "download"] = Field(default="upload", description="Which way bulk goes.")
    stagger: Duration = Field(default=SECOND, description="Each transfer begins at an instant drawn from this.")
    payload: Size = Field(default=56, description="Payload of an echo request, as ping's -s has it.")
    interval: PositiveDuration = Field(default=10 * MS, description="Time between the requests of one flood.")

    def traffic(self, name: str) -> Traffic:
        """As the plan has it."""
        source = self.source or name
        if self.kind == "bulk":
            return BulkTraffic(
                name=name, source=source, to=self.to, flows=self.flows, direction=self.direction,
                stagger_ns=self.stagger,
            )  # fmt: skip
        return PingTraffic(
            name=name, source=source, to=self.to, flows=self.flows, payload_bytes=self.payload,
            interval_ns=self.interval,
        )  # fmt: skip


class ProxyTable(Table):
    """A proxy between the client and the server."""

    stacks: Annotated[list[str], Field(min_length=1)] = Field(description="Stacks whose clients ask it.")
    origin: str = Field(default="http1", description="The stack that it speaks to the server.")


Topology = Mapping[str, TopologyTable]

ALONE: Topology = {MAIN: TopologyTable(near=[CLIENT], far=[SERVER])}


def link_of(name: str, table: TopologyTable, links: Mapping[str, Any]) -> str | None:
    """Whose description a link of the topology has; none where the factor `link` chooses."""
    return table.link or (name if name in links else None)


def taken_links(topology: Topology, links: Mapping[str, Any]) -> set[str]:
    """Entries of `[links]` that the topology has its own use for, so that they are none to choose among."""
    return {found for name, table in topology.items() if (found := link_of(name, table, links)) is not None}


def chooses(topology: Topology, links: Mapping[str, Any]) -> bool:
    """Whether there is a link for the factor `link` to choose."""
    return any(link_of(name, table, links) is None for name, table in topology.items())


def clients_link(topology: Topology) -> str:
    """The link that the client is on."""
    return next(name for name, table in topology.items() if CLIENT in table.near)


def ordered(topology: Topology) -> list[tuple[str, list[str], list[str]]]:
    """The links, the client's first, and there the client and who answers it first on their sides."""
    first = clients_link(topology)
    peer = SERVER if SERVER in topology[first].far else PROXY
    names = [first, *(name for name in topology if name != first)]

    def front(hosts: list[str], host: str) -> list[str]:
        return sorted(hosts, key=lambda each: each != host)

    return [(name, front(topology[name].near, CLIENT), front(topology[name].far, peer)) for name in names]


def check_topology(
    source: Source, topology: Topology, traffic: Mapping[str, TrafficTable], links: Mapping[str, Any]
) -> list[WirelabError]:
    """What is wrong with the hosts, the links between them and the traffic over these."""
    wrong = [*_check_links(source, topology, links)] if topology else []
    if not wrong:
        wrong += _check_traffic(source, topology or ALONE, traffic)
    return wrong


def _check_links(source: Source, topology: Topology, links: Mapping[str, Any]) -> Iterator[WirelabError]:
    for name, table in topology.items():
        path: Path = ("topology", name)
        here = [*table.near, *table.far]
        if twice := next((host for host in here if here.count(host) > 1), None):
            yield WirelabError(f"{twice} is there twice", source.where(path), "a host has one place on a link")
        if table.link is not None and table.link not in links and table.link not in profiles():
            near = did_you_mean(table.link, [*links, *profiles()])
            yield WirelabError(f'unknown link ("{table.link}")', source.where((*path, "link")), near)
    of_client = [name for name, table in topology.items() if CLIENT in (*table.near, *table.far)]
    if len(of_client) != 1 or CLIENT not in topology[of_client[0]].near:
        found = "no link" if not of_client else ", ".join(of_client)
        hint = 'such as main = { near = ["client"], far = ["server"] }'
        what = f"the client is on the near side of one link ({found})"
        yield WirelabError(what, source.where(("topology",)), hint)
        return
    if not {SERVER, PROXY} & set(topology[of_client[0]].far):
        what = "no way leads from the client to the server"
        hint = f"put the server, or a proxy, on the far side of {of_client[0]}"
        yield WirelabError(what, source.where(("topology", of_client[0], "far")), hint)


def check_proxy(source: Source, table: ProxyTable | None, topology: Topology, known: Description) -> list[WirelabError]:
    """What is wrong with the proxy and its place."""
    if table is None:
        return []
    path: Path = ("endpoints", PROXY)
    names = [stack.name for stack in known.stacks]
    wrong = [
        WirelabError(f'unknown stack ("{name}")', source.where((*path, key)), did_you_mean(name, names))
        for key, found in (("stacks", table.stacks), ("origin", [table.origin]))
        for name in found
        if name not in names
    ]
    for stack in known.stacks:
        if stack.name in table.stacks and Role.PROXY not in stack.roles:
            wrong.append(WirelabError(f"{stack.name} has no role proxy", source.where((*path, "stacks"))))
        if stack.name == table.origin and stack.secure:
            hint = 'such as origin = "http1"'
            wrong.append(WirelabError(f"a proxy speaks no {stack.name}", source.where((*path, "origin")), hint))
    if between(topology, CLIENT, PROXY) is None or between(topology, PROXY, SERVER) is None:
        what = "no links lead from the client to the proxy and from there to the server"
        hint = 'two links in [topology]: near = ["client"], far = ["proxy"], and near = ["proxy"], far = ["server"]'
        wrong.append(WirelabError(what, source.where(path), hint))
    return wrong


def _check_traffic(source: Source, topology: Topology, traffic: Mapping[str, TrafficTable]) -> Iterator[WirelabError]:
    hosts = list(dict.fromkeys(host for table in topology.values() for host in (*table.near, *table.far)))
    for name, table in traffic.items():
        path: Path = ("traffic", name)
        for kind, keys in _OF_KIND.items():
            for key in keys:
                if kind != table.kind and key in table.model_fields_set:
                    yield WirelabError(f"is of {kind}, not of {table.kind}", source.where((*path, key)))
        begins = table.source or name
        unknown = False
        for key, host in (("from", begins), ("to", table.to)):
            if host not in hosts:
                unknown = True
                hint = did_you_mean(host, hosts)
                if key == "from" and table.source is None:
                    hint = (
                        f'put it on a link in [topology], such as near = ["client", "{host}"], or say from = "client"'
                    )
                yield WirelabError(f'unknown host ("{host}")', source.where((*path, key)), hint)
        if not unknown and between(topology, begins, table.to) is None:
            what = f"no link has {begins} on one side and {table.to} on the other"
            yield WirelabError(what, source.where(path), "hosts of one side do not hear one another")


def between(topology: Topology, one: str, other: str) -> str | None:
    """The first link with these hosts on its two sides."""
    for name, table in topology.items():
        if (one in table.near and other in table.far) or (other in table.near and one in table.far):
            return name
    return None
