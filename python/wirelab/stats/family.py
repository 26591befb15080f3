"""Correction for a family of tests: adjusted p values in the order given."""

from __future__ import annotations

from collections.abc import Sequence


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's step-up: controls the false discovery rate."""
    order = sorted(range(len(p)), key=lambda i: p[i], reverse=True)
    adjusted = [0.0] * len(p)
    running = 1.0
    for position, index in enumerate(order):
        running = min(running, p[index] * len(p) / (len(p) - position))
        adjusted[index] = running
    return adjusted


def bonferroni(error_rate: float, size: int) -> float:
    """Level of each of so many intervals that all hold together, but for this error rate."""
    return 1 - error_rate / max(size, 1)
