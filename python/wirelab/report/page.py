"""A campaign to its page: load, build the blocks, fill the template, replace the file in one step."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from wirelab import __version__
from wirelab.errors import WirelabError
from wirelab.launcher import launched
from wirelab.report import palette
from wirelab.report.blocks import Cell, Section
from wirelab.report.campaign import Campaign, load
from wirelab.report.figures.svg import font_face, unchecked
from wirelab.report.first_chart import FirstChart
from wirelab.report.grade import LINK, MACHINE, PREVIEW, blamed, grade, graded
from wirelab.report.layers import Layers, first, layers
from wirelab.report.sections.claims import verdict_cell
from wirelab.report.sections.common import LINK_TONES
from wirelab.report.statement import Statement
from wirelab.report.terms import Terms
from wirelab.schema.verdicts import ClaimRecord
from wirelab.units import format_duration

TEMPLATES = Path(__file__).parent / "templates"
BACKTICKS = re.compile(r"`([^`<>]+)`")
CODED = re.compile(r"(<code>.*?</code>)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
INTERVAL = re.compile(r"(\S+) ([\[(].*[\])])")
WIDTH = re.compile(r'\bwidth="([\d.]+)"')
NO_RESULT = (
    (
        LINK,
        "The link differed from its configuration, so the results are not usable. See Emulation accuracy.",
    ),
    (
        MACHINE,
        "CPU contention delayed endpoints, so the results are not usable. See Emulation accuracy.",
    ),
)
"""The warning for an unusable campaign, by cause."""


@dataclass(frozen=True)
class Header:
    """The top of the first screen."""

    name: str
    title: str
    doi: str | None
    grade: Cell | None
    facts: list[str]
    warnings: list[str]
    answer: Sequence[Statement]
    verdicts: list[Cell]
    cautions: Sequence[Statement] = ()
    """What may mislead a reader of the answer."""
    more: Sequence[Statement] = ()
    """Sentences that the answer has no room for."""
    chart: FirstChart | None = None
    chips: bool = True
    """Whether the verdicts stand on the first screen."""
    measured: str = ""
    """The day of the measurement."""
    made_from: str = "the files next to it"


def write_page(folder: Path, out: Path | None = None) -> Path:
    """Write the page of a campaign directory. Raises `WirelabError` where that is not possible."""
    if not folder.is_dir():
        raise WirelabError(f"'{folder}' is not a campaign: not a directory", hint=f"{launched('run FILE')} makes one")
    path = out if out is not None else folder / "report.html"
    campaign = load(folder, path.parent)
    return write_text(path, render(campaign))


def write_text(path: Path, text: str) -> Path:
    """Write a file in one step, with its folder. Raises `WirelabError` where that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".{path.name}.{os.getpid()}")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise WirelabError(f"cannot write {path}: {error.strerror}") from error
    return path


def render(campaign: Campaign) -> str:
    """The page as text; the same for the same files."""
    with unchecked():
        top = header(campaign)
        return fill(top, layers(campaign, top.chart), campaign.estimates["level"])


def fill(top: Header, parts: Sequence[Section] | Layers, level: float) -> str:
    """The template with a header and what follows it, in layers or as sections alone; `level` is that of intervals."""
    terms = Terms(parts.terms if isinstance(parts, Layers) else [])
    charts, evidence = (parts.charts, parts.evidence) if isinstance(parts, Layers) else (parts, [])
    return template("page.html.j2", terms).render(
        header=top,
        reset=terms.reset,
        layered=isinstance(parts, Layers),
        charts=charts,
        evidence=evidence,
        colors=colors(),
        css=Markup(f"{font_face()}\n{(TEMPLATES / 'report.css').read_text(encoding='utf-8')}"),
        script=Markup((TEMPLATES / "report.js").read_text(encoding="utf-8")),
        version=__version__,
        level=f"{level:.0%}".replace("%", "\u00a0%"),
    )


