"""The terms and metrics of the report."""

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
        "unsupported; what nothing answers is sent.",
    ),
    (
        "Interval",
        "The range that resampling the trials, then the exchanges within them, gives at the level of the table. "
        "[61, 63] means that values outside would surprise.",
    ),
    (
        "Offered, served",
        "Messages a second of an open loop: those that were due, and those that were served. If more is offered than "
        "is served, delays grow as long as a trial lasts.",
    ),
    ("Configured, measured", "What the link was configured to do, and what it did according to its own packet log."),
    (
        "Quality",
        "The worst flag of the links used and of the endpoints' CPU waiting: good, limited (noticeable, but small "
        "compared with the effects) or unusable.",
    ),
    (
        "Confirmed, contradicted, inconclusive",
        "A direction is confirmed if the interval of the ratio excludes 1 on its side. A published magnitude is "
        "confirmed if our interval lies within it divided and multiplied by 1.25, contradicted if it lies outside, "
        "else inconclusive.",
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
