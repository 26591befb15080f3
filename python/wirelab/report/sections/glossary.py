"""The terms and metrics of the report. Texts use them, and hovering there shows what they mean."""

from __future__ import annotations

import re

from wirelab.metrics.registry import METRICS
from wirelab.report.blocks import Definitions, Group, Section
from wirelab.report.campaign import Campaign
from wirelab.report.model import metric_name
from wirelab.report.sections.common import metric_words
from wirelab.report.terms import Term

TERMS = (
    Term(
        "Scenario",
        "One point of the grid: protocol, implementation, link, workload and settings.",
        ("scenarios?",),
    ),
    Term(
        "Trial, block",
        "One execution of a scenario with its seed, holding many exchanges; one trial of each scenario, in random "
        "order.",
        ("trials?", "blocks?"),
    ),
    Term(
        "Exchange",
        "One request and its answer, or one load of a page, with its instants. It completed, failed, timed out or is "
        "unsupported; what nothing answers is sent.",
        ("exchanges?",),
    ),
    Term(
        "Interval",
        "The range that resampling the trials, then the exchanges within them, gives at the level of the table. "
        "[61, 63] means that values outside would surprise.",
        ("intervals?",),
    ),
    Term(
        "Offered, served",
        "Messages a second of an open loop: those that were due, and those that were served. If more is offered than "
        "is served, delays grow as long as a trial lasts.",
        ("offered", "served"),
    ),
    Term(
        "Configured, measured",
        "What the link was configured to do, and what it did according to its own packet log.",
        ("configured",),
    ),
    Term(
        "Quality",
        "The worst flag of the links used and of the endpoints' CPU waiting: good, limited (noticeable, but small "
        "compared with the effects) or unusable.",
        ("quality",),
    ),
    Term(
        "Confirmed, contradicted, inconclusive",
        "A direction is confirmed if the interval of the ratio excludes 1 on its side. A published magnitude is "
        "confirmed if our interval lies within it divided and multiplied by 1.25, contradicted if it lies outside, "
        "else inconclusive.",
        ("confirmed", "contradicted", "inconclusive"),
    ),
    Term(
        "Under the published rule",
        "The same after removing values beyond three scaled median absolute deviations from the median, as "
        "milosevic2021 does.",
        ("published rule",),
    ),
)


def terms(campaign: Campaign) -> list[Term]:
    """General terms that the campaign has use for, then each metric that was estimated with its definition."""
    unused = {"Offered, served"} if not any(each.offered for each in campaign.scenarios) else set[str]()
    if not campaign.claims:
        unused |= {"Confirmed, contradicted, inconclusive", "Under the published rule"}
    used = {metric_name(name) for each in campaign.scenarios for name in each.metrics}
    metrics = [
        Term(metric_words(metric.name).capitalize(), metric.about, (re.escape(metric_words(metric.name)),))
        for metric in METRICS
        if metric_name(metric.name) in used
    ]
    return [*(term for term in TERMS if term.title not in unused), *metrics]


def section(campaign: Campaign) -> Section:
    """All of them, closed."""
    found = terms(campaign)
    entries = Definitions([(term.title, term.about) for term in found], [term.id for term in found])
    return Section("glossary", "Glossary", [Group(f"{len(found)} terms and metrics", [entries])])