def template(name: str, terms: Terms) -> jinja2.Template:
    """A template with the filters of all of them; `terms` are explained where they stand first."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"options": options, "number": number, "width": drawn_width, "terms": terms.marked}
    environment.globals["shapes"] = palette.MARKS
    return environment.get_template(name)


def options(text: str) -> Markup:
    """A text with its `--options`, and with what stands between backticks, as code."""
    coded = BACKTICKS.sub(r"<code>\1</code>", str(escape(text)))
    parts = CODED.split(coded)
    return Markup("".join(part if i % 2 else OPTION.sub(r"<code>\g<0></code>", part) for i, part in enumerate(parts)))


def number(text: str) -> Markup | str:
    """A cell's text; of a number with its interval each is whole, so that a line may break between them alone."""
    found = INTERVAL.fullmatch(text)
    return text if found is None else Markup("<span>{}</span> <span>{}</span>").format(found[1], found[2])


def drawn_width(svg: str) -> str:
    """The width of a drawing in pixels."""
    found = WIDTH.search(svg)
    return found[1] if found is not None else "0"


def header(campaign: Campaign) -> Header:
    """Title, quality, counts, and the first layer with a chip for each claim."""
    experiment = campaign.experiment
    title, quality, facts = experiment.title or experiment.name, _grade(campaign), _facts(campaign)
    warnings, chips = _warnings(campaign), [_chip(claim) for claim in campaign.claims]
    fixed = [experiment.name, title, experiment.doi or "", quality.text, *facts, *warnings]
    shown = first(campaign, fixed, chips)
    return Header(
        name=experiment.name, title=title, doi=experiment.doi, grade=quality, facts=facts, warnings=warnings,
        answer=shown.answer, verdicts=chips, cautions=shown.cautions, more=shown.more, chart=shown.chart,
        chips=shown.chips, measured=_measured(campaign),
    )  # fmt: skip


def _chip(claim: ClaimRecord) -> Cell:
    against = "the publication's own numbers or its experiment contradict it" if claim["contradiction"] else None
    cell = verdict_cell(claim["verdict"], claim["link"], head=f"{claim['id']} ")
    return replace(cell, title=claim["text"], href=f"#claim-{claim['id']}", reason=against)


def _grade(campaign: Campaign) -> Cell:
    flag = grade(campaign)
    return Cell(graded(campaign), tone="unsure" if flag == PREVIEW else LINK_TONES.get(flag, "bad"))


def _facts(campaign: Campaign) -> list[str]:
    ends = [each.outcomes for each in campaign.scenarios if each.outcomes is not None]
    exchanges, completed = sum(each["exchanges"] for each in ends), sum(each["completed"] for each in ends)
    trials = sum(each["trials"] for each in ends)
    sent = sum(each["sent"] for each in ends)
    return [
        f"{len(campaign.scenarios)} scenario{'s' * (len(campaign.scenarios) != 1)}",
        f"{trials:,} trial{'s' * (trials != 1)}",
        f"{completed:,} of {exchanges:,} exchange{'s' * (exchanges != 1)} completed{f', {sent:,} sent' * bool(sent)}",
    ]


def _measured(campaign: Campaign) -> str:
    """The day of the last trial; empty before the first."""
    return max((entry.written for entry in campaign.journal.values()), default="")[:10]


def _warnings(campaign: Campaign) -> list[str]:
    warnings = []
    if grade(campaign) == "unusable":
        to_blame = blamed(campaign.estimates)
        warnings += [words for cause, words in NO_RESULT if cause in to_blame]
    if quick := campaign.quick_run:
        (of_trials, trials), (of_each, each) = quick.replicates, quick.exchanges
        budget = format_duration(quick.budget_ns)
        warnings.append(
            f"A quick run in {budget}, not conclusive: {trials} of {of_trials} trials of each scenario, {each} of "
            f"{of_each} exchanges each."
        )
    if campaign.unfinished:
        warnings.append(campaign.unfinished)
    return warnings


def colors() -> dict[str, dict[str, str]]:
    """CSS variables of the palette, by theme."""
    return {
        theme: {f"s{i}": color for i, color in enumerate(series)} | {f"p{i}": color for i, color in enumerate(parts)}
        for theme, series, parts in (
            ("light", palette.LIGHT, palette.PARTS_LIGHT),
            ("dark", palette.DARK, palette.PARTS_DARK),
        )
    }
