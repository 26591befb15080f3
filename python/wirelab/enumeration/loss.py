"""Weights of what a loss model can do: the probability of a sequence of draws.

There is one draw for each packet that reaches the loss stage of its direction, in that stage's order. So one set of
runs serves every loss rate and every model: only its weights differ.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, Protocol

from wirelab.schema.exact import Direction, Draw

State = Literal["good", "bad", "stationary"]


class Process(Protocol):
    """A loss process of one direction."""

    def weight(self, lost: Sequence[bool]) -> float:
        """The probability that it decides so about its first packets."""

    def follow(self, lost: Sequence[bool], count: int, random: Random) -> list[bool]:
        """What it decides about so many packets after these, drawn at random."""


@dataclass(frozen=True)
class Loss:
    """Loss in both directions, which do not know of each other."""

    uplink: Process
    downlink: Process

    def weight(self, draws: Sequence[Draw]) -> float:
        """The probability of these draws, in their order."""
        return self.uplink.weight(lost_of(draws, "uplink")) * self.downlink.weight(lost_of(draws, "downlink"))

    def follow(self, draws: Sequence[Draw], count: int, random: Random) -> dict[Direction, list[bool]]:
        """What each direction decides from its first packet on: these draws, and so many more at random."""
        ways: tuple[tuple[Direction, Process], ...] = (("uplink", self.uplink), ("downlink", self.downlink))
        return {way: [*(begun := lost_of(draws, way)), *process.follow(begun, count, random)] for way, process in ways}


def lost_of(draws: Sequence[Draw], way: Direction) -> list[bool]:
    """What was decided about each packet of a direction."""
    return [draw.lost for draw in draws if draw.direction == way]


@dataclass(frozen=True)
class Independent:
    """Each packet is lost with the same probability."""

    rate: float

    def weight(self, lost: Sequence[bool]) -> float:
        """p^k (1 - p)^(n - k)."""
        count = sum(lost)
        return float(self.rate**count * (1 - self.rate) ** (len(lost) - count))

    def follow(self, lost: Sequence[bool], count: int, random: Random) -> list[bool]:  # noqa: ARG002 (no memory)
        """Each for itself."""
        return [random.random() < self.rate for _ in range(count)]


@dataclass(frozen=True)
class Chain:
    """A Markov chain that moves with each packet, such as `gilbert-elliott` of a link: the state before a packet's own
    transition decides about it. `loss` is the loss probability in each state, `transitions` has a row for each state,
    and `start` is the distribution at the first packet. The stationary one holds for a trial's first exchange only.
    """

    loss: tuple[float, ...]
    transitions: tuple[tuple[float, ...], ...]
    start: tuple[float, ...]

    def weight(self, lost: Sequence[bool]) -> float:
        """The forward recursion over all states."""
        return math.fsum(self._after(lost))

    def follow(self, lost: Sequence[bool], count: int, random: Random) -> list[bool]:
        """From a state drawn from what it may be after these packets."""
        states = range(len(self.loss))
        [state] = random.choices(states, self._after(lost))
        found = []
        for _ in range(count):
            found.append(random.random() < self.loss[state])
            [state] = random.choices(states, self.transitions[state])
        return found

    def _after(self, lost: Sequence[bool]) -> tuple[float, ...]:
        """Of each state the probability of these decisions and of being there then."""
        states = self.start
        for each in lost:
            kept = [share * (rate if each else 1 - rate) for share, rate in zip(states, self.loss, strict=True)]
            columns = zip(*self.transitions, strict=True)
            states = tuple(math.fsum(map(operator.mul, kept, column)) for column in columns)
        return states


def gilbert_elliott(p: float, r: float, bad_loss: float, good_loss: float, state: State = "stationary") -> Chain:
    """Gilbert-Elliott from a state that is known, or from the stationary distribution."""
    # A chain that never moves stays good, as the link's does.
    bad = {"good": 0.0, "bad": 1.0, "stationary": p / (p + r) if p + r else 0.0}[state]
    return Chain((good_loss, bad_loss), ((1 - p, p), (r, 1 - r)), (1 - bad, bad))
