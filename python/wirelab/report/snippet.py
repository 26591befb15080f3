"""A campaign's answer or charts as a piece of HTML with its own colours, for a notebook. Computes no statistic."""

from __future__ import annotations

import re
from functools import cache

from markupsafe import Markup

from wirelab.report.blocks import Figure, Legend, Section, flat
from wirelab.report.campaign import Campaign
from wirelab.report.figures.svg import font_face
from wirelab.report.grade import graded
from wirelab.report.page import TEMPLATES, colors, header, template
from wirelab.report.terms import Terms

_VARIABLE = re.compile(r"--([\w-]+): (#[0-9a-f]{6})")
_USED = re.compile(r"var\(--([\w-]+)\)")


def answer(campaign: Campaign) -> str:
    """The first sentences of a report with their chart, how many exchanges they rest on, and the quality."""
    top = header(campaign)
    said = [each.text for statement in [*top.answer, *top.cautions] for each in (statement, *statement.more)]
    shown = [] if top.chart is None else [top.chart.figure]
    legend = None if top.chart is None else top.chart.legend
    quality = "" if top.grade is None else top.grade.text
    return _filled(title=top.title, said=[*top.warnings, *said], quality=quality, facts=top.facts, charts=shown,
                   legend=legend)  # fmt: skip


def charts(campaign: Campaign, section: Section) -> str:
    """The charts of a section with their legend, and the quality of what they show."""
    blocks = [block for block, _ in flat(section.blocks)]
    return _filled(
        title=section.title, said=[section.line] if section.line else [], quality=graded(campaign), facts=[],
        charts=[each for each in blocks if isinstance(each, Figure)],
        legend=next((each for each in blocks if isinstance(each, Legend)), None),
    )  # fmt: skip


@cache
def light() -> dict[str, str]:
    """The colour of each variable of the page on paper."""
    css = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    return {**dict(_VARIABLE.findall(css.partition("@media")[0])), **colors()["light"]}


def resolved(markup: str) -> Markup:
    """HTML or SVG with colours in place of the page's variables."""
    return Markup(_USED.sub(lambda used: light()[used[1]], markup))


def _filled(**parts: object) -> str:
    return resolved(template("snippet.html.j2", Terms([])).render(font=Markup(font_face()), **parts))
