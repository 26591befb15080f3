"""What was asked: factors, seeds, replicates, links and workloads."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from wirelab.report.blocks import Block, Cell, Column, Group, Items, Prose, Section, Table, number
from wirelab.report.campaign import Campaign
from wirelab.report.model import Json, levels_words
from wirelab.schema import LinkSpec
from wirelab.schema.link_words import link_words
from wirelab.site import count
from wirelab.units import format_duration, format_size


def section(campaign: Campaign) -> Section:
    """The resolved experiment in words."""
    experiment = campaign.experiment
    blocks: list[Block] = [Prose(_summary(campaign)), _factors(experiment)]
    links: dict[str, Json] = {}
    workloads = list(dict.fromkeys(workload_words(s.plan.get("workload") or {}) for s in campaign.scenarios))
    for scenario in campaign.scenarios:
        link = scenario.plan.get("link") or {}
        links.setdefault(f"{scenario.plan.get('link_name')}: {chain(link)}", link)
    rows = [[Cell(text.partition(": ")[0]), Cell(text.partition(": ")[2])] for text in links]
    table = Table(
        "Links as told", [Column("link", numeric=False), Column("impairments, in order", numeric=False)], rows
    )
    blocks.append(table if len(rows) <= 8 else Group(f"All {len(rows)} links as told", [table]))
    return Section("plan", "Plan", [*blocks, Items([f"Workload: {words}." for words in workloads])])


def chain(link: Json) -> str:
    """A link in words, from the client's radio to the far end."""
    try:
        words = link_words(LinkSpec.model_validate(link))
    except ValidationError:
        return "as another version of Wirelab has it: plan.json"
    return "; ".join(f"{where} {what}" for where, what in words)


def workload_words(workload: Json) -> str:
    """A workload in words."""
    if not workload:
        return "unknown"
    if workload.get("kind") in {"notify", "stream"}:
        return _telling_words(workload)
    if workload.get("kind") == "page":
        return _page_words(workload)
    arrival = workload.get("arrival") or {}
    process = {"closed": "the next starts when one ends"}.get(
        str(arrival.get("process")), f"{arrival.get('process')} arrivals at {arrival.get('rate_hz')} /s"
    )
    connection = workload.get("connection") or {}
    policy = {
        "fresh": "a fresh connection for each",
        "resumed": "a connection for each that resumes the session before",
    }.get(str(connection.get("policy")), "kept connections: " + str(connection.get("connections")))
    if workload.get("kind") == "deliver":
        content = f"readings of {format_size(workload.get('message_bytes', 0))} delivered"
    else:
        content = (
            f"upload {format_size(workload.get('upload_bytes', 0))}, "
            f"download {_download_words(workload.get('download_bytes', 0))}"
        )
    clients = workload.get("clients", 1)
    of_each = f" of each of {clients} clients" if clients > 1 else ""
    return (
        f"{workload.get('exchanges')} exchanges a trial{of_each}, {content}; {process}, "
        f"{workload.get('concurrency')} at once; {policy}; "
        f"given up after {format_duration(workload.get('timeout_ns', 0))}"
    )


def _download_words(sizes: int | list[int]) -> str:
    return format_size(sizes) if isinstance(sizes, int) else " and ".join(map(format_size, sizes)) + " in turn"


def _page_words(workload: Json) -> str:
    page = workload.get("page") or {}
    return (
        f"{count(workload.get('loads', 0), 'load')} a trial of the page {page.get('name')} "
        f"({count(page.get('resources', 0), 'resource')}, "
        f"{format_size(page.get('body_bytes', 0))}), one after another, each without connections and with an empty "
        f"cache; given up after {format_duration(workload.get('timeout_ns', 0))}"
    )


def _telling_words(workload: Json) -> str:
    arrival = workload.get("arrival") or {"process": "fixed", "rate_hz": workload.get("rate_hz")}
    spacing = "evenly spaced" if arrival.get("process") == "fixed" else "Poisson"
    buffer = ""
    if (delay_ns := workload.get("playout_delay_ns")) is not None:
        buffer = f"; the player buffers {format_duration(delay_ns)}"
    return (
        f"{workload.get('kind')}: {workload.get('messages')} messages a trial of "
        f"{format_size(workload.get('message_bytes', 0))}, {spacing} at {arrival.get('rate_hz')} /s, to "
        f"{workload.get('subscribers', 1)} waiting; given up after {format_duration(workload.get('timeout_ns', 0))}"
        f"{buffer}"
    )


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
