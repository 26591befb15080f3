"""Tables of which a file's links have parts: judged with what the layers below them have."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from pydantic import ValidationError

from wirelab.errors import Where, WirelabError
from wirelab.experiment.file.model import ExperimentFile
from wirelab.experiment.file.positions import Path
from wirelab.experiment.file.problems import problems
from wirelab.experiment.file.source import Source
from wirelab.experiment.grid.points import Factor
from wirelab.experiment.link import MERGED, LinkConflictError, LinkTable, merge


def check_parts(source: Source, file: ExperimentFile, factors: Iterable[Factor]) -> list[WirelabError]:
    """What is wrong in tables that layers have parts of, once the file's layers are merged."""
    base = source.document.get("link", {})
    wrong: dict[str, WirelabError] = {}
    for name in file.links:
        own = source.document["links"][name]
        varied = {factor.parts[1 if factor.parts[0] == "link" else 2] for factor in factors if _varies(factor, name)}
        if varied & {"profile", "signal", "technology"}:
            # Then only a scenario has the whole.
            continue
        profile = own.get("profile", base.get("profile"))
        try:
            merged = merge([base, *([source.profile(profile).link] if profile is not None else []), own])
        except (WirelabError, LinkConflictError):
            # It is reported for the layer, or for the scenario.
            continue
        parts = {
            key: merged[key] for key in MERGED if key not in varied and (key in own or key in base) and key in merged
        }
        try:
            LinkTable.model_validate(parts, context=source.files)
        except ValidationError as error:
            for problem in problems(error, LinkTable, partial(_part_where, source, name)):
                wrong.setdefault(str(problem), problem)
    return list(wrong.values())


def _varies(factor: Factor, link: str) -> bool:
    return len(factor.parts) > 1 and (
        factor.parts[0] == "link"
        or (factor.parts[0] == "links" and factor.parts[1:2] == (link,) and len(factor.parts) > 2)
    )


def _part_where(source: Source, link: str, key: Path) -> Where:
    """The layer that has the key, or else the upper one that has its table."""
    layers: list[Path] = [("links", link), ("link",)]
    for depth in (len(key), 1):
        for layer in layers:
            if (*layer, *key[:depth]) in source.index:
                return source.where((*layer, *key))
    return source.where(("links", link, *key))
