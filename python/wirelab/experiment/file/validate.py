"""A file read as far as it can be, so that all mistakes are reported together."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from wirelab.errors import CombinedError, Where, WirelabError
from wirelab.experiment.file.model import ExperimentFile
from wirelab.experiment.file.positions import Path
from wirelab.experiment.file.problems import problems
from wirelab.experiment.file.sets import PLAIN
from wirelab.experiment.file.source import Source
from wirelab.experiment.link import without_parts

_ROUNDS = 3
"""What is left without a wrong value may be wrong in another way, such as a table without what it needs."""
_TITLE = "?"
"""Stands for one that is missing."""


def validate(source: Source) -> tuple[ExperimentFile, Source, list[WirelabError]]:
    """The file and the source without what is wrong in them, and what that is. Raises where too little is left."""
    document = copy.deepcopy(source.document)
    wrong: list[WirelabError] = []
    for _ in range(_ROUNDS):
        try:
            file = ExperimentFile.model_validate(_without_parts(document), context=source.files)
        except ValidationError as error:
            # What comes later comes of what was taken out.
            wrong = wrong or problems(error, ExperimentFile, source.where)
            for detail in error.errors(include_url=False):
                _remove(document, tuple(detail["loc"]), missing=detail["type"] == "missing")
        else:
            return file, replace(source, document=document), wrong
    raise combined(wrong)


def without_echoes(found: Iterable[WirelabError], wrong: Iterable[WirelabError]) -> list[WirelabError]:
    """Errors that are not there for the sake of another, which was taken out: those about the same table or a part of
    it.
    """
    keys = [f"{_key(error)}." for error in wrong]
    return [
        error
        for error in found
        if not any(key.startswith(f"{_key(error)}.") or f"{_key(error)}.".startswith(key) for key in keys)
    ]


def is_whole(table: str, wrong: Iterable[WirelabError]) -> bool:
    """Whether nothing was taken out of a table, so that what is missing there was never there."""
    return not any((_key(error) or "").split(".")[0] == table for error in wrong)


def kinds_are_known(wrong: Iterable[WirelabError]) -> bool:
    """Whether no kind of a workload is wrong, so that what belongs to it can be checked."""
    keys = [(_key(error) or "").strip('"') for error in wrong]
    return not any(key.endswith("workload.kind") or re.fullmatch(r"workloads\..*\.kind", key) for key in keys)


def is_apart(error: WirelabError) -> bool:
    """Whether scenarios are the same with this mistake and without it."""
    key = _key(error)
    return key is not None and key.split(".")[0] in PLAIN


def in_order(errors: Iterable[WirelabError]) -> list[WirelabError]:
    """In the file's order; what stands elsewhere comes first."""
    return sorted(errors, key=lambda error: _position(error.where))


def combined(wrong: list[WirelabError]) -> WirelabError:
    """One error of one or several."""
    return wrong[0] if len(wrong) == 1 else CombinedError(wrong)


def _without_parts(document: dict[str, Any]) -> dict[str, Any]:
    """Without what can only be judged once the file's layers are merged."""
    document = dict(document)
    if "link" in document:
        document["link"] = without_parts(document["link"])
    if isinstance(links := document.get("links"), dict):
        document["links"] = {name: without_parts(link) for name, link in links.items()}
    return document


def _remove(document: dict[str, Any], path: Path, *, missing: bool) -> None:
    """Take out what is wrong, or the table that lacks something."""
    if missing and path == ("title",):
        document["title"] = _TITLE
        return
    path = path[:-1] if missing else path
    table: Any = document
    for part in path[:-1]:
        inner = table.get(part) if isinstance(table, dict) else None
        if not isinstance(inner, dict):
            # Inside a value that is read as a whole.
            table.pop(part, None)
            return
        table = inner
    if path[:1] in {("links",), ("protocols",)} and len(path) == 2:
        # Others may name it.
        table[path[-1]] = {}
    elif path:
        table.pop(path[-1], None)


def _key(error: WirelabError) -> str | None:
    return error.where.key if isinstance(error.where, Where) else None


def _position(where: Where | str | None) -> tuple[int, int]:
    return (where.line or 0, where.column or 0) if isinstance(where, Where) else (0, 0)
