"""The first packet in which the packet logs of two trials differ. Trials with the same random numbers and programs have
the same packets under the virtual clock, so that a difference has a cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

from wirelab.metrics.packets import Packet, dissected, heads_of, label
from wirelab.schema.campaign import PACKET_LOG, TRIALS
from wirelab.schema.changes import FirstDifference, PacketsChange
from wirelab.schema.plan import Plan

PHASES = {
    "name_lookup_ns": "name lookup",
    "tcp_connect_ns": "connection set-up",
    "handshake_ns": "TLS or QUIC handshake",
    "request_start_ns": "before the request",
    "first_response_byte_ns": "request",
    "end_ns": "answer",
}
"""Instants of an exchange, in their order, with the phase that each ends."""
LOSSES = ("delivered", "held")


@dataclass(frozen=True)
class Pair:
    """Two trials with the same random numbers."""

    replicate: int
    old: Path
    new: Path


def trial_pairs(sides: tuple[tuple[Path, Plan, str], tuple[Path, Plan, str]]) -> list[Pair]:
    """Trials of one scenario that have the same seeds and packet logs on both sides, each a campaign, plan and key."""
    olds, news = ({trial.replicate: trial for trial in _trials(plan, key)} for _, plan, key in sides)
    found = []
    for replicate, old in olds.items():
        new = news.get(replicate)
        if new is None or (old.link_seed, old.endpoint_seed) != (new.link_seed, new.endpoint_seed):
            continue
        pair = Pair(replicate, *(side[0] / TRIALS / trial.trial for side, trial in zip(sides, (old, new), strict=True)))
        if (pair.old / PACKET_LOG).is_file() and (pair.new / PACKET_LOG).is_file():
            found.append(pair)
    return found


def _trials(plan: Plan, key: str) -> Iterable[Any]:
    return (trial for block in plan.blocks for trial in block.trials if trial.scenario == key)


def compared(pairs: Sequence[Pair], exchanges: Mapping[str, Sequence[Mapping[str, Any]]]) -> PacketsChange | None:
    """All pairs together; `exchanges` are those of each trial's folder, by its name. None without any pair."""
    if not pairs:
        return None
    first: FirstDifference | None = None
    differing, packets, sizes, flights = 0, [0, 0], [0, 0], [0, 0]
    for pair in pairs:
        files = pair.old / PACKET_LOG, pair.new / PACKET_LOG
        if files[0].read_bytes() == files[1].read_bytes():
            continue
        logs = [dissected(file) for file in files]
        found = first_difference((logs[0], heads_of(files[0])), (logs[1], heads_of(files[1])))
        if found is None:
            continue
        differing += 1
        for side, log in enumerate(logs):
            packets[side] += len(log)
            sizes[side] += sum(packet["size_bytes"] for packet in log)
            flights[side] += flights_of(log)
        if first is None:
            first = _stated(found, pair, logs, exchanges)
    return PacketsChange(
        trials=len(pairs), differing=differing, first=first, packets=packets, size_bytes=sizes, flights=flights
    )


Log = tuple[Sequence[Packet], Sequence[bytes]]
"""Packets, and the first bytes of each."""


def first_difference(old: Log, new: Log) -> int | None:
    """The index of the first packet that is another one, has other bytes, another fate, or another time."""
    starts = [log[0]["arrival_ns"] if log else 0 for log, _ in (old, new)]
    for index, (one, other) in enumerate(zip_longest(zip(*old, strict=True), zip(*new, strict=True))):
        if one is None or other is None or one[1] != other[1]:
            return index
        if _seen(one[0], starts[0]) != _seen(other[0], starts[1]):
            return index
    return None


def flights_of(log: Sequence[Packet]) -> int:
    """How often the direction changes, plus one, over packets with payload that were delivered."""
    ways: list[bool] = [packet["uplink"] for packet in log if packet["payload_bytes"] and packet["fate"] in LOSSES]
    return sum(one != other for one, other in pairwise(ways)) + bool(ways)


def _seen(packet: Packet, start_ns: int) -> tuple[object, ...]:
    at = packet["arrival_ns"] - start_ns, packet["departure_ns"] - start_ns
    return (*at, packet["uplink"], packet["size_bytes"], packet["fate"], packet["transport"], label(packet))


def _stated(
    index: int, pair: Pair, logs: Sequence[Sequence[Packet]], exchanges: Mapping[str, Sequence[Mapping[str, Any]]]
) -> FirstDifference:
    old, new = (log[index] if index < len(log) else None for log in logs)
    packet, log, folder = (new, logs[1], pair.new) if old is None else (old, logs[0], pair.old)
    assert packet is not None, "one of them has it"
    texts = [
        None if each is None else words(each, side[0]["arrival_ns"])
        for each, side in zip((old, new), logs, strict=True)
    ]
    if texts[0] is not None and texts[0] == texts[1]:
        texts[1] = f"{texts[1]}, with other bytes"
    return {
        "replicate": pair.replicate,
        "trials": [pair.old.name, pair.new.name],
        "packet": index + 1,
        "at_s": (packet["arrival_ns"] - log[0]["arrival_ns"]) / 1e9,
        "old": texts[0],
        "new": texts[1],
        "more_bytes": None if old is None or new is None else new["size_bytes"] - old["size_bytes"],
        "phase": phase_of(packet["arrival_ns"], exchanges.get(folder.name, ())),
    }


def words(packet: Packet, start_ns: int) -> str:
    """`client to server, data 1+517 (569 B), at 40.1 ms`."""
    way = "client to server" if packet["uplink"] else "server to client"
    fate = "" if packet["fate"] in LOSSES else f", {packet['fate']}"
    at_ms = (packet["arrival_ns"] - start_ns) / 1e6
    return f"{way}, {label(packet)} ({packet['size_bytes']:,} B), at {at_ms:,.3f} ms{fate}"


def phase_of(at_ns: int, exchanges: Sequence[Mapping[str, Any]]) -> str | None:
    """The phase of the exchange that is under way; None between exchanges, and where instants are missing."""
    for each in exchanges:
        if each["start_ns"] <= at_ns <= (each.get("end_ns") or 0):
            return next(
                (phase for name, phase in PHASES.items() if (end := each.get(name)) is not None and at_ns <= end), None
            )
    return None
