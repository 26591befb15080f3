"""`--set PATH=VALUE[,VALUE...]`: what it changes in an experiment file.

A path that can be varied becomes a factor, with one level or several, so that it holds in every scenario:
`--set link.rtt=50ms` overrides every link's. A key about the experiment itself (`seed`, `stop.replicates`, …) takes its
one value.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from wirelab.errors import Where, WirelabError
from wirelab.experiment.file.source import Source

PLAIN = ("title", "metric", "doi", "claims", "seed", "capture", "offloads", "stop", "energy")
"""First parts of the paths that cannot be varied."""


def apply_sets(source: Source, sets: Iterable[str]) -> Source:
    """The source with every `--set` in force, the last one of a path holding."""
    document, applied = copy.deepcopy(source.document), dict(source.sets)
    for text in sets:
        path, sign, values = text.partition("=")
        path = path.strip()
        if not sign or not path or not values.strip():
            raise WirelabError(f"not PATH=VALUE ({text})", Where("--set"), hint="such as --set link.rtt=2ms,20ms")
        levels = [read_value(part) for part in split_values(values)]
        if path.split(".")[0] in PLAIN:
            _assign(document, path, levels)
        else:
            document.setdefault("factors", {})[path] = levels
        applied[path] = levels
    return replace(source, document=document, sets=applied)


def split_values(text: str) -> list[str]:
    """Split at commas outside quotes, brackets and braces."""
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append("")
            continue
        parts[-1] += sign
    return [part.strip() for part in parts]


def read_value(text: str) -> Any:
    """A TOML value if it is one of a kind that experiment files use, else the words as they are."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError, KeyError):
        return text
    return value if isinstance(value, bool | int | str | list | dict) else text


def _assign(document: dict[str, Any], path: str, levels: list[Any]) -> None:
    if len(levels) > 1:
        raise WirelabError(f"takes one value, not {len(levels)}", Where("--set", key=path))
    *tables, key = path.split(".")
    table = document
    for name in tables:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise WirelabError(f"{name} is not a table", Where("--set", key=path))
    table[key] = levels[0]
