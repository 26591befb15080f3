"""The plan: factors, seeds, replicates, links and workloads."""

from __future__ import annotations

from wirelab.report.blocks import Block, Cell, Column, Group, Items, Prose, Section, Table, number
from wirelab.report.campaign import Campaign
from wirelab.report.model import levels_words
from wirelab.report.workload_words import workload_words
from wirelab.schema import LinkFacts, LinkSpec, link_key
from wirelab.schema.plan import ExperimentRecord, Plan
from wirelab.units import format_duration


def section(campaign: Campaign) -> Section:
    """The resolved experiment in words."""
    experiment = campaign.experiment
    blocks: list[Block] = [Prose(_summary(campaign)), _factors(experiment)]
    links: dict[str, LinkSpec] = {}
    workloads = list(dict.fromkeys(workload_words(s.plan.workload) for s in campaign.scenarios))
    for scenario in campaign.scenarios:
        link = scenario.plan.link
        links.setdefault(f"{scenario.plan.link_name}: {chain(campaign.plan, link)}", link)
    rows = [[Cell(text.partition(": ")[0]), Cell(text.partition(": ")[2])] for text in links]
    table = Table(
        "Links as configured", [Column("link", numeric=False), Column("impairments, in order", numeric=False)], rows
    )
    blocks.append(table if len(rows) <= 8 else Group(f"All {len(rows)} links as configured", [table]))
    return Section("plan", "Plan", [*blocks, Items([f"Workload: {words}." for words in workloads])])


def chain(plan: Plan, link: LinkSpec) -> str:
    """A link of a plan in words, from the client's radio to the far end."""
    facts = plan.link_facts.get(link_key(link))
    if facts is None:
        return "written by another version of Wirelab: see plan.json"
    return link_words(facts)


def link_words(facts: LinkFacts) -> str:
    """A link in words, from the client's radio to the far end."""
    return "; ".join(f"{where} {what}" for where, what in facts.words)


def _summary(campaign: Campaign) -> str:
    plan, stop = campaign.plan, campaign.experiment.stop
    low, high = stop.replicates
    replicates = f"{low} trials" if low == high else f"{low} to {high} trials"
    rule = "fixed in advance"
    if stop.interval is not None:
        rule = f"until the interval is within {stop.interval.relative:.0%} of the {stop.interval.of}"
    budget = f", no new block after {format_duration(stop.budget_ns)}" if stop.budget_ns else ""
    return (
        f"{len(campaign.scenarios)} scenarios, {replicates} of each ({rule}{budget}), {plan.trials} trials planned in "
        f"{len(plan.blocks)} blocks; a block holds one "
        f"trial of every scenario in random order. Campaign seed {plan.seed}."
    )


def _factors(experiment: ExperimentRecord) -> Table:
    rows = [
        [Cell(path), Cell(levels_words(path, levels)), number(len(levels), 0)]
        for path, levels in experiment.factors.items()
    ]
    rows += [
        [Cell(f"--set {path}"), Cell(levels_words(path, levels)), number(len(levels), 0)]
        for path, levels in experiment.sets.items()
    ]
    columns = [Column("factor", numeric=False), Column("levels as written", numeric=False), Column("how many")]
    return Table("Factors", columns, rows)
