"""Whether two emulators do the same to packets, told by their ends alone: differences with intervals, as checks.

Shares are compared over batches of successive packets, so that losses may come in bursts; delays by quantiles between
order statistics, rates by trains. A line is out if its whole interval lies outside the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wirelab.schema.probe import ProbeKind
from wirelab.stats.certificate import Check
from wirelab.stats.estimate import Estimate
from wirelab.stats.run_lengths import run_test

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

DELAY_S = 0.001
RATE_SHARE = 0.01
BATCHES = 40
HEADER_BYTES = 28
"""IPv4 and UDP."""
IN_BURSTS = ("gilbert-elliott", "four-state", "loss")


@dataclass(frozen=True)
class Flow:
    """Probes of one kind and direction, as the two ends saw them: rows of number, sent and received nanoseconds in the
    order in which they were received.
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
        """In order of arrival, those behind a later one (RFC 4737)."""
        numbers = self.first[:, 0]
        return np.asarray(numbers < np.maximum.accumulate(numbers)) if len(numbers) else np.zeros(0, np.bool_)

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


def read_flows(folder: Path) -> dict[tuple[ProbeKind, bool], Flow]:
    """What the ends wrote (`docs/reference/files.md`, probes), by kind and direction (true: uplink)."""
    ports = {kind.port(uplink=up): (kind, up) for kind in ProbeKind for up in (True, False)}
    sent: dict[tuple[ProbeKind, bool], int] = {}
    rows: dict[tuple[ProbeKind, bool], list[list[int]]] = {}
    for end in ("client", "server"):
        for line in (folder / f"{end}.txt").read_text().splitlines():
            word, port, *numbers = line.split()
            flow = ports[int(port)]
            if word == "sent":
                sent[flow] = sent.get(flow, 0) + int(numbers[0])
            else:
                rows.setdefault(flow, []).append([int(number) for number in numbers])
    return {flow: Flow(count, np.asarray(rows.get(flow, []), np.int64).reshape(-1, 3)) for flow, count in sent.items()}


def compare(
    ours: Mapping[tuple[ProbeKind, bool], Flow],
    theirs: Mapping[tuple[ProbeKind, bool], Flow],
    link: Mapping[str, Any],
    plan: Mapping[str, Any],
) -> Iterator[Check]:
    """Theirs minus ours, line by line; run lengths also against the model."""
    for (kind, up), one in ours.items():
        other = theirs[kind, up]
        way = "uplink" if up else "downlink"
        match kind:
            case ProbeKind.LOSS:
                yield from _shares(way, one, other)
                yield from _runs(way, other, link[way])
            case ProbeKind.DELAY:
                yield from _delays(way, one, other, link[way])
            case ProbeKind.RATE:
                [shape] = [flow for flow in plan["flows"] if flow["client_port"] == kind.port(uplink=up)]
                size = (shape["packets"], shape["payload_bytes"] + HEADER_BYTES)
                rates = one.rates(*size), other.rates(*size)
                told = float(np.median(rates[0]))
                yield _check("rate", way, "bit/s", RATE_SHARE * told, partial(_quantile_difference, *rates, 0.5))


def _shares(way: str, ours: Flow, theirs: Flow) -> Iterator[Check]:
    yield _check("loss", way, "share", 0.0, partial(_mean_difference, ours.lost, theirs.lost))
    yield _check("loss after loss", way, "share", 0.0, partial(_mean_difference, *map(_after_loss, (ours, theirs))))
    yield _check("duplicated", way, "share", 0.0, partial(_mean_difference, ours.doubled, theirs.doubled))
    yield _check("reordered", way, "share", 0.0, partial(_mean_difference, ours.overtaken, theirs.overtaken))


def _after_loss(flow: Flow) -> Flags:
    """Fates of those that follow a lost one: its mean is 1 - 1 / mean run length."""
    lost = flow.lost
    return np.asarray(lost[1:][lost[:-1]])


def _runs(way: str, theirs: Flow, chain: list[Mapping[str, Any]]) -> Iterator[Check]:
    for stage in chain:
        found = run_test(stage, theirs.lost) if stage["kind"] in IN_BURSTS else None
        if found is not None:
            mean = Estimate(found.measured, None, None, 0.95, found.runs, f"chi-square over {found.cells} lengths")
            why = f"netem's against our model: {found.runs:,} runs, p {found.p:.2g}"
            yield Check("run lengths", way, "packets", found.told, None, lambda _, mean=mean: mean, why, p=found.p)


def _delays(way: str, ours: Flow, theirs: Flow, chain: list[Mapping[str, Any]]) -> Iterator[Check]:
    random = any(stage.get("jitter") for stage in chain)
    for q in (0.1, 0.5, 0.9) if random else (0.5,):
        name = f"delay p{q * 100:.0f}" if random else "delay"
        yield _check(name, way, "s", DELAY_S, partial(_quantile_difference, ours.delay_s, theirs.delay_s, q))


def _check(name: str, way: str, unit: str, tolerance: float, measure: Callable[[float], Estimate]) -> Check:
    return Check(name, way, unit, 0.0, tolerance, measure)


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
