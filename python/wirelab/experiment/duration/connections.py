"""Connections of a scenario before a run: how many, their congestion control, and whether random loss limits them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.experiment.duration.exchange import connections_to_server, control, exchange_parts
from wirelab.experiment.duration.formula import Limit
from wirelab.experiment.library import BUILTIN
from wirelab.schema.connections import Connections, LossLimit

if TYPE_CHECKING:
    from wirelab.experiment.grid.scenario import Scenario
    from wirelab.schema import ProtocolDescription

MAX_SHARE = 0.9
"""Connections that together reach less than this share of the link's rate are limited by loss."""


def connections(scenario: Scenario, protocol: ProtocolDescription) -> Connections | None:
    """What is known of a scenario's connections; none of a protocol without congestion control."""
    congestion = protocol.timing.congestion
    if congestion is None:
        return None
    at_once, used = connections_to_server(scenario, protocol.timing), control(scenario, protocol.timing)
    kernels = congestion.setting is None
    # A third-party program with a transport of its own has constants of its own.
    known = kernels or set(scenario.implementation.values()) <= {BUILTIN}
    return Connections(
        at_once=at_once,
        congestion_control=used.algorithm,
        constants=congestion.constants.get(used.algorithm) if known else None,
        packet_bytes=used.packet_bytes,
        loss_limit=_loss_limit(scenario, protocol, at_once),
    )


def _loss_limit(scenario: Scenario, protocol: ProtocolDescription, at_once: int) -> LossLimit | None:
    parts = exchange_parts(scenario, protocol)
    if parts.reached is not Limit.LOSS or parts.flow_bps is None or parts.way is None:
        return None
    link_bps = parts.way.rate_bps
    if link_bps is not None and parts.flow_bps * at_once >= MAX_SHARE * link_bps:
        return None
    return LossLimit(
        flow_bps=round(parts.flow_bps),
        link_bps=None if link_bps is None else round(link_bps),
        loss=parts.way.loss,
        rtt_ns=parts.rtt_ns,
    )
