"""Pairs of scenarios, and the quality of their comparison."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict

from wirelab.schema.bounds import document
from wirelab.schema.estimates.numbers import EstimateRecord, Grade


@document
class Family(TypedDict):
    """The comparisons whose error rate is controlled together."""

    name: str
    """Name of the family."""
    size: int
    """Number of comparisons."""
    method: str
    """How the error rate is controlled."""
    error_rate: float
    """The error rate that is controlled."""


@document
class Quality(TypedDict):
    """The quality of a comparison."""

    flag: Grade
    """The worst quality of the link, of the endpoints (not for counts), and, of a delay, of the link's mean error
    in relation to the difference.
    """
    why: str
    """The reason, as a sentence."""
    causes: list[str]
    """Which of `the link`, `the machine` and `the effect` make it worse than good. `disturbed exchanges` stands next to
    the link if the difference is not there without the exchanges during which the link was late.
    """
    error_s: float | None
    """The link's mean error over a round trip, in seconds; null if it does not apply."""


@document
class ComparisonRecord(TypedDict):
    """Two scenarios in one metric: `a` over, and minus, `b`."""

    metric: str
    """Name of the metric."""
    a: str
    """Key of a scenario."""
    b: str
    """Key of a scenario that differs in protocol or implementation alone."""
    ratio_of_means: EstimateRecord
    """Mean of `a` over mean of `b`."""
    ratio_of_medians: EstimateRecord
    """Median of `a` over median of `b`."""
    shift: EstimateRecord
    """Hodges-Lehmann estimate of `a` minus `b`."""
    cliffs_delta: EstimateRecord
    """Cliff's delta."""
    p: float
    """p-value of a permutation of whole trials."""
    p_adjusted: float
    """The same, adjusted for the family."""
    family: Family
    """The comparisons whose error rate is controlled together."""
    link: Quality
    """Quality of the comparison of medians, and of what is not a delay."""
    link_of_means: NotRequired[Quality]
    """Quality of the ratio of means. Only of delays."""
    ratio_of_percentiles: NotRequired[EstimateRecord]
    """Ratio of the percentiles that rank. Only if `statistic` is a percentile."""
    link_of_percentiles: NotRequired[Quality]
    """Quality of the ratio of percentiles. Only with `ratio_of_percentiles`."""
