"""The definition of a metric."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

COMPLETED = pl.col("outcome") == "completed"
CARRIED_OUT = ("completed", "sent")
"""Outcomes of an exchange that did what its protocol can do: what nothing answers is sent, and has no response time."""
EVERY = pl.lit(True)
LOOKED_UP = pl.coalesce("name_lookup_ns", "start_ns")
"""The end of an exchange's name lookup, or its start without a lookup."""
WAITED = (pl.col("start_ns") - pl.col("intended_start_ns")).clip(lower_bound=0).fill_null(0)
"""How long after its intended start an exchange began: 0 in a closed loop, and of a client that does not say."""
ORIGIN = LOOKED_UP - WAITED
"""The origin of an exchange's delays: its intended start, put off by its name lookup."""


@dataclass(frozen=True)
class Metric:
    """A definition that yields a number with a unit.

    `value` is computed over the columns of `Exchange`, of the exchange's trial and of its flow
    (`wirelab.metrics.dataset`); it is null where the metric does not apply. `among` says which exchanges it is of, by
    the columns of `exchanges.parquet`, whether they have a value or timed out. `about` says what is measured and
    whose definition it is.
    """

    name: str
    unit: str
    about: str
    value: pl.Expr
    of: str = "exchange"
    among: pl.Expr = EVERY
    cpu_time: bool = False

    @property
    def timed(self) -> bool:
        """Whether what endpoints wait for a CPU, and how late a link is, is in it: not in counts, and of CPU times only
        what a hypervisor took can be.
        """
        return not self.cpu_time and self.unit not in {"bytes", "packets", ""}

    @property
    def column(self) -> str:
        """Its column in `exchanges.parquet` or `trials.parquet`."""
        stem = self.name.replace("-", "_")
        return stem if stem.endswith(f"_{self.unit}") or not self.unit else f"{stem}_{self.unit}"


def since(instant: str, origin: pl.Expr) -> pl.Expr:
    """Nanoseconds from `origin` to an instant; null if either was not seen."""
    return pl.col(instant) - origin


def when_completed(value: pl.Expr) -> pl.Expr:
    """The value for completed exchanges only: timed-out ones are censored and failed ones have no delay."""
    return pl.when(COMPLETED).then(value)
