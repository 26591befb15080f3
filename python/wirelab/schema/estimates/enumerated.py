"""What `wirelab exact` found of a scenario, next to its sample."""

from __future__ import annotations

from typing_extensions import TypedDict

from wirelab.schema.bounds import document
from wirelab.schema.estimates.numbers import EstimateRecord


@document
class EnumeratedShare(TypedDict):
    """The share of exchanges that take longer than a delay."""

    delay_s: float
    """The delay in seconds."""
    low: float
    """The least that the probability can be, by enumeration."""
    high: float
    """The most that it can be."""
    sampled: EstimateRecord
    """The share of the sample, of exchanges of all outcomes: one that did not complete took longer."""


@document
class EnumeratedRecord(TypedDict):
    """P(delay > x) by enumeration of lost packets, and of the sample. A delay counts from the start to the end."""

    shares: list[EnumeratedShare]
    """At the delays that were asked for."""
    delays_s: list[float]
    """Delays of the curves, in seconds."""
    low: list[float]
    """The least that the probability can be, at each of them."""
    high: list[float]
    """The most."""
    sampled: list[float]
    """The share of the sample at each of them."""
