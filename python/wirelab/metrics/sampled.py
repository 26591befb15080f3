"""Which exchanges a metric has a value of, and which are only known to be above the time-out: for the analysis, and for
the rule that ends a scenario early.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wirelab.metrics.base import CARRIED_OUT, Metric
from wirelab.metrics.energy_names import DAY, INTERVAL, SETUP, every_bound

CENSORED = {f"{name}{of}" for name in ("end-to-end-delay", "response-time") for of in ("", "-largest", "-smallest")}
"""Metrics for which a timed-out exchange is known to be above the timeout."""

CENSORED_OF = {"page": {"load-time", "time-to-first-byte"}}
"""Of a kind of workload alone, besides."""
EARLIER = {"time-to-first-byte"}
"""Metrics that may have a value of what timed out later: it counts, and is not above the time-out."""
OF_ANY_OUTCOME = every_bound(INTERVAL, SETUP, DAY)
"""Metrics of every message that was due: one that failed is paid for."""


@dataclass(frozen=True)
class Sampled:
    """A metric of each row, in its own unit."""

    values: NDArray[np.float64]
    """NaN where there is none."""
    use: NDArray[np.bool_]
    """The rows whose value counts."""
    late: NDArray[np.bool_]
    """The rows that timed out and have no value."""
    censored: bool
    """Whether these are above the time-out; else nothing is known of them."""


def sampled(rows: pl.DataFrame, metric: Metric, kind: str) -> Sampled | None:
    """A metric of the exchanges of a scenario with this kind of workload; None if no exchange has a value, and no
    time-out stands for one.
    """
    if metric.column not in rows.columns:
        return None
    has_copies = "copies" in rows.columns and rows["copies"].null_count() < len(rows)
    above = CENSORED | ({"delivery-delay"} if has_copies else CENSORED_OF.get(kind, set()))
    # Most metrics have no value in most campaigns.
    if metric.name not in above and rows[metric.column].null_count() == len(rows):
        return None
    values = rows[metric.column].cast(pl.Float64).to_numpy()
    known = np.isfinite(values)
    if metric.name in OF_ANY_OUTCOME:
        return Sampled(values, known, np.zeros(len(values), dtype=np.bool_), False) if known.any() else None
    completed = rows["outcome"].is_in(CARRIED_OUT).to_numpy()
    timed_out = (rows["outcome"] == "timed-out").to_numpy()
    among = rows.select(metric.among.alias("among"))["among"].fill_null(False).to_numpy()
    given_up = timed_out & ~known if metric.name in EARLIER else timed_out
    late, use = given_up & among, known & (completed | (timed_out & ~given_up))
    found = Sampled(values, use, late, metric.name in above)
    only_late = found.censored and late.any() and not (completed & among).any()
    return found if use.any() or only_late else None
