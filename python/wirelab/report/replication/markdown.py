"""The page of a replication as Markdown, with its pictures as files next to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path
from textwrap import wrap

from wirelab.report.blocks import (
    Block,
    Cell,
    Column,
    Definitions,
    Figure,
    Grid,
    Group,
    Items,
    Legend,
    Prose,
    ReplicatedClaims,
    Table,
)
from wirelab.report.figures.svg import FONT, font_face
from wirelab.report.markdown import table
from wirelab.report.page import TEMPLATES, Header, colors, write_text
from wirelab.report.replication import page, sections
from wirelab.report.replication.page import LEVEL
from wirelab.schema.replication import Replication

WIDTH = 180
"""Of a line of a long sentence."""
MADE = "`wirelab replicate` makes this page from the replications that ship."


def write_markdown(records: Sequence[Replication], out: Path) -> list[Path]:
    """Write the page and its pictures; returns their paths, the page first. Raises `WirelabError` where that fails."""
    if len(records) == 1:
        head, parts = page.header_of_paper(records[0]), sections.sections(records[0])
    else:
        head, parts = page.header_of_all(records), page.sections_of_all(records)
    pictures: dict[Path, str] = {}
    lines = [*_header(head), *([MADE, ""] if len(records) > 1 else [])]
    for part in parts:
        lines += [f"## {part.title}", ""]
        for block in part.blocks:
            lines += _block(block, out, pictures)
    text = "\n".join(lines).rstrip() + "\n"
    return [write_text(out, text), *(write_text(path, svg) for path, svg in pictures.items())]


def _header(head: Header) -> Iterator[str]:
    yield from (f"# {head.title}", "", f"{', '.join(head.facts)}.", "")
    for warning in head.warnings:
        yield from (f"**{warning}**", "")
    for statement in head.answer:
        yield from _sentences(statement.text)
        for each in statement.more:
            yield from _item(each.text)
        yield ""


def _item(text: str) -> Iterator[str]:
    """An item of a list, a sentence a line."""
    first, *more = _sentences(text)
    yield from (f"- {first}", *(f"  {sentence}" for sentence in more))


def _block(block: Block, out: Path, pictures: dict[Path, str]) -> list[str]:
    lines: list[str] = []
    match block:
        case Prose():
            lines = [*_sentences(block.text), ""]
        case Items():
            lines = [*(line for item in block.items for line in _item(item)), ""]
        case Definitions():
            lines = [*(line for term, meaning in block.terms for line in _item(f"**{term}**: {meaning}")), ""]
        case Table():
            lines = _table(block.caption, block.shown.columns, block.shown.rows)
        case ReplicatedClaims():
            lines = _claims(block)
        case Figure():
            lines = _figure(block, out, pictures)
        case Legend():
            marks = [f"{str(each.shape).replace('-', ' ')}: {each.text}" for each in block.entries if each.text]
            lines = [f"Marks: {'; '.join(marks)}.", ""] if marks else []
        case Group(summary=title, blocks=inside) | Grid(title=title, figures=inside):
            head = [f"### {title}", ""] if title else []
            lines = [*head, *(line for each in inside for line in _block(each, out, pictures))]
    return lines


def _figure(figure: Figure, out: Path, pictures: dict[Path, str]) -> list[str]:
    path = out.with_name(f"{out.stem}-{len(pictures) + 1}.svg")
    pictures[path] = _standalone(figure.svg)
    title = [f"**{figure.title}**", ""] if figure.title else []
    return [*title, f"![{figure.label}]({path.name})", "", *_sentences(figure.caption), ""]


def _standalone(svg: str) -> str:
    """A picture as a file of its own: with its name space, its font, and the colours of the palette."""
    css = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    light, dark = (
        " ".join(f"--{name}: {color};" for name, color in each.items()) + root
        for each, root in zip(colors().values(), re.findall(r":root {(.*?)}", css, re.DOTALL), strict=True)
    )
    page = f"background: var(--paper); font-family: {FONT}, sans-serif"
    style = f"{font_face()} svg {{ {light} {page} }} @media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}"
    opened = re.sub(r"^<svg", '<svg xmlns="http://www.w3.org/2000/svg"', svg)
    return re.sub(r"(<svg[^>]*>)", rf"\1<style>{style}</style>", opened, count=1) + "\n"


def _claims(block: ReplicatedClaims) -> list[str]:
    columns = [Column("claim"), Column("verdict"), *block.columns, Column("what it says"), Column("why")]
    rows = [[Cell(each.id), each.verdict, *each.cells, Cell(f"{each.text}."), each.why] for each in block.claims]
    more = [
        line
        for each in block.claims
        for head, sentence in zip(chain([f"- **{each.id}**: "], repeat("  ")), each.more, strict=False)
        for line in wrap(sentence, WIDTH, initial_indent=head, subsequent_indent="  ")
    ]
    return [
        *_table(block.caption, columns, rows),
        *(["### What stands behind the reasons", "", *more, ""] if more else []),
    ]


def _table(caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> list[str]:
    return table(caption, columns, rows, f"{LEVEL:.0%}")


def _sentences(text: str) -> list[str]:
    """One sentence a line."""
    return re.split(r"(?<=[.!?]) (?=[A-Z])", text) if text else []
