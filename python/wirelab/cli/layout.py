"""Descriptions for a terminal: heads, paragraphs, and labels with their texts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from wirelab.cli.table import columns

WIDTH = 100


def head(name: str, title: str) -> str:
    """A name with its title."""
    return f"{name}: {title}"


def section(title: str, rows: Iterable[tuple[str, ...]]) -> str:
    """Rows as columns below a title."""
    return "\n".join([title, textwrap.indent(columns(list(rows)), "  ")])


def paragraph(text: str, indent: str = "") -> str:
    """A text in lines."""
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
