"""Whether scenarios keep the bounds that an experiment expects."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from wirelab.schema.bounds import document
from wirelab.schema.estimates.numbers import EstimateRecord

Kept = Literal["kept", "missed", "inconclusive"]


@document
class ExpectationRecord(TypedDict):
    """One bound, and the statistic of one scenario."""

    subject: str
    """The statistic, its metric, and the levels that the bound is about, as in an experiment file."""
    bound: str
    """The bound, such as `< 800 ms`."""
    scenario: str
    """Key of the scenario."""
    name: str
    """Name of the scenario."""
    verdict: Kept
    """`kept` or `missed` if the whole interval says so, else `inconclusive`."""
    why: str | None
    """Why it is inconclusive; else null."""
    unit: str
    """Unit of the estimate."""
    estimate: EstimateRecord | None
    """The statistic; null without one."""
