"""`--set PATH=VALUE[,VALUE...]`: what it changes in an experiment file.

A path that can be varied becomes a factor, with one level or several, so that it holds in every scenario:
`--set link.rtt=50ms` overrides every link's. A key about the experiment itself (`seed`, `stop.replicates`, …) takes its
one value. A change of the workload's kind drops the keys that no new kind has, and says which.
"""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from wirelab.errors import Where, WirelabError
from wirelab.experiment.file.source import Source
from wirelab.experiment.file.workload import KEYS, KIND

PLAIN = (
    "title", "metric", "statistic", "doi", "claims", "seed", "clock", "capture", "offloads", "vary-choices", "stop",
    "energy", "expect",
)  # fmt: skip
"""First parts of the paths that cannot be varied."""
_WORKLOAD = re.compile(r"^(protocols\.[^.]+\.)?workload\.")


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
    return replace(source, document=document, sets=applied, notes=tuple(_drop_keys_of_other_kinds(document, applied)))


def _drop_keys_of_other_kinds(document: dict[str, Any], applied: Mapping[str, list[Any]]) -> Iterator[str]:
    """Keys that are set themselves stay: they are mistakes. So do all if no kind that is set is one."""
    kinds = [kind for kind in applied.get(KIND, []) if kind in KEYS]
    if not kinds:
        return
    known = {"kind", *(key for kind in kinds for key in KEYS[kind])}
    other = {key for keys in KEYS.values() for key in keys} - known
    workload, factors = document.get("workload", {}), document.get("factors", {})
    dropped = [key for key in workload if key in other]
    for key in dropped:
        del workload[key]
    varied = [path for path in factors if _WORKLOAD.sub("", path) in other and path not in applied]
    for path in varied:
        del factors[path]
    if dropped or varied:
        names = ", ".join([*(f"workload.{key}" for key in dropped), *varied])
        yield f"{KIND} is {' or '.join(kinds)}, which has no {names}: left out"


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
        raise WirelabError(f"needs one value, not {len(levels)}", Where("--set", key=path))
    *tables, key = path.split(".")
    table = document
    for name in tables:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise WirelabError(f"{name} is not a table", Where("--set", key=path))
    table[key] = levels[0]
