"""What a part of an exchange contributes to the mean of all, 0 where it did not happen. Resamples nothing."""

from __future__ import annotations

from wirelab.schema.estimates import MetricRecord


def contribution(part: MetricRecord, exchanges: int) -> float | None:
    """The mean of a part over all completed exchanges; None without a value, or if none completed.

    Contributions of parts that make up an exchange add up to the mean of the whole.
    """
    point = part["mean"]["point"]
    return None if point is None or not exchanges else point * part["n"] / exchanges


def always(part: MetricRecord, exchanges: int) -> bool:
    """Whether it happened in every completed exchange, so that its mean is its contribution."""
    return part["n"] == exchanges
