"""Terms of the report, so that a number means the same to everybody."""

from __future__ import annotations

from wirelab.metrics.registry import METRICS
from wirelab.report.blocks import Definitions, Section
from wirelab.report.campaign import Campaign
from wirelab.report.model import metric_name
from wirelab.report.sections.common import metric_words

TERMS = (
    ("Scenario", "One point of the grid: protocol, implementation, link, workload and settings."),
    (
        "Trial, block",
        "One execution of a scenario with its seed, holding many exchanges; one trial of each scenario, in random "
        "order.",
    ),
    (
        "Exchange",
        "One request and its answer, or one load of a page, with its instants. It completed, failed, timed out or is "
        "unsupported.",
    ),
    (
        "Interval",
        "What resampling the trials, then the exchanges within them, supports at the level that the table states. "
        "[61, 63] means that values outside would surprise.",
    ),
    ("Configured, measured", "What the link was configured to do, and what it did according to its own packet log."),
    (
        "Quality",
        "The worst flag of the links used, and of what the endpoints waited for a CPU: good, limited (enough "
        "to see, small against the effects) or unusable.",
    ),
    (
        "Confirmed, contradicted, inconclusive",
        "A direction is confirmed if the interval of the ratio excludes 1 on its side. A published magnitude is "
        "confirmed if our interval lies within it divided and multiplied by 1.25, contradicted if it lies apart, else "
        "inconclusive.",
    ),
    (
        "Under the published rule",
        "The same after removing values beyond three scaled median absolute deviations from the median, as "
        "milosevic2021 does.",
    ),
)


def section(campaign: Campaign) -> Section:
    """General terms, then each metric that was estimated with its definition."""
    used = {metric_name(name) for s in campaign.scenarios for name in s.metrics}
    metrics = [
        (metric_words(metric.name).capitalize(), metric.about) for metric in METRICS if metric_name(metric.name) in used
    ]
    return Section("glossary", "Glossary", [Definitions([*TERMS, *metrics])])
