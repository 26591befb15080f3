"""Reads and validates a file of claims; each error has its line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from wirelab.claims import campaigns, inside, interpretations, one_line
from wirelab.claims.forms import FORMS
from wirelab.claims.model import Claim, ClaimsFile
from wirelab.claims.part import LATER, Form, Part, selectors
from wirelab.claims.settable import Mistakes, unknown_levels
from wirelab.errors import CombinedError, Where, WirelabError, did_you_mean
from wirelab.experiment.file.positions import Path as KeyPath
from wirelab.experiment.file.positions import Position, positions
from wirelab.experiment.file.problems import problems, shown
from wirelab.launcher import launched
from wirelab.metrics.described import described
from wirelab.toml import parse_toml, read_text

if TYPE_CHECKING:
    from wirelab.experiment.file.source import Source

SCALES = {"ms": 1e-3, "s": 1.0, "1": 1.0, "mJ": 1e-3, "J": 1.0}
LEAST_VALUES = 2
"""Of an interval."""
DURATIONS = ("horizon", "beyond")
"""Keys of parts that are compared with values of the part's metrics, which are then times."""
NOT_NEGATIVE = "a time, an energy and a standard deviation are at least 0"
T = TypeVar("T")


@dataclass(frozen=True)
class Claims:
    """A validated file of claims, with the published numbers in base units: `numbers` by metric, statistic and levels,
    and `values`, where every single one was published, by metric and levels.
    """

    name: str
    sha256: str
    file: ClaimsFile
    claims: tuple[Claim, ...]
    numbers: dict[tuple[str, str, frozenset[tuple[str, str]]], float]
    values: dict[tuple[str, frozenset[tuple[str, str]]], tuple[float, ...]]


def load(path: Path, *, to_freeze: bool = False, to_run: bool = False, of: Source | None = None) -> Claims:
    """Read a file of claims. Raises all its errors together; a digest that does not match is one, unless the file is
    about to be frozen anew. With `to_run`, the experiments of its campaigns must be there and take what is set, and
    one of them or the experiment that names the file (`of`) must take each factor and choice: a campaign keeps its
    claims without. What they do not take is raised first, for names elsewhere follow from it.
    """
    where = Where(str(path))
    text = read_text(path, where)
    document = parse_toml(text, where)
    place = _Place(str(path), positions(text))
    try:
        file = ClaimsFile.model_validate(document)
    except ValidationError as error:
        raise CombinedError(problems(error, ClaimsFile, place.where)) from None
    wrong: list[WirelabError] = []
    claims = [_claim(file, index, place, wrong) for index in range(len(file.claim))]
    wrong += [WirelabError(what, place.where(at), hint) for at, what, hint in campaigns.mistakes(file)]
    cannot = _cannot_be_run(file, path.parent, of) if to_run else ()
    if refused := [WirelabError(what, place.where(at), hint) for at, what, hint in cannot]:
        raise CombinedError(sorted([*wrong, *refused], key=_line))
    published = _Printed(file, place, wrong)
    numbers, values = published.numbers(), published.values()
    for known, name, path_ in _names(file, claims):
        if name not in known:
            wrong.append(WirelabError(f"unknown ({shown(name)})", place.where(path_), did_you_mean(name, known)))
    wrong += _not_times(file, claims, place)
    means = {*numbers, *((metric, "mean", levels) for metric, levels in values)}
    numbers_wrong = chain(inside.mistakes(file, means), one_line.mistakes(file))
    found = chain(interpretations.mistakes(file), numbers_wrong)
    wrong += [WirelabError(what, place.where(at), hint) for at, what, hint in found]
    frozen = file.frozen
    if not (to_freeze or wrong or frozen is None or frozen.digest == interpretations.digest(file, frozen.at)):
        changed = f"the claims or the grid changed after they were frozen ({shown(frozen.digest)})"
        wrong.append(WirelabError(changed, place.where(("frozen", "digest")), _thaw(path)))
    if wrong:
        raise CombinedError(sorted(wrong, key=_line))
    return Claims(path.name, hashlib.sha256(text.encode()).hexdigest(), file, tuple(claims), numbers, values)


