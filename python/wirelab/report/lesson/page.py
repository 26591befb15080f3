"""The page of a lesson: one idea, two charts, one exchange as packets, a question, and a lab sheet with its key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from wirelab.metrics.dataset import EXCHANGES
from wirelab.metrics.draws import packets_drawn
from wirelab.metrics.exchange_rows import exchanges_of
from wirelab.metrics.one_exchange import late_exchange, one_exchange
from wirelab.metrics.packet_diagram import packet_diagram
from wirelab.metrics.packets import packets_of
from wirelab.metrics.tables import read_table
from wirelab.report.blocks import Block, Cell, Code, Figure, Grid, Group, Legend, Prose, Section
from wirelab.report.campaign import Campaign
from wirelab.report.exact import words
from wirelab.report.export.charts import basis
from wirelab.report.grade import grade, graded
from wirelab.report.lesson import charts
from wirelab.report.page import Header, fill
from wirelab.report.sections.common import LINK_TONES, legend
from wirelab.schema.campaign import TRIALS
from wirelab.stats.estimate.model import LEVEL

if TYPE_CHECKING:
    from pathlib import Path

    from rich.text import Text

    from wirelab.lessons.lesson import Lesson
    from wirelab.schema.exact import Exact

ABOUT_PACKETS = "The client is left, the server right, and time goes down. A cross is a packet that the link lost."


@dataclass(frozen=True)
class Contents:
    """What a lesson shows of what was run, and what that rests on."""

    figures: Sequence[Figure]
    legend: Legend | None
    packets: Sequence[str]
    facts: Sequence[str]
    warnings: Sequence[str]
    quality: Cell | None
    rests_on: str


def of_campaign(lesson: Lesson, campaign: Campaign, changed: Sequence[str]) -> Contents:
    """Of a lesson that ran an experiment, of which the reader `changed` some values. Raises `WirelabError` if it lacks
    what the lesson shows.
    """
    figures = charts.of_campaign(lesson, campaign)
    by_color = any(chart.kind == "distribution" for chart in lesson.charts)
    return Contents(
        figures=figures,
        legend=legend(campaign) if by_color else None,
        packets=[*_diagram(lesson, campaign)],
        facts=[f"{len(campaign.scenarios)} scenarios", f"clock: {campaign.plan.clock}", f"seed {campaign.plan.seed}"],
        warnings=[*([] if campaign.unfinished is None else [campaign.unfinished]), *_changed(changed)],
        quality=Cell(graded(campaign), tone=LINK_TONES.get(grade(campaign), "bad")),
        rests_on=basis(campaign),
    )


def of_exact(lesson: Lesson, record: Exact, folder: Path, changed: Sequence[str]) -> Contents:
    """Of a lesson that enumerated lost packets, in this folder; the reader `changed` some values."""
    figures = charts.of_exact(lesson, record)
    scenario = next(each for each in record["scenarios"] if each["name"] == lesson.packets.case)
    packets, rows = packets_drawn(folder, scenario["trial"]), exchanges_of(folder, scenario["trial"])
    notes = {
        int(packet["sequence"]): (words.price(paid), "")
        for packet, paid in zip(packets, scenario["packets"], strict=True)
    }
    return Contents(
        figures=figures,
        legend=charts.legend_of(record),
        packets=_plain(packet_diagram(packets, rows, rows[0]["start_ns"], notes=notes)),
        facts=[f"{record['runs']:,} runs", "clock: virtual"],
        warnings=[*([] if record["bounded"] else [words.lead(record)]), *_changed(changed)],
        quality=None,
        rests_on=f"{words.lead(record)} {words.programs(record)} Emulated link; Wirelab {record['version']}, "
        f"Linux {record['kernel']}.",
    )


def _changed(values: Sequence[str]) -> list[str]:
    """That the lesson's text is about another run."""
    if not values:
        return []
    return [f"Changed for this run: {', '.join(values)}. Idea, answer and key are about the unchanged experiment."]


def lesson_page(lesson: Lesson, contents: Contents) -> str:
    """The page as text."""
    header = Header(
        name=f"lesson {lesson.name}", title=lesson.title, doi=None, grade=contents.quality, facts=[*contents.facts],
        warnings=[*contents.warnings], answer=(), verdicts=[], made_from="what it ran",
    )  # fmt: skip
    return fill(header, [*_sections(lesson, contents)], LEVEL)


def _sections(lesson: Lesson, contents: Contents) -> Iterator[Section]:
    yield Section("idea", "The idea", [*map(Prose, lesson.idea)])
    marks: list[Block] = [] if contents.legend is None else [contents.legend]
    # Bars have the words of their rows next to them, if they have the width of the page.
    bars = any(chart.kind == "amounts" for chart in lesson.charts)
    drawn: list[Block] = [*contents.figures] if bars else [Grid("", contents.figures)]
    yield Section("happened", "What happened", [*marks, *drawn, Prose(contents.rests_on)])
    about = Prose(f"{lesson.packets.about} {ABOUT_PACKETS}")
    diagram = Code("\n".join(contents.packets), f"{lesson.packets.case}, one exchange")
    yield Section("packets", "One exchange in packets", [about, diagram])
    yield Section("question", "Question", [Prose(lesson.question), Group("Answer", [Prose(lesson.answer)])])
    yield Section("sheet", "Lab sheet", [*_sheet(lesson)])
    key = [Prose(f"{number}. {task.key}") for number, task in enumerate(lesson.tasks, start=1)]
    yield Section("key", "Key", [Group("Key of the lab sheet", key)])


def _sheet(lesson: Lesson) -> Iterator[Block]:
    for number, task in enumerate(lesson.tasks, start=1):
        yield Prose(f"{number}. {task.do}")
        if task.command:
            yield Code(task.command, f"Command of task {number}")


def _diagram(lesson: Lesson, campaign: Campaign) -> Iterator[str]:
    """One exchange of the lesson's case, as packets."""
    wanted = lesson.packets
    key = charts.Shown(lesson, campaign).scenario(lesson.case(wanted.case)).key
    rows = read_table(campaign.folder / EXCHANGES).filter(pl.col("scenario") == key, pl.col("index") >= wanted.after)
    slowest = wanted.exchange == "slowest"
    one = late_exchange(rows) if wanted.exchange == "late" else one_exchange(rows, campaign.metric, slowest=slowest)
    found = one.to_dicts()
    if not found:
        yield "No exchange completed."
        return
    packets = packets_of(campaign.folder / TRIALS / found[0]["trial"], found, whole=False)
    yield from _plain(packet_diagram(packets, found, found[0]["start_ns"]))


def _plain(lines: Iterable[Text]) -> list[str]:
    return [line.plain.rstrip() for line in lines]
