"""The rate that a stage or a medium sustains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wirelab.stats.delay_model import mean_over_time

Json = Mapping[str, Any]
OPPORTUNITY_BITS = 1500 * 8
IEEE802154_BPS = 250_000


def mean_rate(stage: Json, spans_ns: Sequence[int] = ()) -> int | None:
    """In the long run, or of a schedule over trials that last so long: bits of the stage's own byte base; None without
    a limit.
    """
    match stage["kind"]:
        case "rate" | "token-bucket":
            return int(stage["rate_bps"])
        case "duty-cycle":
            return round(float(stage["rate_bps"] * stage["share"]))
        case "delivery-trace":
            instants = stage["opportunities_ms"]
            return round(float(len(instants) * OPPORTUNITY_BITS * 1000 / instants[-1]))
        case "schedule" if _is_limited(stage, spans_ns):
            return round(mean_over_time(stage, "rate_bps", 0.0, spans_ns))
    return None


def medium_rate(medium: Json | None) -> int | None:
    """Of the medium's frames; None without a medium."""
    if medium is None:
        return None
    return int(medium.get("rate_bps", IEEE802154_BPS))


def _is_limited(stage: Json, spans_ns: Sequence[int]) -> bool:
    """Whether a rate holds whenever it counts: in trials that last so long, all along, or at the end of what does not
    repeat.
    """
    points = stage["points"]
    if sum(spans_ns):
        points = [point for point in points if point["at_ns"] < max(spans_ns)]
    elif stage.get("repeat_ns") is None:
        points = points[-1:]
    return all(point.get("rate_bps") is not None for point in points)
