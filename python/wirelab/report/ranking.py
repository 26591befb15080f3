"""Scenarios that differ in protocol, ranked by the campaign's statistic, and those that do not differ significantly
from the first.
"""

from __future__ import annotations

from collections.abc import Iterable

from wirelab.report.campaign import Campaign
from wirelab.report.missing import why_missing, why_not_compared
from wirelab.report.model import Scenario, Series, metric_name
from wirelab.report.numbers import Estimate
from wirelab.report.protocols import is_reference
from wirelab.schema.estimates import ComparisonRecord, Quality
from wirelab.statistic import MEAN, MEDIAN, key_of, least_values, quantile_of
from wirelab.stats.compare.link_error import quality_of
from wirelab.stats.compare.scenarios import ERROR_RATE
from wirelab.stats.link.grade import GRADES


def value(campaign: Campaign, scenario: Scenario) -> Estimate | None:
    """What ranks a scenario: the campaign's statistic of the headline metric."""
    return scenario.estimate(campaign.metric, key_of(campaign.statistic))


def kinds(campaign: Campaign, scenarios: Iterable[Scenario]) -> list[tuple[str, list[Scenario]]]:
    """Scenarios of encrypted and of unencrypted protocols, which are ranked apart, each with that word; all together
    without a word if the application protocols are all alike. A reference without encryption is with its like.
    """
    every = list(scenarios)
    applications = {is_encrypted(campaign, each.protocol) for each in _series(every) if not is_reference(each.protocol)}
    if len(applications) < 2:
        return [("", every)]
    apart: dict[str, list[Scenario]] = {"encrypted": [], "unencrypted": []}
    for scenario in every:
        apart["encrypted" if is_encrypted(campaign, scenario.series.protocol) else "unencrypted"].append(scenario)
    return list(apart.items())


def is_encrypted(campaign: Campaign, protocol: str) -> bool:
    """Whether a protocol of the campaign encrypts; one that nothing is known of does not."""
    described = campaign.plan.known.protocol(protocol)
    return described is not None and described.secure


def _series(scenarios: Iterable[Scenario]) -> list[Series]:
    return list(dict.fromkeys(scenario.series for scenario in scenarios))


def ranked(campaign: Campaign, scenarios: Iterable[Scenario]) -> list[Scenario]:
    """Application protocols with a value that may be compared, the smallest first."""
    values = []
    for scenario in scenarios:
        found = value(campaign, scenario)
        if is_reference(scenario.series.protocol) or not scenario.compared(campaign.metric):
            continue
        if found is not None and found.point is not None:
            values.append((found.point, scenario))
    return [scenario for _, scenario in sorted(values, key=lambda pair: pair[0])]


def above_time_out(campaign: Campaign, scenarios: Iterable[Scenario]) -> list[Scenario]:
    """Scenarios in which so many exchanges timed out that the statistic is above the timeout."""
    statistic = key_of(campaign.statistic)
    compared = [scenario for scenario in scenarios if scenario.compared(campaign.metric)]
    return [scenario for scenario in compared if scenario.above_s(campaign.metric, statistic) is not None]


def unclear(campaign: Campaign, first: Scenario, others: Iterable[Scenario]) -> list[Scenario]:
    """The others that may have as low a delay as the first: the interval of the ratio contains 1, or there
    is no comparison. Near or above the timeout the ratio has no interval, and the test of the shift decides.
    """
    return [other for other in others if not _takes_longer(campaign, other, first)]


def lacking(campaign: Campaign, scenarios: Iterable[Scenario]) -> dict[str, list[Scenario]]:
    """Application protocols that are neither ranked nor above the timeout, by the reason why."""
    every = [scenario for scenario in scenarios if not is_reference(scenario.series.protocol)]
    placed = {scenario.key for scenario in (*ranked(campaign, every), *above_time_out(campaign, every))}
    found: dict[str, list[Scenario]] = {}
    for scenario in every:
        if scenario.key not in placed:
            found.setdefault(why_unranked(campaign, scenario), []).append(scenario)
    return found


def why_unranked(campaign: Campaign, scenario: Scenario) -> str:
    """Why a scenario has no value of the statistic that ranks."""
    if scenario.key in campaign.unsupported:
        return f"not supported: {campaign.unsupported[scenario.key].rstrip('.')}"
    if not scenario.compared(campaign.metric):
        return why_not_compared(scenario)
    found, least = scenario.metric(campaign.metric), least_values(quantile_of(campaign.statistic))
    if found is not None and found["n"] < least:
        return f"it has {found['n']} of the {least:,} values that it needs"
    return why_missing(scenario, campaign.metric, "no exchange completed")


def wins(campaign: Campaign, first: Scenario, others: Iterable[Scenario]) -> bool:
    """Whether the first clearly has the smallest value: each of the others takes longer, by a comparison of usable
    quality. Without others there is nothing to win.
    """
    against = list(others)
    found = [quality(campaign, other, first) for other in against]
    usable = all(each is not None and each["flag"] != GRADES[-1] for each in found)
    return bool(against) and usable and not unclear(campaign, first, against)


def comparison(campaign: Campaign, a: Scenario, b: Scenario) -> ComparisonRecord | None:
    """The comparison of two scenarios in the headline metric, in either direction; None if there is none."""
    pairs, metric = ((a.key, b.key), (b.key, a.key)), metric_name(campaign.metric)
    every = campaign.estimates["comparisons"]
    return next(
        (each for each in every if (each["a"], each["b"]) in pairs and metric_name(each["metric"]) == metric), None
    )


def ratio(campaign: Campaign, a: Scenario, b: Scenario) -> Estimate | None:
    """Ratio of the statistic that ranks, a over b, looked up in either direction."""
    found = comparison(campaign, a, b)
    if found is None:
        return None
    by = {MEDIAN: found["ratio_of_medians"], MEAN: found["ratio_of_means"]}
    times = Estimate.of(by.get(campaign.statistic, found.get("ratio_of_percentiles")))
    if times is None or not times.point:
        return None
    if found["a"] == a.key:
        return times
    low, high = (1 / bound if bound else None for bound in (times.high, times.low))
    return Estimate(1 / times.point, low, high, times.level, times.n, times.method)


def quality(campaign: Campaign, a: Scenario, b: Scenario) -> Quality | None:
    """The quality of the ratio of the two; None if they are not compared."""
    found = comparison(campaign, a, b)
    of = {MEAN: "mean", MEDIAN: "median"}.get(campaign.statistic, "percentile")
    return None if found is None else quality_of(found, of)


def _takes_longer(campaign: Campaign, other: Scenario, first: Scenario) -> bool:
    times = ratio(campaign, other, first)
    if times is None or times.point is None:
        is_longer = other.above_s(campaign.metric, key_of(campaign.statistic)) is not None
    elif times.low is None and times.high is None:
        is_longer = times.point > 1
    else:
        return (times.low or 0) > 1
    found = comparison(campaign, other, first)
    return is_longer and found is not None and found["p_adjusted"] < ERROR_RATE
