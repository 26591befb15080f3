"""Hosts, links and background traffic of a scenario, as the plan has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from wirelab.schema.base import Border, Unsigned
from wirelab.schema.endpoint import SettingValue
from wirelab.schema.host import LaneLink
from wirelab.schema.link_spec import LinkSpec


class TopologyLink(LaneLink):
    """A link between hosts of the scenario."""

    link: LinkSpec | None = None
    """What the link is like. Absent from the first one, which is the scenario's own."""


class Origin(Border):
    """The server behind a proxy, which speaks a protocol of its own."""

    protocol: str
    """Protocol between the proxy and the server."""
    settings: dict[str, SettingValue]
    """All settings of that protocol."""


class BulkTraffic(Border):
    """Bulk transfers over TCP between two hosts, so many in parallel."""

    kind: Literal["bulk"] = "bulk"
    name: str
    """Name of the traffic."""
    source: str
    """Host that begins it."""
    to: str
    """Host at the other end."""
    flows: Unsigned
    """Transfers at the same time."""
    direction: Literal["upload", "download"]
    """Which way the data goes, seen from `source`."""
    stagger_ns: Unsigned
    """Each transfer begins at a random instant within this time."""


class PingTraffic(Border):
    """Floods of echo requests from one host to another, so many in parallel."""

    kind: Literal["ping"] = "ping"
    name: str
    """Name of the traffic."""
    source: str
    """Host that begins it."""
    to: str
    """Host at the other end."""
    flows: Unsigned
    """Floods at the same time."""
    payload_bytes: Unsigned
    """Payload of an echo request."""
    interval_ns: Unsigned
    """Time between the requests of one flood."""


Traffic = Annotated[BulkTraffic | PingTraffic, Field(discriminator="kind")]


def stagger_ns(traffic: Iterable[Traffic]) -> int:
    """How long it takes at least until all of it is there: one begins after the other."""
    return sum(each.stagger_ns for each in traffic if isinstance(each, BulkTraffic))
