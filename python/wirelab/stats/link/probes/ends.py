"""Probes as the two ends saw them, in the shape of a packet log: for a link that keeps none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.schema import AddressFamily

if TYPE_CHECKING:
    import polars as pl

    from wirelab.metrics.probes import Probes

UDP_BYTES = 8
IP_BYTES = {AddressFamily.IPV4: 20, AddressFamily.IPV6: 40}


def seen_by_ends(probes: Probes) -> pl.DataFrame:
    """A row for each probe in the order of sending, and one for each copy that arrived. It arrives at the link when its
    sender sends it and departs when its receiver has it; who never came counts as lost, at the planned instant.
    """
    import polars as pl

    came: dict[tuple[bool, int, int], list[tuple[int, int]]] = {}
    for uplink, port, number, sent, received in probes.received.sort("received_ns").iter_rows():
        came.setdefault((uplink, port, number), []).append((sent, received))
    rows: list[dict[str, int | bool | str]] = []
    header_bytes = IP_BYTES[probes.link.family or AddressFamily.IPV4] + UDP_BYTES
    sequence = 0
    for flow in sorted(probes.plan.flows, key=lambda flow: flow.begin_ns):
        key = (flow.uplink, flow.client_port)
        for number in range(min(probes.sent[key], flow.bursts * flow.packets)):
            planned = probes.plan.start_ns + flow.begin_ns + number // flow.packets * flow.every_ns
            seen = came.get((*key, number), [])
            for copy, (sent, received) in enumerate(seen or [(planned, planned)]):
                rows.append({
                    "sequence": sequence, "uplink": flow.uplink, "size_bytes": flow.payload_bytes + header_bytes,
                    "arrival_ns": sent, "departure_ns": received, "lateness_ns": 0,
                    "fate": "delivered" if seen else "loss", "copy": copy > 0, "corrupted": False,
                    "client_port": flow.client_port,
                })  # fmt: skip
            sequence += 1
    return pl.DataFrame(rows, schema=probes.packets.schema)
