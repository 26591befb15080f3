"""Estimates of one quantity, and the words that grade them."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from wirelab.schema.bounds import document

Grade = Literal["good", "limited", "unusable"]
Flag = Literal["good", "limited", "unusable", "not measured"]
"""Quality of a link's direction; `not measured` where nothing passed."""
End = Literal["client", "server"]
Way = Literal["uplink", "downlink"]
EXACT = "exact for this phase"
"""The method of a number that was the same in every trial under the virtual clock."""
EXACT_IN_PHASES = "exact in every phase tried"
"""The same, where each trial had other phases."""


@document
class EstimateRecord(TypedDict):
    """A number with its interval. Times are in seconds, sizes in bytes, rates in bit/s, energies in J."""

    point: float | None
    """The estimate; null if it lies above the time-out or cannot be formed, and `method` says why."""
    low: float | None
    """Lower bound; null if no interval can be given, and `method` says why."""
    high: float | None
    """Upper bound; null if no interval can be given."""
    level: float
    """Confidence level of the interval, as a fraction."""
    n: int
    """Number of values."""
    method: str
    """How the estimate and its interval were made."""


@document
class ModeRecord(TypedDict):
    """One mode of a distribution: its range, and its share of the values."""

    low: float
    """Lower end of its range."""
    high: float
    """Upper end of its range."""
    share: EstimateRecord
    """Share of the values, as a fraction."""


@document
class PublishedRuleRecord(TypedDict):
    """Values beyond three scaled median absolute deviations removed."""

    removed: int
    """Values that were removed."""
    removed_retransmission_hit: int | None
    """Of the removed values those that a retransmission or loss touched; null where these were not seen."""
    retransmission_hit: int | None
    """Values that a retransmission or loss touched; null if these were not seen."""
    mean: EstimateRecord
    """Mean of the other values."""
    sd: EstimateRecord
    """Standard deviation of the other values."""
    note: str | None
    """A sentence if the median absolute deviation is 0, else null."""


@document
class MetricRecord(TypedDict):
    """One metric of one scenario: completed exchanges, or whole trials of what endpoints used."""

    unit: str
    """Unit of all its numbers."""
    n: int
    """Number of values. Of delays it counts those that timed out, as above the time-out."""
    mean: EstimateRecord
    """Mean; of delays with time-outs counted at `horizon_s`, else over completed exchanges."""
    sd: EstimateRecord
    """Standard deviation of completed exchanges."""
    median: EstimateRecord
    """Median."""
    quantiles: dict[str, EstimateRecord | None]
    """Quantiles by probability, such as `"0.95"`. Null where there are too few values: below 100 for 0.05 and 0.95,
    below 1,000 for 0.99.
    """
    modes: list[ModeRecord]
    """Modes of the distribution."""
    horizon_s: NotRequired[float]
    """Seconds at which time-outs count in the mean. Only of delays that a time-out bounds."""
    time_outs_in_mean: NotRequired[float]
    """Fraction of the mean that time-outs make. Above 0.05 the horizon decides the mean. Only with `horizon_s`."""
    late_share: NotRequired[EstimateRecord | None]
    """Fraction of completed and timed-out exchanges with a delay above 1 s; null if the time-out is shorter and some
    timed out. Only with `horizon_s`.
    """
    published_rule: PublishedRuleRecord | None
    """The same after the outlier rule of the papers; null for what is not a time."""
