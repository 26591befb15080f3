"""The names of the metrics of energy and of their columns. Defines no metric."""

from __future__ import annotations

from itertools import product

BOUNDS = {"typical": "", "low": "-least", "high": "-most"}
"""The endings of metrics of the model's range."""
RADIO, MESSAGE = "radio-energy", "message-energy"
"""Of an exchange by itself."""
INTERVAL, SETUP, DAY = "interval-energy", "setup-energy", "day-energy"
"""Of a message with the time behind it, of opening a connection, and of a day of such intervals."""
PART = "part-energy"
"""Of the part of a trial that is a message's, whatever was in it: no metric."""
TRIAL, TRIAL_SETUP, TRIAL_MESSAGES, TRIAL_CLOSING = (
    "trial-radio-energy", "trial-setup-energy", "trial-messages-energy", "trial-closing-energy",
)  # fmt: skip
"""Of a trial, and of its parts."""


def column(what: str, bound: str) -> str:
    """The column that a metric is made of."""
    return f"{what.replace('-', '_')}_{bound}"


def columns(*whats: str) -> list[str]:
    """Those of all bounds."""
    return [column(what, bound) for what, bound in product(whats, BOUNDS)]


def metric_column(what: str, bound: str) -> str:
    """The column of a metric in the tables of exchanges and of trials."""
    return f"{what}{BOUNDS[bound]}_j".replace("-", "_")


def every_bound(*whats: str) -> frozenset[str]:
    """The metrics of all bounds."""
    return frozenset(f"{what}{ending}" for what, ending in product(whats, BOUNDS.values()))
