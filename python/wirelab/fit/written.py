"""Quantities as a link file has them."""

from __future__ import annotations


def milliseconds(nanoseconds: float) -> str:
    """A duration as a link file has it, to the microsecond."""
    return f"{round(nanoseconds / 1e3) / 1e3 + 0.0:.12g} ms"


def percent(fraction: float) -> str:
    """A share as a link file has it."""
    return f"{fraction * 100:.4g} %"
