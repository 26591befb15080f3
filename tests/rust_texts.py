"""The texts of a Rust file that users may see: string literals, and doc comments that become help or a schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

TOKEN = re.compile(
    r"""
    (?P<doc>///(?!/)[^\n]*)
    | //[^\n]* | /\*.*?\*/
    | (?P<derive>\#\[derive\([^]]*\)\])
    | (?P<test>\#\[cfg\([^]]*\btest\b[^]]*\)\])
    | \b[bc]?r(?P<fence>\#*)"(?P<raw>.*?)"(?P=fence)
    | "(?P<plain>(?:\\.|[^"\\])*)"
    | '(?:\\[^']+|\\'|[^'\\])'
    | (?P<mark>[{};])
    """,
    re.VERBOSE | re.DOTALL,
)
SHOWN = re.compile(r"\b(Args|JsonSchema|Parser|Subcommand|ValueEnum)\b")
"""What an item derives if its doc comments are help texts or descriptions in a schema."""


class _Region(NamedTuple):
    """What stands between braces."""

    tests: bool = False
    shown: bool = False


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Each text with its line, except those of items that only tests have."""
    regions = [_Region()]
    item, documents = _Region(), list[tuple[int, str]]()
    for token in TOKEN.finditer(source):
        line = source.count("\n", 0, token.start()) + 1
        around = regions[-1]
        if token["doc"]:
            documents.append((line, token["doc"][3:].strip()))
        elif token["derive"]:
            item = item._replace(shown=item.shown or bool(SHOWN.search(token["derive"])))
        elif token["test"]:
            item = item._replace(tests=True)
        elif token["mark"]:
            inner = _Region(around.tests or item.tests, around.shown or item.shown)
            if inner.shown and not inner.tests:
                yield from _joined(documents)
            if token["mark"] == "{":
                regions.append(inner)
            elif token["mark"] == "}":
                regions.pop()
            item, documents = _Region(), []
        elif not (around.tests or item.tests) and (text := _literal(token)):
            yield line, text


def _joined(documents: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The paragraphs of an item's doc comments; each has the line of its beginning."""
    first = 0
    for end in range(1, len(documents) + 1):
        if end == len(documents) or documents[end][0] != documents[end - 1][0] + 1:
            yield documents[first][0], " ".join(text for _, text in documents[first:end])
            first = end


def _literal(token: re.Match[str]) -> str | None:
    """What a literal says: continued lines are joined, and what is put in by name is `{}`."""
    text = token["raw"]
    if token["plain"] is not None:
        text = re.sub(r"\\\n\s*", "", token["plain"]).replace("\\n", "\n").replace('\\"', '"')
    return None if text is None else re.sub(r"\{\w+[^{}]*\}", "{}", text)
