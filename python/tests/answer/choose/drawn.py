"""Devices on drawn links whose choices have known truths, and trials of them in no time.

A message of a protocol takes some round trips, each with bytes up and down; the first has the reading. If a packet of
one is lost, it is sent up again after a time-out, which doubles each time, as in CoAP. The radio takes power to send,
to wait for answers, and in its tail after a message. Of what each takes only bounds are known, with the truth anywhere
in them. One device in four has no radio that is known, so that bytes rank.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from wirelab.answer.choose.candidates import MESSAGES
from wirelab.answer.choose.ranking import LOOKS, Parts, exactly, is_settled, ranked

STATES = ("transmit", "wait", "tail")
TIMEOUT_S = 2.0
"""Of a round trip, in addition to the link's own."""


@dataclass(frozen=True)
class _Link:
    loss: float
    rtt_s: float
    rate_bps: float

    @property
    def failing(self) -> float:
        """The chance that a packet of a round trip is lost."""
        return 1 - (1 - self.loss) ** 2


@dataclass(frozen=True)
class _Protocol:
    """`up` and `down` are bytes of each round trip. `scale` is of all that a message takes."""

    up: tuple[int, ...]
    down: tuple[int, ...]
    scale: float = 1.0


class World:
    """One device, of which `best` takes least in truth, and the next by `gap` more."""

    def __init__(self, seed: int, gap: float) -> None:
        rng = self._rng = np.random.default_rng(seed)
        loss = 0.0 if rng.random() < 1 / 3 else _between(rng, 0.001, 0.05)
        self._link = _Link(loss, _between(rng, 0.02, 4.0), _between(rng, 2e3, 1e6))
        size, every_s = round(_between(rng, 16, 1024)), _between(rng, 30, 86_400)
        self._tail_s = min(every_s, rng.uniform(1, 20))
        # Typical watts, the factor between them and either bound, and where the truth lies.
        self._watts = dict(
            zip(STATES, (rng.uniform(0.5, 1.5), rng.uniform(0.1, 0.5), rng.uniform(0.02, 0.3)), strict=True)
        )
        self._factors = dict(zip(STATES, (rng.uniform(1, 1.2), rng.uniform(1, 1.2), rng.uniform(1, 2)), strict=True))
        truth = {state: factor ** rng.uniform(-1, 1) for state, factor in self._factors.items()}
        self._by_bytes = rng.random() < 1 / 4
        drawn = {f"choice {nth}": _drawn(rng, size) for nth in range(int(rng.integers(2, 9)))}
        totals = {name: self._expected(of, truth) for name, of in drawn.items()}
        self.best, *others = sorted(totals, key=totals.__getitem__)
        self._protocols = {self.best: drawn[self.best]}
        for nth, name in enumerate(others):
            wanted = totals[self.best] * (1 + gap) * (1 + 0.05 * nth)
            scale = wanted / totals[name] if nth == 0 or totals[name] < wanted else 1.0
            self._protocols[name] = _Protocol(drawn[name].up, drawn[name].down, scale)

    def decided(self) -> str | None:
        """What is named first, at the look at which one stops."""
        trials: dict[str, list[Parts]] = {name: [] for name in self._protocols}
        for number in range(1, LOOKS[-1] + 1):
            # What trials of one replicate have in common: how long the network kept the device connected.
            tail = math.exp(self._rng.normal(0, 0.05))
            for name, protocol in self._protocols.items():
                trials[name].append(self._trial(protocol, tail))
            if number in LOOKS and is_settled(found := ranked(trials, seed=1)):
                return found.first
        return None

    def _trial(self, protocol: _Protocol, tail: float) -> Parts:
        """The mean of its messages, the first of which is left out."""
        shape = (MESSAGES - 1, len(protocol.up))
        again = self._rng.geometric(1 - self._link.failing, shape) - 1
        sent = float((again * protocol.up).sum(axis=1).mean()) + sum(protocol.up)
        late_s = TIMEOUT_S * float((2.0**again - 1).sum(axis=1).mean())
        return self._parts(protocol, sent, late_s, tail)

    def _parts(self, protocol: _Protocol, sent: float, late_s: float, tail: float) -> Parts:
        if self._by_bytes:
            return exactly(protocol.scale * (sent + sum(protocol.down)))
        joules = {state: protocol.scale * value for state, value in self._joules(protocol, sent, late_s, tail).items()}
        return {
            state: {"low": value / self._factors[state], "typical": value, "high": value * self._factors[state]}
            for state, value in joules.items()
        }

    def _joules(self, protocol: _Protocol, sent: float, late_s: float, tail: float) -> dict[str, float]:
        received_s = sum(protocol.down) * 8 / self._link.rate_bps
        waits_s = len(protocol.up) * self._link.rtt_s + received_s + late_s
        seconds = {"transmit": sent * 8 / self._link.rate_bps, "wait": waits_s, "tail": self._tail_s * tail}
        return {state: self._watts[state] * value for state, value in seconds.items()}

    def _expected(self, protocol: _Protocol, truth: dict[str, float]) -> float:
        """What a message takes in truth."""
        failing = self._link.failing
        sent = sum(protocol.up) / (1 - failing)
        late_s = TIMEOUT_S * len(protocol.up) * ((1 - failing) / (1 - 2 * failing) - 1)
        if self._by_bytes:
            return sent + sum(protocol.down)
        return sum(truth[state] * value for state, value in self._joules(protocol, sent, late_s, 1.0).items())


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    """Each order of magnitude is as probable."""
    return float(math.exp(rng.uniform(math.log(low), math.log(high))))


def _drawn(rng: np.random.Generator, size: int) -> _Protocol:
    trips = int(rng.integers(1, 6))
    up, down = (rng.integers(40, 300, trips).tolist() for _ in range(2))
    return _Protocol((up[0] + size, *up[1:]), (*down,))
