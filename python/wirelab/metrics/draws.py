"""What a trial's link decided about packets, one after another, and when its one exchange ended."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path

from wirelab.errors import RunError
from wirelab.metrics.exchange_rows import exchanges_of
from wirelab.metrics.packets import Packet, dissected, label, records_of
from wirelab.schema.campaign import PACKET_LOG, TRIALS
from wirelab.schema.exact import WAYS, Draw

HEAD_DIGITS = 8
_RECORD = struct.Struct("<QHBBIQQQ")
"""Sequence, port, outcome and flags, number of packet bytes, IP bytes, arrival, departure, lateness."""
_OUTCOME, _ORIGINATED, _COPY = 0x0F, 0x10, 0x80
_LOST = 1
_DECIDED = {0, _LOST, 3}
"""Outcomes of packets that got to the loss stage: delivered, lost, held (`docs/reference/files.md`)."""
_BEFORE = {2, 4, 5}
"""Of packets that a queue or an outage dropped before it: they had no draw."""
_NOT_REACHED = {"queue-full", "aqm", "outage"}


def draws_of(campaign: Path, trial: str) -> tuple[tuple[Draw, ...], float | None]:
    """What the loss stage decided, and after how many seconds the exchange was completed; None if it was not. Instants
    count from its start.

    Raises `RunError` for a trial of no exchange or of several, and for packets that were dropped where it is not known
    whether the loss stage had decided about them.
    """
    exchanges = exchanges_of(campaign, trial)
    if len(exchanges) != 1:
        raise RunError(f"{trial} has {len(exchanges)} exchanges instead of one")
    [exchange] = exchanges
    start_ns, completed = exchange["start_ns"], exchange["outcome"] == "completed"
    draws = tuple(_draws(campaign / TRIALS / trial / PACKET_LOG, start_ns))
    return draws, (exchange["end_ns"] - start_ns) / 1e9 if completed else None


def _draws(log: Path, start_ns: int) -> Iterator[Draw]:
    """In the order in which packets arrived at the link."""
    _, records = records_of(log)
    for record in records:
        _, port, outcome, _, size, arrival_ns, _, _ = _RECORD.unpack_from(record)
        if outcome & (_ORIGINATED | _COPY):
            continue
        decided = outcome & _OUTCOME
        if decided in _BEFORE:
            continue
        if decided not in _DECIDED:
            raise RunError("the link dropped a packet for another reason than loss: its draws cannot be counted")
        head = hashlib.sha256(record[_RECORD.size :]).hexdigest()[:HEAD_DIGITS]
        yield Draw(WAYS[port % 2], decided == _LOST, (arrival_ns - start_ns) / 1e9, size, head)


def packets_drawn(campaign: Path, trial: str) -> list[Packet]:
    """The packets that draws were made for, dissected, in their order."""
    packets = sorted(dissected(campaign / TRIALS / trial / PACKET_LOG), key=lambda each: each["sequence"])
    return [
        each for each in packets if not (each["copy"] or each["originated"] or each["fate"] in _NOT_REACHED)
    ]  # fmt: skip


def words_of(campaign: Path, trial: str) -> list[str]:
    """What each packet is that a draw was made for, in their order."""
    return [*map(label, packets_drawn(campaign, trial))]
