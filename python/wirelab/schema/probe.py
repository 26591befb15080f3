"""The probes that the ends of a lane send to measure its link (`crates/wirelab-schema/src/probe.rs`)."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated

from pydantic import Field

from wirelab.schema.base import Border, Unsigned, Unsigned32
from wirelab.schema.link_spec import AddressFamily

Port = Annotated[int, Field(ge=0, lt=2**16)]


class ProbeFlow(Border):
    """Probes of one direction and one port, in bursts."""

    uplink: bool
    client_port: Port
    begin_ns: Unsigned
    bursts: Unsigned32
    every_ns: Unsigned
    spread_ns: Unsigned
    packets: Unsigned32
    payload_bytes: Port


class ProbePlan(Border):
    """Every flow of both ends."""

    start_ns: Unsigned
    duration_ns: Unsigned
    family: AddressFamily = AddressFamily.IPV4
    server_port: Port
    flows: tuple[ProbeFlow, ...]


class ProbeKind(IntEnum):
    """What probes are for; the port of the client's side tells it, with the direction."""

    OPEN = 0
    DELAY = 1
    LOSS = 2
    RATE = 3

    def port(self, *, uplink: bool) -> int:
        """Port of the client's side."""
        return 41_000 + 10 * self.value + (0 if uplink else 1)
