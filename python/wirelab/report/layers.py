"""A campaign in three layers: the answer, which fits a screen, the charts, and the evidence, which is closed.

Decides what stands where. Computes no statistic and draws nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from wirelab.report.answer import cautions, findings
from wirelab.report.blocks import Block, Cell, Figure, Grid, Group, Legend, Prose, Section
from wirelab.report.campaign import Campaign
from wirelab.report.figures.svg import NARROW
from wirelab.report.first_chart import FirstChart, first_chart
from wirelab.report.sections import CHARTS, SECTIONS
from wirelab.report.sections.glossary import terms
from wirelab.report.statement import Statement, word_count
from wirelab.report.terms import Term

MOST_WORDS = 120
"""In the answer, with the words of its chart."""
CONTROLS = 15
"""Words of what every answer has: contents, names of its parts, buttons and the summary of the other sentences."""
ABOUT = "How to read it, and its tables"
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class First:
    """The first layer: sentences, what may mislead, the other sentences, and the chart."""

    answer: Sequence[Statement]
    cautions: Sequence[Statement]
    more: Sequence[Statement]
    chips: bool
    """Whether there is room for a chip of each claim."""
    chart: FirstChart | None


@dataclass(frozen=True)
class Layers:
    """What a page has after its answer."""

    charts: Sequence[Section]
    evidence: Sequence[Section]
    terms: Sequence[Term]


def layers(campaign: Campaign, chart: FirstChart | None) -> Layers:
    """The sections by layer. What the answer's chart shows whole is not drawn again."""
    whole = chart.section if chart is not None and chart.whole else None
    built = [(build in CHARTS, section) for build in SECTIONS if (section := build(campaign)) is not None]
    drawn = [(layer and has_figure(section.blocks), section) for layer, section in built if section.id != whole]
    charts = [charted(section) for is_chart, section in drawn if is_chart]
    return Layers(charts, [section for is_chart, section in drawn if not is_chart], terms(campaign))


def first(campaign: Campaign, fixed: Iterable[str], chips: Sequence[Cell]) -> First:
    """The first layer with as many sentences as there is room for; `fixed` are the other texts of it.

    The first finding has its place. Next are the chips of claims, the first caution, findings that compare, and then
    the others. A sentence comes with those that belong to it.
    """
    chart = first_chart(campaign)
    texts = [*fixed, *(chart_texts(chart) if chart is not None else [])]
    room = MOST_WORDS - CONTROLS - sum(word_count(text) for text in texts)
    # A paper's claims are what its campaign is asked for.
    found = sorted(findings(campaign), key=lambda each: not each.href.startswith("#claim"))
    warned = cautions(campaign)
    lead, shown = _lead(found, room), set[int]()
    room -= sum(map(_size, lead))
    chipped = sum(word_count(chip.text) for chip in chips)
    fits = 0 < chipped <= room
    room -= chipped * fits
    order = [*warned[:1], *sorted(found[1:], key=lambda each: each.minor), *warned[1:]]
    for each in order:
        if (size := _size(each)) <= room:
            shown.add(id(each))
            room -= size
    whole = lead == found[:1]
    more = [each for i, each in enumerate(found) if id(each) not in shown and not (i == 0 and whole)]
    return First(
        answer=[*lead, *(each for each in found[1:] if id(each) in shown)],
        cautions=[each for each in warned if id(each) in shown],
        more=[*more, *(each for each in warned if id(each) not in shown)],
        chips=fits,
        chart=chart,
    )


def _lead(found: Sequence[Statement], room: int) -> list[Statement]:
    """The first finding, with as many of the sentences that belong to it as there is room for."""
    if not found:
        return []
    lead, kept = found[0], list[Statement]()
    room -= lead.words
    for each in lead.more:
        if (size := _size(each)) <= room:
            kept.append(each)
            room -= size
    return [lead if kept == list(lead.more) else replace(lead, more=kept)]


def _size(statement: Statement) -> int:
    return statement.words + sum(map(_size, statement.more))


def chart_texts(chart: FirstChart) -> Iterator[str]:
    """What a reader sees of a chart: its legend, its caption and the words in it."""
    if chart.legend is not None:
        yield from (entry.text for entry in chart.legend.entries)
    yield chart.figure.caption
    wide, _, _ = chart.figure.svg.partition(NARROW)
    yield _TAG.sub(" ", wide)


def charted(section: Section) -> Section:
    """A section of charts: its sentence, its charts, and all else behind a summary."""
    seen, about = [], list[Block]()
    for block in section.blocks:
        if isinstance(block, Legend) or has_figure([block]):
            seen.append(closed(block))
        else:
            about.append(block)
    line = [Prose(section.line)] if section.line else []
    return replace(section, blocks=[*line, *seen, *([Group(ABOUT, about)] if about else [])])


def closed(block: Block) -> Block:
    """The same with its data tables closed, also those of the charts inside it."""
    match block:
        case Figure():
            return replace(block, open=False)
        case Grid():
            return replace(block, figures=[replace(figure, open=False) for figure in block.figures])
        case Group():
            return replace(block, blocks=[closed(each) for each in block.blocks])
        case _:
            return block


def has_figure(blocks: Iterable[Block]) -> bool:
    """Whether a chart is among them, or inside one of them."""
    return any(
        isinstance(block, Figure | Grid) or (isinstance(block, Group) and has_figure(block.blocks)) for block in blocks
    )
