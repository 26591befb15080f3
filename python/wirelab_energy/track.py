"""A radio's states one after another, as packets make them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from wirelab_energy.machine.base import Machine, Phase, Step, Values
from wirelab_energy.packet import Packet

NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Span:
    """A time in one state."""

    state: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Track:
    """States without gaps from the first instant on. `quiet_ns` is when the last packet was over, `settled_ns` when the
    last timer behind it was; `late_ns` is what the last packet waited for those before it."""

    spans: tuple[Span, ...]
    quiet_ns: int
    settled_ns: int
    late_ns: int


def follow(machine: Machine, values: Values, packets: Sequence[Packet], start_ns: int, end_ns: int) -> Track:
    """The states from `start_ns` to `end_ns`, or to the end of the last packet's tail if that is later. The radio is at
    rest before the first packet; packets that would overlap follow one another."""
    follower = _Follower(machine, values, start_ns)
    for packet in packets:
        follower.meet(packet)
    follower.settle(end_ns)
    return Track(tuple(follower.spans), follower.quiet_ns, follower.settled_ns, follower.late_ns)


class _Follower:
    def __init__(self, machine: Machine, values: Values, start_ns: int) -> None:
        self.machine = machine
        self.values = values
        self.now_ns = self.quiet_ns = self.settled_ns = start_ns
        self.spans: list[Span] = []
        self.transfers: dict[tuple[bool, int], Sequence[Step]] = {}
        self.last_up: bool | None = None
        self.late_ns = 0

    def meet(self, packet: Packet) -> None:
        transfer = self._transfer(packet)
        # A packet for the client has been received by its time; one of the client's is handed over at its time.
        begin_ns = packet.time_ns if packet.up else packet.time_ns - _ns(transfer)
        gap_s = max(0, begin_ns - self.quiet_ns) / NS
        # A month has many packets, so the phases up to this one are asked for once.
        passed, phases = [], self._phases(gap_s)
        for phase in phases:
            passed.append(phase)
            if gap_s < phase.until_s:
                break
        wake = self.machine.wake(self.values, passed[-1].state, packet)
        if not packet.up:
            begin_ns -= _ns(wake)
        self.late_ns = 0 if self.last_up is None else max(0, self.now_ns - begin_ns)
        self._rest_until(begin_ns, chain(passed, phases))
        for step in (*wake, *transfer):
            self._until(step.state, self.now_ns + round(step.seconds * NS))
        self.quiet_ns, self.last_up = self.now_ns, packet.up

    def _transfer(self, packet: Packet) -> Sequence[Step]:
        alike = (packet.up, packet.size)
        if alike not in self.transfers:
            self.transfers[alike] = self.machine.transfer(self.values, packet)
        return self.transfers[alike]

    def settle(self, end_ns: int) -> None:
        self.settled_ns = self.quiet_ns
        for phase in self._phases(math.inf):
            if phase.rests:
                break
            self.settled_ns = self.quiet_ns + round(phase.until_s * NS)
        self._rest_until(max(end_ns, self.settled_ns), self._phases(math.inf))

    def _phases(self, gap_s: float) -> Iterator[Phase]:
        if self.last_up is not None:
            return self.machine.rest(self.values, up=self.last_up, gap_s=gap_s)
        at_rest = next(phase for phase in self.machine.rest(self.values, up=True, gap_s=math.inf) if phase.rests)
        return iter((Phase(at_rest.state, math.inf, rests=True),))

    def _rest_until(self, end_ns: int, phases: Iterable[Phase]) -> None:
        for phase in phases:
            if self.now_ns >= end_ns:
                return
            over_ns = end_ns if math.isinf(phase.until_s) else self.quiet_ns + round(phase.until_s * NS)
            self._until(phase.state, min(end_ns, over_ns))

    def _until(self, state: str, end_ns: int) -> None:
        if end_ns <= self.now_ns:
            return
        if self.spans and self.spans[-1].state == state:
            self.spans[-1] = Span(state, self.spans[-1].start_ns, end_ns)
        else:
            self.spans.append(Span(state, self.now_ns, end_ns))
        self.now_ns = end_ns


def _ns(steps: Sequence[Step]) -> int:
    return round(sum(step.seconds for step in steps) * NS)
