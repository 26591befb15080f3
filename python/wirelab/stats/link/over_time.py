"""Means of a stage's time-dependent effects over trials that each restart it. It knows no kind of stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from wirelab.schema.link_facts import Facts, OverTime


def mean_delay_ns(stage: Facts, spans_ns: Sequence[int] = ()) -> float:
    """What a stage adds to a packet's delay on average, without queues and other packets; of what changes with time,
    over trials that last so long.
    """
    if stage.over_time is not None and sum(spans_ns) > 0:
        return _mean(stage.over_time, "delay_ns", spans_ns)
    return 0.0 if stage.delay is None else stage.delay.mean_ns


def mean_rate_bps(stage: Facts, spans_ns: Sequence[int] = ()) -> int | None:
    """The rate that a stage sustains, in bits of its own byte base; None without a limit. Of what changes with time,
    over trials that last so long, if a rate holds all along in them.
    """
    if stage.rate is None:
        return None
    if stage.over_time is not None and sum(spans_ns) > 0:
        reached = [point for point in stage.over_time.points if point.at_ns < max(spans_ns)]
        if any(point.rate_bps is None for point in reached):
            return None
        return round(_mean(stage.over_time, "rate_bps", spans_ns))
    return stage.rate.mean_bps


def _mean(changing: OverTime, key: Literal["delay_ns", "rate_bps"], spans_ns: Sequence[int]) -> float:
    points, repeat_ns = changing.points, changing.repeat_ns
    values = [float(getattr(point, key) or 0) for point in points]
    begins = [point.at_ns for point in points]
    ends = [*begins[1:], float("inf") if repeat_ns is None else repeat_ns]

    def within(span: float) -> float:
        return float(
            sum(max(min(end, span) - at, 0) * value for at, end, value in zip(begins, ends, values, strict=True))
        )

    total = 0.0
    for span in spans_ns:
        whole, rest = (0, span) if repeat_ns is None else divmod(span, repeat_ns)
        total += whole * within(repeat_ns or 0) + within(rest)
    return total / sum(spans_ns)
