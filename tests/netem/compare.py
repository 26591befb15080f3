"""Whether two emulators do the same to packets, judged by what arrived: differences with intervals, as checks.

Shares are compared over batches of successive packets, so that losses may come in bursts; delays by quantiles between
order statistics, rates by trains. A line is out if its whole interval lies outside the tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wirelab.metrics.probes import Probes
from wirelab.schema import LinkFacts
from wirelab.schema.link_facts import Facts
from wirelab.schema.probe import ProbeKind
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.link.certificate import Check
from wirelab.stats.link.run_lengths import run_test

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Json = Mapping[str, Any]

DELAY_S = 10e-6
"""Reading its clock takes a guest 256 ns: ours reads it a few times between a packet's stamp and its departure."""
RATE_SHARE = 1e-4
BATCHES = 40
HEADER_BYTES = 28
"""IPv4 and UDP."""


@dataclass(frozen=True)
class Flow:
    """Probes of one kind and direction: rows of number and the nanoseconds at which its delay began and when it was
    received, in the order of that.
    """

    sent: int
    rows: NDArray[np.int64]

    @property
    def first(self) -> NDArray[np.int64]:
        """Without the copies."""
        return self.rows[np.sort(np.unique(self.rows[:, 0], return_index=True)[1])]

    @property
    def lost(self) -> Flags:
        lost = np.ones(self.sent, np.bool_)
        lost[self.rows[:, 0]] = False
        return lost

    @property
    def doubled(self) -> Flags:
        """Of those that arrived, in order of sending."""
        return np.asarray(np.unique(self.rows[:, 0], return_counts=True)[1] > 1)

    @property
    def overtaken(self) -> Flags:
        """In order of sending, those that arrived behind a later one (RFC 4737)."""
        numbers = self.first[:, 0]
        behind = numbers < np.maximum.accumulate(numbers) if len(numbers) else np.zeros(0, np.bool_)
        return np.asarray(behind[np.argsort(numbers)])

    @property
    def delay_s(self) -> Floats:
        return np.asarray((self.first[:, 2] - self.first[:, 1]) / 1e9)

    def rates(self, packets: int, ip_bytes: int) -> Floats:
        """Of each train of so many packets: bits after the first, over the time from the first to the last."""
        rates = []
        for train in range(self.sent // packets):
            inside = self.first[self.first[:, 0] // packets == train]
            took_s = (inside[-1, 2] - inside[0, 2]) / 1e9 if len(inside) > 1 else 0.0
            if took_s > 0:
                rates.append((len(inside) - 1) * ip_bytes * 8 / took_s)
        return np.asarray(rates)


@dataclass(frozen=True)
class Difference:
    """A check of netem minus ours, and the two."""

    check: Check
    ours: float | None
    theirs: float | None


Flows = Mapping[tuple[ProbeKind, bool], Flow]


def read_flows(probes: Probes) -> Flows:
    """Probes of every kind and direction (true: uplink). Delays count from the kernel's stamp at the link."""
    ports = {(up, kind.port(uplink=up)): kind for kind in ProbeKind for up in (True, False)}
    begun = probes.packets.filter(~pl.col("copy")).sort("sequence")
    flows = {}
    for (up, port), sent in probes.sent.items():
        mine = (pl.col("uplink") == up) & (pl.col("client_port") == port)
        begun_ns = begun.filter(mine)["arrival_ns"].to_numpy()
        received = probes.received.filter(mine).sort("received_ns", maintain_order=True)
        numbers = received["number"].to_numpy()
        rows = np.column_stack((numbers, begun_ns[numbers], received["received_ns"].to_numpy()))
        flows[ports[up, port], up] = Flow(sent, rows)
    return flows


def compare(ours: Flows, theirs: Flows, link: LinkFacts, plan: Json) -> Iterator[Difference]:
    """Theirs minus ours, line by line; and the run lengths of theirs against the model."""
    for (kind, up), one in ours.items():
        other = theirs[kind, up]
        way = "uplink" if up else "downlink"
        stages = (link.uplink if up else link.downlink).stages
        jitter = any(each.delay is not None and each.delay.random and each.held_back is None for each in stages)
        match kind:
            case ProbeKind.LOSS:
                yield from _shares(way, one, other)
                yield from _runs(way, one, other, stages)
                if jitter:
                    yield from (_delay(way, one, other, q) for q in (0.1, 0.5, 0.9))
            case ProbeKind.DELAY if not jitter:
                yield _delay(way, one, other, 0.5)
            case ProbeKind.RATE:
                [shape] = [flow for flow in plan["flows"] if flow["client_port"] == kind.port(uplink=up)]
                size = (shape["packets"], shape["payload_bytes"] + HEADER_BYTES)
                rates = one.rates(*size), other.rates(*size)
                yield _quantile("rate", way, "bit/s", rates, 0.5, RATE_SHARE * float(np.median(rates[0])))


def _shares(way: str, ours: Flow, theirs: Flow) -> Iterator[Difference]:
    yield _share("lost", way, ours.lost, theirs.lost)
    if ours.lost.any() and theirs.lost.any():
        yield _share("lost after a loss", way, *map(_after_loss, (ours, theirs)))
    yield _share("duplicated", way, ours.doubled, theirs.doubled)
    yield _share("overtaken", way, ours.overtaken, theirs.overtaken)


def _after_loss(flow: Flow) -> Flags:
    """Fates of those that follow a lost one: its mean is 1 - 1 / mean run length."""
    lost = flow.lost
    return np.asarray(lost[1:][lost[:-1]])


def _runs(way: str, ours: Flow, theirs: Flow, stages: Sequence[Facts]) -> Iterator[Difference]:
    for chain in (stage.loss.chain for stage in stages if stage.loss is not None):
        if chain is None:
            continue
        one, other = (run_test(chain, flow.lost) for flow in (ours, theirs))
        if one is not None and other is not None:
            check = Check(
                "run lengths", way, "packets", other.configured, None, None, "netem's against our model", p=other.p
            )
            yield Difference(check, one.measured, other.measured)


def _share(name: str, way: str, ours: Flags, theirs: Flags) -> Difference:
    check = Check(name, way, "share", 0.0, 0.0, partial(_mean_difference, ours, theirs))
    return Difference(check, *(float(flags.mean()) if len(flags) else None for flags in (ours, theirs)))


def _delay(way: str, ours: Flow, theirs: Flow, q: float) -> Difference:
    return _quantile(f"delay p{q * 100:.0f}", way, "s", (ours.delay_s, theirs.delay_s), q, DELAY_S)


def _quantile(  # noqa: PLR0917
    name: str, way: str, unit: str, both: tuple[Floats, Floats], q: float, tolerance: float
) -> Difference:
    check = Check(name, way, unit, 0.0, tolerance, partial(_quantile_difference, *both, q))
    return Difference(check, *(float(np.quantile(values, q)) if len(values) else None for values in both))


def _mean_difference(ours: Flags, theirs: Flags, level: float) -> Estimate:
    """Welch's interval over means of batches; of what never differs, the difference itself."""
    from scipy.special import stdtrit

    n = min(len(ours), len(theirs))
    if n < BATCHES:
        return Estimate(0.0 if n else None, None, None, level, n, f"{n} packets are too few")
    batches = [np.array([part.mean() for part in np.array_split(flags, BATCHES)]) for flags in (theirs, ours)]
    point = float(theirs.mean() - ours.mean())
    terms = [float(part.var(ddof=1)) / BATCHES for part in batches]
    if sum(terms) == 0:
        return Estimate(point, point, point, level, n, "nothing varies")
    freedom = sum(terms) ** 2 / sum(term**2 / (BATCHES - 1) for term in terms)
    half = float(-stdtrit(freedom, (1 - level) / 2)) * sum(terms) ** 0.5
    return Estimate(point, point - half, point + half, level, n, f"Welch over {BATCHES} batches each")


def _quantile_difference(ours: Floats, theirs: Floats, q: float, level: float) -> Estimate:
    """Each quantile lies between its order statistics with half of the error."""
    n = min(len(ours), len(theirs))
    bounds = [_order_statistics(np.sort(values), q, 1 - (1 - level) / 2) for values in (theirs, ours)]
    if n == 0 or None in bounds:
        return Estimate(None, None, None, level, n, f"{n} values are too few")
    (low, high), (our_low, our_high) = (pair for pair in bounds if pair is not None)
    point = float(np.quantile(theirs, q) - np.quantile(ours, q))
    return Estimate(point, low - our_high, high - our_low, level, n, "order statistics")


def _order_statistics(ordered: Floats, q: float, level: float) -> tuple[float, float] | None:
    from scipy.stats import binom

    n = len(ordered)
    tail = (1 - level) / 2
    low, high = int(binom.ppf(tail, n, q)) - 1, int(binom.ppf(1 - tail, n, q))
    if n == 0 or low < 0 or high >= n:
        return None
    return float(ordered[low]), float(ordered[high])
