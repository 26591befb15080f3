"""The names of the metrics of energy and of their columns. Defines no metric."""

from __future__ import annotations

from itertools import product

BOUNDS = {"typical": "", "low": "-least", "high": "-most"}
"""The endings of metrics of the model's range."""
RADIO, MESSAGE, DAY, TRIAL = "radio-energy", "message-energy", "day-energy", "trial-radio-energy"


def column(what: str, bound: str) -> str:
    """The column that a metric is made of."""
    return f"{what.replace('-', '_')}_{bound}"


def columns(*whats: str) -> list[str]:
    """Those of all bounds."""
    return [column(what, bound) for what, bound in product(whats, BOUNDS)]
