"""Weights of what a loss model can do: the probability of a sequence of draws.

There is one draw for each packet that reaches the loss stage of its direction, in that stage's order. So one set of
runs serves every loss rate and every model: only its weights differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Direction = Literal["uplink", "downlink"]
State = Literal["good", "bad", "stationary"]


@dataclass(frozen=True)
class Draw:
    """What the loss stage decided about one packet. `at_s` is when it got there: seconds from the exchange's start."""

    direction: Direction
    lost: bool
    at_s: float


class Process(Protocol):
    """A loss process of one direction."""

    def weight(self, lost: Sequence[bool]) -> float:
        """The probability that it decides so about its first packets."""


@dataclass(frozen=True)
class Loss:
    """Loss in both directions, which do not know of each other."""

    uplink: Process
    downlink: Process

    def weight(self, draws: Sequence[Draw]) -> float:
        """The probability of these draws, in their order."""
        up = [draw.lost for draw in draws if draw.direction == "uplink"]
        down = [draw.lost for draw in draws if draw.direction == "downlink"]
        return self.uplink.weight(up) * self.downlink.weight(down)


@dataclass(frozen=True)
class Independent:
    """Each packet is lost with the same probability."""

    rate: float

    def weight(self, lost: Sequence[bool]) -> float:
        """p^k (1 - p)^(n - k)."""
        count = sum(lost)
        return float(self.rate**count * (1 - self.rate) ** (len(lost) - count))


@dataclass(frozen=True)
class GilbertElliott:
    """Bursts, as `gilbert-elliott` of a link has them: the state before a packet's own transition decides about it.
    `initial` is the state at the first packet; the stationary distribution holds for a trial's first exchange only.
    """

    p: float
    r: float
    bad_loss: float
    good_loss: float
    initial: State = "stationary"

    def weight(self, lost: Sequence[bool]) -> float:
        """The forward recursion over both states."""
        good, bad = self._start()
        for each in lost:
            good *= self.good_loss if each else 1 - self.good_loss
            bad *= self.bad_loss if each else 1 - self.bad_loss
            good, bad = good * (1 - self.p) + bad * self.r, good * self.p + bad * (1 - self.r)
        return good + bad

    def _start(self) -> tuple[float, float]:
        if self.initial == "stationary":
            # A chain that never moves stays good, as the link's does.
            bad = self.p / (self.p + self.r) if self.p + self.r else 0.0
        else:
            bad = 1.0 if self.initial == "bad" else 0.0
        return 1 - bad, bad
