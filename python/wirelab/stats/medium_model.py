"""How long a shared medium takes for a packet of one lone sender: on idle air, and when the next one waits already.

As `crates/wirelab-link/src/impairment/medium/` has it; the clauses are cited there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Json = Mapping[str, Any]

BYTE_154_S, SYMBOL_154_S = 32e-6, 16e-6
PHY_154_BYTES, MOST_154_BYTES, SIFS_FRAME_154_BYTES = 6, 127, 18


class Service(NamedTuple):
    """Mean seconds. `idle`: from arrival to the last bit where nobody else sends; `busy`: from one packet's to the
    next one's.
    """

    idle: float
    busy: float


def service(medium: Json | None, size: int) -> Service | None:
    """Means for delivered packets of so many IP bytes; None without a medium or where it is not known."""
    if medium is None:
        return None
    match medium["kind"]:
        case "serialiser":
            once = (size + medium.get("overhead_bytes", 0)) * 8 / medium["rate_bps"]
            return Service(once, once)
        case "wifi":
            return _wifi(medium, size)
        case "ieee802154":
            return _ieee802154(medium, size)
    return None


def _wifi(medium: Json, size: int) -> Service:
    airtime = medium["preamble_ns"] / 1e9 + (size + medium["overhead_bytes"]) * 8 / medium["rate_bps"]
    after = (medium["sifs_ns"] + medium["ack_ns"] + medium["difs_ns"]) / 1e9
    windows = [min((medium["cw_min"] + 1) * 2**tries - 1, medium["cw_max"]) for tries in range(medium["retries"] + 1)]
    backoffs = [window / 2 * medium["slot_ns"] / 1e9 for window in windows]
    lost = medium["frame_error"]
    idle = _mean_over_tries(lost, [airtime, *(after + backoff + airtime for backoff in backoffs[1:])])
    # After each packet comes a back-off from the smallest window.
    return Service(idle, idle + after + backoffs[0])


def _ieee802154(medium: Json, size: int) -> Service | None:
    frame = size - medium["compressed_bytes"] + medium["mac_bytes"]
    if not medium["mac_bytes"] < frame <= MOST_154_BYTES:
        return None
    backoff = (2 ** medium["min_be"] - 1) / 2 * 20 * SYMBOL_154_S
    once = backoff + (8 + 12) * SYMBOL_154_S + (PHY_154_BYTES + frame) * BYTE_154_S
    waited = (20 + 12 + 10 + 12) * SYMBOL_154_S
    idle = _mean_over_tries(medium["frame_error"], [once, *[waited + once] * medium["retries"]])
    spacing = (12 if frame <= SIFS_FRAME_154_BYTES else 40) * SYMBOL_154_S
    return Service(idle, idle + (12 + 2 * (PHY_154_BYTES + 5)) * SYMBOL_154_S + spacing)


def _mean_over_tries(lost: float, costs: list[float]) -> float:
    """Mean cost of a packet that gets through, when each further try costs more."""
    weights = [lost**tries * (1 - lost) for tries in range(len(costs))]
    total = sum(weights)
    if total == 0:
        return sum(costs)
    sums = [sum(costs[: tries + 1]) for tries in range(len(costs))]
    return sum(weight * cost for weight, cost in zip(weights, sums, strict=True)) / total
