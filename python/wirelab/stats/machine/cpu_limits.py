"""Effects of CPU limits on a scenario's hosts: how often they throttled, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.schema.estimates import CpuLimit, End
from wirelab.stats.dataset import Dataset
from wirelab.stats.link.report import kept_trials

if TYPE_CHECKING:
    import polars as pl

ROLES: tuple[End, ...] = ("client", "server")


def cpu_limits(dataset: Dataset) -> dict[str, dict[End, CpuLimit]]:
    """For each scenario with a limited host, by role: `share` of a CPU as configured; `periods` with work in all trials
    that count and `throttled` of them; for how long the host was held back in a trial, `throttled_s`.
    """
    trials = kept_trials(dataset)
    found = {}
    for scenario in dataset.scenarios:
        mine = trials.filter(trials["scenario"] == scenario.key)
        shares = scenario.cpu
        limits = {role: _limit(mine, role, shares[role]) for role in ROLES if role in shares}
        if limits:
            found[scenario.key] = limits
    return found


def _limit(trials: pl.DataFrame, role: str, share: float) -> CpuLimit:
    counted = trials.drop_nulls(f"{role}_throttled_ns")
    return {
        "share": share,
        "periods": int(counted[f"{role}_quota_periods"].sum()),
        "throttled": int(counted[f"{role}_throttled_periods"].sum()),
        "throttled_s": int(counted[f"{role}_throttled_ns"].sum()) / len(counted) / 1e9 if len(counted) else None,
    }