def _cannot_be_run(file: ClaimsFile, folder: Path, of: Source | None) -> Mistakes:
    """What no experiment of the claims takes."""
    own = () if of is None else (of,)
    return chain(
        campaigns.cannot_be_run(file, folder), unknown_levels(file, chain(own, campaigns.sources(file, folder)))
    )


@dataclass(frozen=True)
class _Place:
    shown: str
    index: dict[KeyPath, Position]

    def where(self, path: KeyPath) -> Where:
        """The place of a key, or of the nearest table around it."""
        known = path
        while known and known not in self.index:
            known = known[:-1]
        position = self.index.get(known)
        line, column = (None, None) if position is None else (position.line, position.column)
        return Where(self.shown, line, column, ".".join(part for part in path if isinstance(part, str)) or None)


def _claim(file: ClaimsFile, index: int, place: _Place, wrong: list[WirelabError]) -> Claim:
    table = file.claim[index]
    parts, later = list[Form](), list[Form]()
    for number, part in enumerate(table.part):
        at: KeyPath = ("claim", index, "part", number)
        form = str(part.get("form", ""))
        if form not in FORMS:
            what = f"unknown form ({shown(form)})" if form else "has no form"
            wrong.append(WirelabError(what, place.where((*at, "form")), did_you_mean(form, FORMS)))
            continue
        if LATER in part and not issubclass(FORMS[form], Part):
            what = f"a part of form {form} decides its claim, so it cannot be written after data existed"
            wrong.append(WirelabError(what, place.where((*at, LATER)), f"write a claim of its own, with {LATER}"))
            continue
        try:
            (later if LATER in part else parts).append(FORMS[form].model_validate(part))
        except ValidationError as error:
            wrong += problems(error, FORMS[form], lambda path, at=at: place.where((*at, *path)))  # type: ignore[misc]
            continue
        if number and LATER not in part and LATER in table.part[number - 1]:
            what = "stands after a part that was written later, and parts are numbered in their order"
            wrong.append(WirelabError(what, place.where(at), f"move what has {LATER} to the end of the claim"))
    if all(LATER in part for part in table.part):
        what = "has no part that was written before data existed, so nothing decides it"
        wrong.append(WirelabError(what, place.where(("claim", index)), f"move {LATER} from its parts to the claim"))
    return Claim.model_construct(id=table.id, text=table.text, note=table.note, parts=parts, later=later)


