"""How many trials to run side by side at first; the link's lateness corrects it."""

from __future__ import annotations

from collections.abc import Collection

LANES_PER_CPU = 16
CROWDED_LANES = 2
"""Without real-time scheduling and a CPU of its own the link waits for whatever else runs, such as another lane."""
CPU_SHARE = 0.5
CPU_PER_EXCHANGE_NS = 4_000_000
"""Rough CPU time of both endpoints and the link for one fresh TLS exchange; a kept connection takes less."""


def default_lanes(expected_exchange_ns: Collection[int], trials: int, cpus: int, *, real_time: bool) -> int:
    """Lanes that keep half of the endpoints' CPUs idle: exchanges mostly wait for their link, which must never wait.

    Without real-time scheduling the link has one for itself.
    """
    if cpus == 1 and not real_time:
        return min(CROWDED_LANES, trials)
    mean_ns = sum(expected_exchange_ns) / max(len(expected_exchange_ns), 1)
    endpoints_cpus = cpus if real_time else cpus - 1
    affordable = int(CPU_SHARE * endpoints_cpus * mean_ns / CPU_PER_EXCHANGE_NS)
    return max(1, min(affordable, LANES_PER_CPU * cpus, trials))
