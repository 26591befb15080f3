"""`explain.json` and the page of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from wirelab.report.blocks import Cell, Column, Figure, Grid, Items, Section, Table
from wirelab.report.exact.page import EMULATION
from wirelab.report.explain import words
from wirelab.report.figures.bridge import CAUSED, MEAN, MEASURED, SMALL, UNEXPLAINED, Step, bridge
from wirelab.report.page import Header, fill, write_text
from wirelab.report.statement import Statement
from wirelab.schema.explain import EXPLAINED, Evidence, Explained
from wirelab.stats.estimate.model import LEVEL

LEAST = 0.01
"""A smaller part of the larger mean has no bar of its own."""
SLOTS: dict[Evidence, int] = {"caused": CAUSED, "measured": MEASURED, "unexplained": UNEXPLAINED}
HOW = (
    "Each scenario ran with every set of what its link does taken away.",
    "A cause contributes its Shapley value: its effect, averaged over all orders of taking causes away.",
    "It is split by the phases of an exchange, as the client measured them.",
    "What is left over a link that does nothing is unexplained: timers inside the programs, and what they wait for.",
    "An exchange that timed out counts as its time-out. One that failed is left out.",
    "All runs have the same random numbers, so they lose the same packets as long as packets come in the same order. "
    "After that they differ, so a cause without effect can show noise.",
    "Intervals are of trials, by Student's t. They are not adjusted for their number.",
)


def write_explained(record: Explained, folder: Path, page: str) -> str:
    """Write both; gives the text of the record. Raises `WirelabError` where that is not possible."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)
    write_text(folder / EXPLAINED, f"{text}\n")
    write_text(folder / page, fill(_header(record), sections(record), LEVEL))
    return text


def sections(record: Explained) -> list[Section]:
    """Of the page."""
    what = f"from {record['first']['name']} to {record['second']['name']}"
    svg = bridge("bridge", f"Shares of the difference {what}", _steps(record))
    split = _table("Mean time of an exchange, by phase and cause", words.shares(record), left=2)
    figure = Figure("", f"from A to B: {what}", "", svg, [split])
    found = [
        Section("shares", f"The difference, {what}", [Grid("", [figure])]),
        Section("levels", "What differs", [Items([*words.levels(record)])]),
    ]
    if record["what_ifs"]:
        found.append(
            Section("what-ifs", "What programs could do otherwise", [Items([*map(words.what_if, record["what_ifs"])])])
        )
    if tables := [_table(title, rows, left=1) for title, rows in words.resources(record)]:
        found.append(Section("resources", "Bytes and energy", tables))
    workloads = dict.fromkeys(side["workload"] for side in (record["first"], record["second"]))
    sides = [*words.sides(record), *(f"Exchanges: {workload}." for workload in workloads)]
    return [*found, Section("how", "How this was found", [Items([*sides, *HOW, *words.MEANINGS.values()])])]


def _header(record: Explained) -> Header:
    first, second = record["first"]["name"], record["second"]["name"]
    return Header(
        name=record["experiment"],
        title=f"Why {second} takes as long as it does, next to {first}",
        doi=None,
        grade=None,
        facts=[f"Wirelab {record['version']}", f"{record['clock']} clock", EMULATION],
        warnings=record["warnings"],
        answer=[Statement(words.lead(record), [Statement(words.cause(record)), Statement(words.programs(record))])],
        verdicts=[],
    )


def _steps(record: Explained) -> list[Step]:
    """Bars: both means, and between them every share that is large enough to be seen."""
    first, second = record["first"], record["second"]
    most = max(first["mean_s"]["point"], second["mean_s"]["point"])
    large = [each for each in record["shares"] if abs(each["difference_s"]["point"]) >= LEAST * most]
    small = [each["difference_s"]["point"] for each in record["shares"] if each not in large]
    steps = [Step(first["name"], first["mean_s"]["point"] * 1e3, words.ms(first["mean_s"]["point"]), MEAN, whole=True)]
    for each in large:
        point = each["difference_s"]["point"]
        steps.append(Step(words.name(each), point * 1e3, words.ms(point, sign=True), SLOTS[each["evidence"]]))
    if small:
        rest = sum(small)
        steps.append(Step(f"{len(small)} smaller shares", rest * 1e3, words.ms(rest, sign=True), SMALL))
    mean = second["mean_s"]["point"]
    return [*steps, Step(second["name"], mean * 1e3, words.ms(mean), MEAN, whole=True)]


def _table(caption: str, rows: Sequence[Sequence[str]], *, left: int) -> Table:
    head, *body = rows
    columns = [Column(title, numeric=left <= at < len(head) - (len(head) > 5)) for at, title in enumerate(head)]
    return Table(caption, columns, [[Cell(text) for text in row] for row in body])
