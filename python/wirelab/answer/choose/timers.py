"""When a link's radio falls asleep under other settings of the network, and whether that moves a packet. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from wirelab.units import duration_ns
from wirelab_energy import Packet
from wirelab_energy.radio import Radio

NS = 1e9
SENDING_S = 2.0
"""For so long a burst may wait for a slow uplink, while the log counts it as silence."""
DIGITS = 3
"""Of a silence: milliseconds."""


class Silence(NamedTuple):
    """The time before a packet without another, in seconds, and whether the client sent that packet."""

    seconds: float
    up: bool


@dataclass(frozen=True)
class Rest:
    """What a radio does behind its last packet: seconds after it at which each state begins, from light to deep; how
    long waking from each takes; and in which it hears nothing.
    """

    starts: Mapping[str, float]
    waking: Mapping[str, float]
    deaf: Collection[str]

    @classmethod
    def of(cls, radio: Radio) -> Rest:
        """With typical constants. With release assistance a connection ends at once only if nothing follows within the
        inactivity timer. A shorter silence is spent connected, so idle begins with that timer.
        """
        values, machine = radio.values("typical"), radio.machine

        def phases(gap_s: float) -> Iterator[tuple[str, float]]:
            for phase in machine.rest(values, up=True, gap_s=gap_s):
                yield phase.state, math.inf if phase.rests else phase.until_s
                if phase.rests:
                    return

        ends = {until_s for gap_s in (0.0, math.inf) for _, until_s in phases(gap_s)}
        starts = dict[str, float]()
        for begin, end in pairwise(sorted({0.0, *ends})):
            gap_s = begin + 1.0 if math.isinf(end) else (begin + end) / 2
            starts.setdefault(next(state for state, until_s in phases(gap_s) if gap_s < until_s), begin)
        packet = Packet(0, up=True, size=0)
        waking = {state: math.fsum(step.seconds for step in machine.wake(values, state, packet)) for state in starts}
        states = machine.states(values)
        return cls(starts, waking, [state for state in starts if not states[state].listens])

    def moves(self, other: Rest, silences: Iterable[Silence], waking_s: float) -> bool:
        """Whether a packet behind one of these silences finds another state than with the other radio. A silence in a
        log may be longer than the radio's, by what waking and sending took. Sleep that begins at another time also
        listens at others, which matters to packets of the server.
        """
        differ, shifted = [*self._differing(other)], self._first_shift(other)
        return any(
            (not each.up and each.seconds > shifted)
            or any(each.seconds > low and each.seconds - waking_s - SENDING_S < high for low, high in differ)
            for each in silences
        )

    def _differing(self, other: Rest) -> Iterator[tuple[float, float]]:
        ends = sorted({*self.starts.values(), *other.starts.values()})
        for low, high in pairwise([*ends, math.inf]):
            if self._state(low) != other._state(low):
                yield low, high

    def _first_shift(self, other: Rest) -> float:
        both = {*self.starts.items()} ^ {*other.starts.items()}
        return min((start for _, start in both), default=math.inf)

    def _state(self, at_s: float) -> str:
        return [state for state, start in self.starts.items() if start <= at_s][-1]


def silences(times: Sequence[tuple[int, bool]]) -> set[Silence]:
    """Of packets by their nanoseconds and whether the client sent them."""
    return {Silence(round((after - before) / NS, DIGITS), up) for (before, _), (after, up) in pairwise(times)}


def retimed(link: Mapping[str, Any], typical: Rest, other: Rest) -> dict[str, Any] | None:
    """A link's `radio`, whose sleeps begin when the other radio's states do. What that one never enters is left out,
    and a state in which it alone hears nothing is added. None if nobody knows which sleep of the link is which state,
    or how often the radio listens in one.
    """
    radio = link.get("radio")
    if not isinstance(radio, Mapping):
        return None
    states = {round(start * NS): state for state, start in typical.starts.items()}
    begins = [(duration_ns(sleep["after"]), sleep) for sleep in radio["sleeps"]]
    known = [(states[after], sleep) for after, sleep in begins if after in states]
    changed = {state for state, start in other.starts.items() if typical.starts.get(state) != start}
    changed -= {state for state, _ in known}
    if len(known) < len(begins) or any(state in typical.starts or state not in other.deaf for state in changed):
        return None
    added = [(state, {"wake": _ns(other.waking[state])}) for state in changed]
    sleeps = [(other.starts[state], sleep) for state, sleep in [*known, *added] if state in other.starts]
    sleeps.sort(key=lambda each: each[0])
    return {**radio, "sleeps": [{**sleep, "after": _ns(start)} for start, sleep in sleeps]}


def sleeps_alike(link: Mapping[str, Any], radio: Radio) -> bool:
    """Whether a link's sleeps begin when a radio's states do; also of a link that does not sleep."""
    usual = Rest.of(radio)
    return "radio" not in link or retimed(link, usual, usual) is not None


def _ns(seconds: float) -> str:
    """Exactly: a link has what the radio's model has."""
    return f"{round(seconds * NS)} ns"


def waking_s(link: Mapping[str, Any]) -> float:
    """The longest that a link's radio takes to wake."""
    return max((duration_ns(sleep["wake"]) / NS for sleep in link.get("radio", {}).get("sleeps", [])), default=0.0)
