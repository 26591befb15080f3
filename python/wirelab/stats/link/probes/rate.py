"""The rate of a direction, from trains of probes: bytes over the time in which the rate was busy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from wirelab.schema.link_facts import Facts
from wirelab.schema.probe import ProbeKind
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.link.certificate import LATE, Check
from wirelab.stats.link.grade import LATENESS_FLOOR_S, LIMITED_SHARE
from wirelab.stats.link.probes.packets import Packets
from wirelab.stats.link.probes.way import Way, shared_service

Floats = NDArray[np.float64]

LEAST_TRAINS = 3
BETWEEN_TRAINS_NS = 2 * 10**6
"""Of silence at least (`wirelab.runner.probe_plan`)."""


def rate_check(way: Way) -> Check | None:
    """The line of its rate; None where nothing limits it."""
    rates = [stage.rate for stage in way.direction.stages if stage.rate is not None]
    why = next((rate.changes for rate in rates if rate.changes is not None), None)
    if why is not None:
        return Check("rate", way.name, "bit/s", None, None, None, f"{why}; {way.otherwise}")
    steady = [(float(rate.steady_bps), rate.overhead_bytes) for rate in rates if rate.steady_bps is not None]
    configured, overhead = min(steady, default=(None, 0))
    trains = way.packets.probes(ProbeKind.RATE, uplink=way.uplink)
    size = int(trains.size[0]) if len(trains) else 0
    in_turn = any(stage.service for stage in way.shared)
    if in_turn and size:
        service = shared_service(way.shared, size)
        if service is None:
            return Check("rate", way.name, "bit/s", None, None, None, "what the medium sustains is not known")
        if configured is None or service.busy * configured > (size + overhead) * 8:
            configured, overhead = size * 8 / service.busy, 0
    if configured is None and not in_turn:
        return None
    if configured is None or not size:
        slow = "too slow for a train of probes: more time tells it"
        return Check("rate", way.name, "bit/s", configured, None, None, slow)
    what = configured
    spans = busy_spans(trains, what, overhead, way.direction.stages)
    why = None
    if len(spans) < LEAST_TRAINS:
        sent = 1 + int((np.diff(trains.arrival) > BETWEEN_TRAINS_NS).sum())
        cure = "more time tells it" if sent < LEAST_TRAINS else "its ends sent no faster than it, a quieter machine may"
        why = f"{len(spans)} of {sent} trains of probes kept it busy: {cure}"
    # The first and the last packet of a train may be as late as any.
    span_s = float(np.mean([seconds for _, seconds in spans])) if spans else float("inf")
    tolerance = max(LIMITED_SHARE, LATENESS_FLOOR_S / span_s) * what
    return Check("rate", way.name, "bit/s", what, tolerance, _rate(spans), why, LATE)


def busy_spans(
    trains: Packets, configured_bps: float, overhead: int, stages: Sequence[Facts]
) -> list[tuple[float, float]]:
    """Bits and seconds of each train in which packets waited for one another, from the departure of its first.

    Who is lost behind the rate took its time there all the same; who is dropped at its queue did not.
    """
    behind = _lost_behind(stages)
    served = trains.only(~trains.copy & (trains.delivered | ((trains.fate == "loss") & behind)))
    if len(served) < 2:
        return []
    wire_ns = (served.size + overhead) * 8e9 / configured_bps
    # A train ends where the next packet came after all before could have left.
    backlog_ends = np.empty(len(served))
    ends = 0.0
    for index, (arrival, takes) in enumerate(zip(served.arrival, wire_ns, strict=True)):
        backlog_ends[index] = ends
        ends = max(ends, float(arrival)) + float(takes)
    waits = served.arrival < backlog_ends - 0.5 * wire_ns
    spans = []
    starts = np.flatnonzero(~waits)
    for first, end in zip(starts, [*starts[1:], len(served)], strict=True):
        inside = np.arange(first, end)
        seen = inside[served.delivered[inside]]
        if len(seen) < 2 or len(inside) < 4:
            continue
        bits = float(((served.size[seen[0] + 1 : seen[-1] + 1] + overhead) * 8).sum())
        left = served.departure + served.lateness
        spans.append((bits, float(left[seen[-1]] - left[seen[0]]) / 1e9))
    return [span for span in spans if span[1] > 0]


def _rate(spans: Sequence[tuple[float, float]]) -> Callable[[float], Estimate]:
    """Ratio of sums, with Student's interval over trains by the delta method."""

    def measure(level: float) -> Estimate:
        from scipy.special import stdtrit

        n = len(spans)
        if n == 0:
            return Estimate(None, None, None, level, 0, "no train of probes kept it busy")
        bits, seconds = (np.asarray(column) for column in zip(*spans, strict=True))
        point = float(bits.sum() / seconds.sum())
        if n < LEAST_TRAINS:
            return Estimate(point, None, None, level, n, f"{n} trains are too few for an interval")
        spread = (bits - point * seconds).std(ddof=1) / seconds.mean() / np.sqrt(n)
        half = float(-stdtrit(n - 1, (1 - level) / 2) * spread)
        # A few trains that differ much say little, but never that bits went backwards.
        return Estimate(point, max(point - half, 0.0), point + half, level, n, "Student over trains")

    return measure


def _lost_behind(stages: Sequence[Facts]) -> bool:
    """The loss stands behind the last rate."""
    rates = [at for at, stage in enumerate(stages) if stage.rate is not None and stage.rate.steady_bps is not None]
    losses = [at for at, stage in enumerate(stages) if stage.loss is not None]
    return bool(rates and losses and min(losses) > max(rates))