@dataclass(frozen=True)
class _Printed:
    """Reads the publication's printed numbers and reports their errors."""

    file: ClaimsFile
    place: _Place
    wrong: list[WirelabError]

    def numbers(self) -> dict[tuple[str, str, frozenset[tuple[str, str]]], float]:
        """Of `rows`."""
        printed = self.file.published
        statistics, rows = (printed.statistics, printed.rows) if printed else ([], [])
        return {
            (metric, statistic, levels): value * self._scale(metric)
            for metric, levels, values in self._rows("rows", rows, f"{len(statistics)} numbers", len(statistics), float)
            for statistic, value in zip(statistics, values, strict=True)
        }

    def values(self) -> dict[tuple[str, frozenset[tuple[str, str]]], tuple[float, ...]]:
        """Of `values`."""
        rows = self.file.published.values if self.file.published else []
        return {
            (metric, levels): tuple(float(value) * self._scale(metric) for value in values)
            for metric, levels, [values] in self._rows("values", rows, "a list of two values or more", 1, list)
        }

    def _scale(self, metric: str) -> float:
        return SCALES[self._unit(metric)]

    def _unit(self, metric: str) -> str:
        unit = self.file.published.unit if self.file.published else "1"
        return unit if isinstance(unit, str) else unit.get(metric, "1")

    def _negative(self, metric: str, key: str, printed: Sequence[object]) -> float | None:
        """A number below 0 that cannot be: a time, an energy or a standard deviation. A plain number may be."""
        statistics = self.file.published.statistics if self.file.published and key == "rows" else ["mean"]
        signed = [self._unit(metric) == "1" and statistic != "sd" for statistic in statistics]
        for value, may in zip(printed, signed, strict=True):
            for each in value if isinstance(value, list) else [value]:
                if not may and isinstance(each, int | float) and each < 0:
                    return each
        return None

    def _rows(
        self, key: str, rows: Sequence[Sequence[str | T]], what: str, length: int, kind: type[T]
    ) -> Iterator[tuple[str, frozenset[tuple[str, str]], list[T]]]:
        """Metric, levels and what follows them of each row that is whole."""
        paths, grid = list(self.file.grid), self.file.grid
        for index, row in enumerate(rows):
            names, rest = row[: 1 + len(paths)], row[1 + len(paths) :]
            at: KeyPath = ("published", key, index)
            printed = [
                value
                for value in rest
                if isinstance(value, kind) and not (isinstance(value, list) and len(value) < LEAST_VALUES)
            ]
            whole = len(printed) == len(rest) == length
            if not all(isinstance(name, str) for name in names) or not whole:
                needs = f"needs a metric, {len(paths)} levels and {what} ({shown(row)})"
                self.wrong.append(WirelabError(needs, self.place.where(at)))
                continue
            metric, *levels = map(str, names)
            for path, level in zip(paths, levels, strict=True):
                if level not in grid[path]:
                    self._unknown(f"level of {path}", level, grid[path], at)
            if metric not in self.file.metrics:
                self._unknown("metric", metric, self.file.metrics, at)
            if (negative := self._negative(metric, key, printed)) is not None:
                what = f"may not be negative ({negative:g})"
                self.wrong.append(WirelabError(what, self.place.where(at), NOT_NEGATIVE))
            yield metric, frozenset(zip(paths, levels, strict=True)), printed

    def _unknown(self, what: str, name: str, known: Iterable[str], at: KeyPath) -> None:
        self.wrong.append(
            WirelabError(f"unknown {what} ({shown(name)})", self.place.where(at), did_you_mean(name, known))
        )


def _names(file: ClaimsFile, claims: list[Claim]) -> Iterator[tuple[list[str], str, KeyPath]]:
    """Every name that must be known: the known names, the name, and its place."""
    measured = [metric.name for metric in described() if metric.of == "exchange" or metric.used]
    varied = {**file.choices, **file.grid}
    for name, meant in file.metrics.items():
        for metric in meant:
            yield measured, metric, ("metrics", name)
    if file.published is not None and isinstance(file.published.unit, dict):
        for name in file.published.unit:
            yield list(file.metrics), name, ("published", "unit", name)
    for index, claim in enumerate(claims):
        for number, part in enumerate([*claim.parts, *claim.later]):
            at: KeyPath = ("claim", index, "part", number)
            for metric in part.metric_names():
                yield list(file.metrics), metric, (*at, "metrics" if "metrics" in type(part).model_fields else "metric")
            for key, levels in selectors(part):
                for path, level in levels:
                    yield list(varied), path, (*at, key)
                    yield varied.get(path, [level]), level, (*at, key)


def _not_times(file: ClaimsFile, claims: list[Claim], place: _Place) -> Iterator[WirelabError]:
    """Each horizon or bound in time of a metric that is not a time."""
    units = {metric.name: metric.unit for metric in described()}
    for index, claim in enumerate(claims):
        for number, part in enumerate([*claim.parts, *claim.later]):
            for key in DURATIONS:
                if getattr(part, key, None) is None:
                    continue
                for meant in (each for name in part.metric_names() for each in file.metrics.get(name, [])):
                    if (unit := units.get(meant, "ns")) != "ns":
                        what = f"is a time, and {meant} is in {unit}"
                        yield WirelabError(what, place.where(("claim", index, "part", number, key)), f"remove `{key}`")


def _thaw(path: Path) -> str:
    anew = launched("check EXPERIMENT --freeze")
    return f"mark what is new with after-the-fact and its time, or freeze {path.name} anew: {anew}"


def _line(error: WirelabError) -> int:
    return getattr(error.where, "line", None) or 0
