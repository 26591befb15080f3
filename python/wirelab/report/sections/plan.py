"""What was asked: factors, seeds, replicates, links and workloads."""

from __future__ import annotations

from typing import Any

from wirelab.report.blocks import Block, Cell, Column, Group, Items, Prose, Section, Table, number
from wirelab.report.campaign import Campaign
from wirelab.report.model import Json, levels_words
from wirelab.report.workload_words import workload_words
from wirelab.schema import link_key
from wirelab.units import format_duration


def section(campaign: Campaign) -> Section:
    """The resolved experiment in words."""
    experiment = campaign.experiment
    blocks: list[Block] = [Prose(_summary(campaign)), _factors(experiment)]
    links: dict[str, Json] = {}
    workloads = list(dict.fromkeys(workload_words(s.plan.get("workload") or {}) for s in campaign.scenarios))
    for scenario in campaign.scenarios:
        link = scenario.plan.get("link") or {}
        links.setdefault(f"{scenario.plan.get('link_name')}: {chain(campaign.plan, link)}", link)
    rows = [[Cell(text.partition(": ")[0]), Cell(text.partition(": ")[2])] for text in links]
    table = Table(
        "Links as told", [Column("link", numeric=False), Column("impairments, in order", numeric=False)], rows
    )
    blocks.append(table if len(rows) <= 8 else Group(f"All {len(rows)} links as told", [table]))
    return Section("plan", "Plan", [*blocks, Items([f"Workload: {words}." for words in workloads])])


def chain(plan: Json, link: Json) -> str:
    """A link of a plan in words, from the client's radio to the far end."""
    facts = (plan.get("link_facts") or {}).get(link_key(link))
    if facts is None:
        return "as another version of Wirelab has it: plan.json"
    return "; ".join(f"{where} {what}" for where, what in facts["words"])


def _summary(campaign: Campaign) -> str:
    plan, stop = campaign.plan, campaign.experiment.get("stop") or {}
    blocks = plan.get("blocks") or []
    trials = sum(len(block["trials"]) for block in blocks)
    low, high = (stop.get("replicates") or [len(blocks), len(blocks)])[:2]
    replicates = f"{low} trials" if low == high else f"{low} to {high} trials"
    rule = "fixed in advance"
    if interval := stop.get("interval"):
        rule = f"until the interval is within {interval['relative']:.0%} of the {interval['of']}"
    budget = f", no new block after {format_duration(stop['budget_ns'])}" if stop.get("budget_ns") else ""
    return (
        f"{len(campaign.scenarios)} scenarios, {replicates} of each ({rule}{budget}), {trials} trials planned in "
        f"{len(blocks)} blocks; a block holds one "
        f"trial of every scenario in random order. Campaign seed {plan.get('seed')}."
    )


def _factors(experiment: Json) -> Table:
    rows = [
        [Cell(path), Cell(levels_words(path, levels)), number(len(levels), 0)]
        for path, levels in (experiment.get("factors") or {}).items()
    ]
    rows += [
        [Cell(f"--set {path}"), Cell(levels_words(path, levels)), number(len(levels), 0)]
        for path, levels in _sets(experiment.get("sets"))
    ]
    columns = [Column("factor", numeric=False), Column("levels as written", numeric=False), Column("how many")]
    return Table("Factors", columns, rows)


def _sets(sets: Any) -> list[tuple[str, list[Any]]]:
    if isinstance(sets, dict):
        return [(path, levels if isinstance(levels, list) else [levels]) for path, levels in sets.items()]
    return [(str(text).partition("=")[0], [str(text).partition("=")[2]]) for text in sets or []]
