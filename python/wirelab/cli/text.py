"""Text for a terminal or a pipe: columns, sections and paragraphs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wirelab.errors import WirelabError, did_you_mean
from wirelab.launcher import launched

WIDTH = 100


def columns(rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """Rows as aligned columns, two spaces apart; `right` are the columns of numbers."""
    lines = [list(row) for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def find(name: str, known: Any, what: str) -> Any:
    """An item by its name, or an error with the nearest name."""
    if name not in known:
        raise WirelabError(f"unknown {what} '{name}'", hint=did_you_mean(name, known, launched(f"list {what}s")))
    return known[name]


def head(name: str, title: str) -> str:
    """The first line."""
    return f"{name}: {title}"


def section(title: str, rows: Iterable[Sequence[str]]) -> str:
    """Columns below a title."""
    return "\n".join([title, textwrap.indent(columns(rows), "  ")])


def paragraph(text: str, indent: str = "") -> str:
    """Filled lines."""
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def hanging(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Labels and texts; a long text continues below its beginning."""
    known = list(rows)
    width = max(len(label) for label, _ in known) + 4
    lines = [
        textwrap.fill(
            text,
            WIDTH,
            initial_indent=f"  {label}".ljust(width),
            subsequent_indent=" " * width,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for label, text in known
    ]
    return "\n".join([title, *lines])


def below(title: str, texts: Mapping[str, str]) -> str:
    """Labels that are long, each with its text below."""
    return "\n".join([title, *(f"  {label}\n{paragraph(text, indent='    ')}" for label, text in texts.items())])
