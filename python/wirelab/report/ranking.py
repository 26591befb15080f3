"""Scenarios that differ in protocol, ranked by median, and those that do not differ significantly from the first."""

from __future__ import annotations

from collections.abc import Iterable

from wirelab.report.campaign import Campaign
from wirelab.report.model import Scenario, metric_name
from wirelab.report.numbers import Estimate
from wirelab.report.protocols import is_reference
from wirelab.schema.estimates import ComparisonRecord
from wirelab.stats.compare.scenarios import ERROR_RATE


def ranked(metric: str, scenarios: Iterable[Scenario]) -> list[Scenario]:
    """Application protocols with a median and with their settings in force, the smallest first."""
    medians = []
    for scenario in scenarios:
        median = scenario.estimate(metric, "median")
        if is_reference(scenario.series.protocol) or not scenario.plotted:
            continue
        if median is not None and median.point is not None:
            medians.append((median.point, scenario))
    return [scenario for _, scenario in sorted(medians, key=lambda pair: pair[0])]


def above_time_out(metric: str, scenarios: Iterable[Scenario]) -> list[Scenario]:
    """Scenarios in which half or more exchanges timed out."""
    return [scenario for scenario in scenarios if scenario.plotted and scenario.above_s(metric, "median") is not None]


def unclear(campaign: Campaign, first: Scenario, others: Iterable[Scenario]) -> list[Scenario]:
    """The others that may have as low a delay as the first: the interval of the ratio of medians contains 1, or there
    is no comparison. If a median is above the timeout there is no ratio, and the test of the shift decides.
    """
    return [other for other in others if not _takes_longer(campaign, other, first)]


def comparison(campaign: Campaign, a: Scenario, b: Scenario) -> ComparisonRecord | None:
    """The comparison of two scenarios in the headline metric, in either direction; None if there is none."""
    for each in campaign.estimates["comparisons"]:
        same = metric_name(each["metric"]) == metric_name(campaign.metric)
        if same and (each["a"], each["b"]) in ((a.key, b.key), (b.key, a.key)):
            return each
    return None


def ratio(campaign: Campaign, a: Scenario, b: Scenario) -> Estimate | None:
    """Ratio of medians of a over b, looked up in either direction."""
    found = comparison(campaign, a, b)
    value = None if found is None else Estimate.of(found["ratio_of_medians"])
    if found is None or value is None or not value.point:
        return None
    if found["a"] == a.key:
        return value
    low, high = (1 / bound if bound else None for bound in (value.high, value.low))
    return Estimate(1 / value.point, low, high, value.level, value.n, value.method)


def _takes_longer(campaign: Campaign, other: Scenario, first: Scenario) -> bool:
    times = ratio(campaign, other, first)
    if times is not None:
        return (times.low or 0) > 1
    found = comparison(campaign, other, first)
    return (
        other.above_s(campaign.metric, "median") is not None and found is not None and found["p_adjusted"] < ERROR_RATE
    )
