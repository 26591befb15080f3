"""What a publication leaves open, as data: choices with their levels, named interpretations, and the frozen digest.

Says what is wrong with them; judges nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, get_args

from pydantic import Field

from wirelab.claims.part import LATER, Levels, Statistic, Table, Time
from wirelab.errors import did_you_mean
from wirelab.experiment.file.positions import Path as KeyPath
from wirelab.experiment.file.problems import shown
from wirelab.schema.verdicts import Basis

if TYPE_CHECKING:
    from wirelab.claims.model import ClaimsFile, ClaimTable

ANY = "*"
"""In a printed number that an interpretation used: every level, or every metric."""

CANNOT_LEAD = ("fitted", "rival")
"""Bases of interpretations that may not be primary: they were chosen by results, or only to contest a cause."""

RULES = frozenset({"error_rate", "factor", "outlier_rule", "published_level", "metrics", "grid", "choices"})
"""Keys of the file that change verdicts, and are frozen with the claims."""


class Dated(Table):
    """Something that may have been written after data existed. It stands outside a digest that is older than it."""

    after_the_fact: Time | None = Field(default=None, alias=LATER)


class ChoiceTable(Dated):
    """A choice that the publication leaves open. `path` is a path of the experiment, or a name of `[metrics]` if it is
    open which metric the name means. The first level is the one that applies unless another is named. `for` and
    `against` quote the publication, by level.
    """

    path: str
    title: str
    levels: list[str] = Field(min_length=2)
    reasons_for: dict[str, str] = Field(default_factory=dict, alias="for")
    reasons_against: dict[str, str] = Field(default_factory=dict, alias="against")


class InterpretationTable(Dated):
    """A point of the grid with a name: `levels` of choices, the others at their first. `basis` says what it was chosen
    by, and `why` quotes or argues. `used` are the printed numbers that were used to choose it, each as a metric, the
    levels in the order of `[grid]`, and the statistic; `*` stands for every one. `used_claims` are claims that were
    used, of a publication that prints no numbers.
    """

    name: str
    title: str
    basis: Basis
    why: str
    levels: Levels
    used: list[list[str]] = Field(default_factory=list)
    used_claims: list[str] = Field(default_factory=list, alias="used-claims")


class FrozenTable(Table):
    """The digest of what was frozen, and when."""

    digest: str
    at: Time


def digest(file: ClaimsFile, at: datetime) -> str:
    """SHA-256, in hexadecimal, over what decides verdicts: the rules, and the claims, parts of claims, choices and
    interpretations that do not say that they were written after `at`. Canonical JSON, so that the order of keys and
    comments do not matter.
    """
    leading = primary_of(file)
    frozen = {
        "rules": file.model_dump(mode="json", include=set(RULES), exclude_defaults=True),
        "primary": file.primary if leading is None else leading.name if _by(leading, at) else None,
        "claims": _written_by([_with_parts_by(each, at) for each in file.claim], at),
        "choices": _written_by(file.choice, at),
        "interpretations": _written_by(file.interpretation, at),
    }
    text = json.dumps(frozen, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _written_by(tables: Iterable[Dated], at: datetime) -> list[dict[str, object]]:
    return [table.model_dump(mode="json", by_alias=True, exclude_defaults=True) for table in tables if _by(table, at)]


def _with_parts_by(claim: ClaimTable, at: datetime) -> ClaimTable:
    return claim.model_copy(update={"part": [part for part in claim.part if not _is_later(part.get(LATER), at)]})


def _is_later(when: object, at: datetime) -> bool:
    """A time without a zone is refused when the part is validated."""
    return isinstance(when, datetime) and when.tzinfo is not None and when > at


def _by(table: Dated, at: datetime) -> bool:
    return table.after_the_fact is None or table.after_the_fact <= at


def primary_form(value: object) -> object:
    """Refuses a primary that is neither a name nor levels, in one sentence."""
    if isinstance(value, str) or (isinstance(value, dict) and all(isinstance(each, str) for each in value.values())):
        return value
    raise ValueError("should be the name of an interpretation")


def primary_of(file: ClaimsFile) -> InterpretationTable | None:
    """The interpretation that is primary, if the publication has one."""
    return next((each for each in file.interpretation if each.name == file.primary), None)


def base_levels(file: ClaimsFile) -> Levels:
    """Each choice at its first level: what applies unless another is named."""
    return {choice.path: choice.levels[0] for choice in file.choice}


def first_levels(file: ClaimsFile) -> Levels:
    """The point of the grid that is judged first: that of the primary interpretation, or the first level of each
    choice.
    """
    if isinstance(file.primary, dict) and file.primary:
        return file.primary
    leading = primary_of(file)
    return base_levels(file) | (leading.levels if leading else {})


def mistakes(file: ClaimsFile) -> Iterator[tuple[KeyPath, str, str | None]]:
    """What is wrong: the key, a sentence, and a hint."""
    yield from chain(_names(file), _choices(file), _interpretations(file), _primary(file), _null_cell(file))


def _names(file: ClaimsFile) -> Iterator[tuple[KeyPath, str, str | None]]:
    for index, claim in enumerate(file.claim):
        if claim.id in {other.id for other in file.claim[:index]}:
            yield ("claim", index, "id"), f"is the name of another claim ({shown(claim.id)})", "give each its own"


def _choices(file: ClaimsFile) -> Iterator[tuple[KeyPath, str, str | None]]:
    for index, choice in enumerate(file.choice):
        at: KeyPath = ("choice", index)
        if choice.path in file.grid:
            yield (
                (*at, "path"),
                f"is varied by the publication ({shown(choice.path)})",
                "remove it from [grid], or here",
            )
        if choice.path in {other.path for other in file.choice[:index]}:
            yield (*at, "path"), f"is a choice already ({shown(choice.path)})", "write all its levels in one [[choice]]"
        for level in {level for level in choice.levels if choice.levels.count(level) > 1}:
            yield (*at, "levels"), f"has a level twice ({shown(level)})", None
        for key, quoted in (("for", choice.reasons_for), ("against", choice.reasons_against)):
            for level in quoted:
                yield from _known(f"level of {choice.path}", level, choice.levels, (*at, key, level))
        if (meant := file.metrics.get(choice.path)) is not None:
            for level in choice.levels:
                yield from _known(f"meaning of {choice.path}", level, meant, (*at, "levels"))
            if choice.levels[0] != meant[0]:
                first = f"does not begin with the metric that is judged by ({shown(choice.levels[0])})"
                yield (*at, "levels"), first, f"write {meant[0]} first"


def _interpretations(file: ClaimsFile) -> Iterator[tuple[KeyPath, str, str | None]]:
    levels, claims = {choice.path: choice.levels for choice in file.choice}, [claim.id for claim in file.claim]
    columns = [list(file.metrics), *file.grid.values(), list(get_args(Statistic))]
    names = ["metric", *(f"level of {path}" for path in file.grid), "statistic"]
    for index, each in enumerate(file.interpretation):
        at: KeyPath = ("interpretation", index)
        if each.name in {other.name for other in file.interpretation[:index]}:
            yield (*at, "name"), f"is the name of two interpretations ({shown(each.name)})", None
        for path, level in each.levels.items():
            yield from _known("choice", path, levels, (*at, "levels", path))
            if path in levels:
                yield from _known(f"level of {path}", level, levels[path], (*at, "levels", path))
        for claim in each.used_claims:
            yield from _known("claim", claim, claims, (*at, "used-claims"))
        if each.basis == "fitted" and not (each.used or each.used_claims):
            hint = "write used, a list of printed numbers, or used-claims, a list of claims"
            yield (*at, "basis"), f"names nothing that it was fitted to ({shown(each.name)})", hint
        for number, row in enumerate(each.used):
            if len(row) != len(columns):
                needs = f"needs a metric, {len(file.grid)} levels and a statistic ({shown(row)})"
                yield (*at, "used", number), needs, None
                continue
            for what, name, known in zip(names, row, columns, strict=True):
                if name != ANY:
                    yield from _known(what, name, known, (*at, "used", number))


def _primary(file: ClaimsFile) -> Iterator[tuple[KeyPath, str, str | None]]:
    at: KeyPath = ("primary",)
    if not isinstance(file.primary, str):
        if file.primary and file.choice:
            yield at, "must be the name of an interpretation, since there are choices", "write an [[interpretation]]"
        return
    yield from _known("interpretation", file.primary, [each.name for each in file.interpretation], at)
    leading = primary_of(file)
    if leading is not None and leading.basis in CANNOT_LEAD:
        what = f"may not be an interpretation of basis {leading.basis} ({shown(leading.name)})"
        yield at, what, "only what the text states or its baseline implies may lead; without one, leave it out"


def _null_cell(file: ClaimsFile) -> Iterator[tuple[KeyPath, str, str | None]]:
    for path, level in file.null_cell.items():
        yield from _known("factor", path, file.grid, ("null-cell", path))
        yield from _known(f"level of {path}", level, file.grid.get(path, [level]), ("null-cell", path))


def _known(what: str, name: str, known: Iterable[str], at: KeyPath) -> Iterator[tuple[KeyPath, str, str | None]]:
    if name not in (names := list(known)):
        yield at, f"unknown {what} ({shown(name)})", did_you_mean(name, names)
