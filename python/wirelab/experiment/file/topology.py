"""Who is on which link, and what else goes over it: `[topology]` and `[traffic]` of an experiment file.

Without them a client and a server are on one link. A link of the topology is what its `link` says, or the entry of
`[links]` with its name, or else what the factor `link` chooses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.experiment.file.positions import Path
from wirelab.experiment.file.quantities import Duration, Size, Table
from wirelab.experiment.file.source import Source
from wirelab.experiment.library import profiles
from wirelab.schema import Description, Role
from wirelab.schema.topology import BulkTraffic, PingTraffic, Traffic
from wirelab.units import UnitError

CLIENT, SERVER, PROXY = "client", "server", "proxy"
MAIN = "main"
MOST_FLOWS = 1000
MOST_HOSTS = 127
"""On one side of a link."""
SECOND, MS, US = 10**9, 10**6, 10**3
ORIGIN = "http1"
"""What a proxy speaks to the server."""
_NAME = r"^[a-z][a-z0-9-]{0,39}$"
_OF_KIND = {"bulk": ("direction", "stagger"), "ping": ("payload", "interval")}


def named(value: str) -> str:
    """Refuse what cannot be in the name of a file."""
    if not re.match(_NAME, value):
        raise UnitError(
            "is not a valid name", hint="a lower-case letter, then such letters, digits and hyphens; 40 in all"
        )
    return value


def within(least: int, most: int, words: str) -> AfterValidator:
    """Refuse what is outside of it; `words` say what is inside."""

    def check(value: int) -> int:
        if not least <= value <= most:
            raise UnitError("is too little" if value < least else "is too much", hint=words)
        return value

    return AfterValidator(check)


Name = Annotated[str, AfterValidator(named), Field(json_schema_extra={"pattern": _NAME})]
Hosts = Annotated[list[Name], Field(min_length=1, max_length=MOST_HOSTS)]


class TopologyTable(Table):
    """Who is on a link: packets go between its two sides."""

    near: Hosts = Field(
        description="Hosts where the uplink begins: stations that share the link's air.",
        examples=[["client", "camera"]],
    )
    far: Hosts = Field(description="Hosts where the uplink ends, behind one access point.", examples=[["server"]])
    link: str | None = Field(
        default=None,
        description="An entry of `[links]` or a profile. By default the entry of `[links]` with this link's name, else "
        "what the factor `link` chooses.",
    )


class TrafficTable(Table):
    """Background traffic between two hosts: it begins before the client and ends with the trial."""

    kind: Literal["bulk", "ping"] = Field(
        description="`bulk` is transfers over TCP; `ping` is floods of ICMP echo requests."
    )
    source: str | None = Field(
        default=None, alias="from", description="The host that begins it. By default the host with the table's name."
    )
    to: str = Field(default=SERVER, description="The host at the other end.")
    flows: int = Field(
        default=1, ge=0, le=MOST_FLOWS, description="How many transfers or floods run at the same time; 0 is none."
    )
    direction: Literal["upload", "download"] = Field(default="upload", description="Which way the data of `bulk` goes.")
    stagger: Annotated[Duration, within(0, 60 * SECOND, "at most 60 s")] = Field(
        default=SECOND,
        description="Of `bulk`: each transfer begins at a random instant within this time. At most 60 s.",
    )
    payload: Annotated[Size, within(0, 65_000, "at most 65000 B")] = Field(
        default=56, description="Of `ping`: payload of an echo request, as with ping's option -s. At most 65000 B."
    )
    interval: Annotated[Duration, within(10 * US, 3600 * SECOND, "from 10 us to 1 h")] = Field(
        default=10 * MS, description="Of `ping`: time between the requests of one flood, from 10 us to 1 h."
    )

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

    protocols: Annotated[list[str], Field(min_length=1)] = Field(
        description="Protocols whose clients send their requests to the proxy.", examples=[["coap"]]
    )
    origin: str = Field(default=ORIGIN, description="The protocol between the proxy and the server.")


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
    wrong = [*_check_names(source, ("topology", topology), ("traffic", traffic))]
    wrong += [*_check_links(source, topology, links)] if topology else []
    if not wrong:
        wrong += check_traffic(topology, traffic, source.where)
    return wrong


def _check_names(source: Source, *tables: tuple[str, Mapping[str, Any]]) -> Iterator[WirelabError]:
    for table, entries in tables:
        for name in entries:
            try:
                named(name)
            except UnitError as error:
                yield WirelabError(str(error), source.where((table, name)), error.hint)


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
    names = [protocol.name for protocol in known.protocols]
    wrong = [
        WirelabError(f'unknown protocol ("{name}")', source.where((*path, key)), did_you_mean(name, names))
        for key, found in (("protocols", table.protocols), ("origin", [table.origin]))
        for name in found
        if name not in names
    ]
    for protocol in known.protocols:
        if protocol.name in table.protocols and Role.PROXY not in protocol.roles:
            able = ", ".join(each.name for each in known.protocols if Role.PROXY in each.roles)
            what = f"{protocol.name} has no role proxy"
            wrong.append(
                WirelabError(what, source.where((*path, "protocols")), f"protocols that have it: {able or 'none'}")
            )
        if protocol.name == table.origin != ORIGIN:
            what = f"a proxy does not speak {protocol.name} to its server"
            wrong.append(WirelabError(what, source.where((*path, "origin")), f'origin = "{ORIGIN}"'))
    if between(topology, CLIENT, PROXY) is None or between(topology, PROXY, SERVER) is None:
        what = "no links lead from the client to the proxy and from there to the server"
        hint = 'two links in [topology]: near = ["client"], far = ["proxy"], and near = ["proxy"], far = ["server"]'
        wrong.append(WirelabError(what, source.where(path), hint))
    return wrong


def check_traffic(
    topology: Topology, traffic: Mapping[str, TrafficTable], where: Callable[[Path], Where]
) -> Iterator[WirelabError]:
    """What is wrong with the traffic between these hosts; `where` places a key of it."""
    topology = topology or ALONE
    hosts = list(dict.fromkeys(host for table in topology.values() for host in (*table.near, *table.far)))
    for name, table in traffic.items():
        path: Path = ("traffic", name)
        for kind, keys in _OF_KIND.items():
            for key in keys:
                if kind != table.kind and key in table.model_fields_set:
                    yield WirelabError(f"is of {kind}, not of {table.kind}", where((*path, key)))
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
                yield WirelabError(f'unknown host ("{host}")', where((*path, key)), hint)
        if not unknown and between(topology, begins, table.to) is None:
            what = f"no link has {begins} on one side and {table.to} on the other"
            yield WirelabError(what, where((*path, "to")), "hosts of one side do not hear one another")


def between(topology: Topology, one: str, other: str) -> str | None:
    """The first link with these hosts on its two sides."""
    for name, table in topology.items():
        if (one in table.near and other in table.far) or (other in table.near and one in table.far):
            return name
    return None
