"""TOML of users' files: read, or refused with one error whatever is in them."""

from __future__ import annotations

import re
import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.opened import read_bytes

DEEPEST = 32
"""Tables and arrays in one another. What reads a document calls itself for each."""
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_DEEP_KEY = re.compile(rf"(?<![\w-]){_PART}(?:\.[ \t]*+{_PART}){{{DEEPEST},}}")


def parse_toml(text: str, where: Where) -> dict[str, Any]:
    """A document. Raises `WirelabError`: not TOML, or nested too deeply."""
    check_keys(text, where)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # Beside its own errors, tomllib has Python's of long numbers and of deep nesting.
        raise WirelabError(f"is not TOML: {error}", where) from None
    check_depth(document, where)
    return document


def check_keys(text: str, where: Where) -> None:
    """Raise `WirelabError` for a key of too many parts, for which `tomllib` takes the square of their number."""
    if (key := _DEEP_KEY.search(text)) is not None:
        line = text.count("\n", 0, key.start()) + 1
        column = key.start() - text.rfind("\n", 0, key.start())
        raise _too_deep(Where(where.source, line, column))


def check_depth(document: Any, where: Where | str) -> None:
    """Raise `WirelabError` for tables and arrays that are nested more than `DEEPEST` times."""
    level = [document]
    for _ in range(DEEPEST + 1):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise _too_deep(where)


def read_text(file: Path | Traversable, where: Where) -> str:
    """What a file says, without a byte order mark. Raises `WirelabError` as `opened.read_bytes` does, or not UTF-8."""
    content = read_bytes(file, where) if isinstance(file, Path) else file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WirelabError(f"is not UTF-8 (byte {error.start})", where) from None


def _inside(value: Any) -> list[Any]:
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in values if isinstance(each, dict | list)]


def _too_deep(where: Where | str) -> WirelabError:
    return WirelabError(f"is nested more than {DEEPEST} times", where, "write fewer tables or arrays in one another")
