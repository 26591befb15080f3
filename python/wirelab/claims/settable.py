"""Whether experiments take what a file of claims sets in them: levels of its choices, and those of its campaigns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from wirelab.errors import CombinedError, Where, WirelabError
from wirelab.experiment.file.positions import Path as KeyPath

if TYPE_CHECKING:
    from wirelab.claims.model import ClaimsFile
    from wirelab.experiment.file.source import Source

UNSET = "unset"
"""As the first level of a choice: that of each campaign that does not name it."""
Mistakes = Iterator[tuple[KeyPath, str, str | None]]
"""The key, a sentence that says what is wrong, and a hint."""


def unknown_levels(file: ClaimsFile, experiments: Iterable[Source]) -> Mistakes:
    """Factors and choices whose path or levels none of these experiments takes, with what the first of them says."""
    places: dict[str, KeyPath] = {path: ("grid", path) for path in file.grid}
    levels = {**file.choices, **file.grid}
    places |= {path: ("choices", path) for path in file.choices}
    for index, choice in enumerate(file.choice):
        if choice.path not in file.metrics:
            places[choice.path], levels[choice.path] = ("choice", index), choice.levels
    wrong: dict[str, tuple[str, str | None]] | None = None
    known = set[str]()
    for source in experiments:
        left = levels if wrong is None else wrong
        here = dict(refusals(source, {path: ", ".join(filter(_can_be_set, levels[path])) for path in left}))
        known |= {path for path in here if any(_takes(source, path, each) for each in levels[path])}
        wrong = here if wrong is None else {path: said for path, said in wrong.items() if path in here}
        if not wrong:
            return
    for path, (what, hint) in (wrong or {}).items():
        at = places[path]
        key: KeyPath = () if at[0] != "choice" else ("levels",) if path in known else ("path",)
        yield (*at, *key), f"{path}: {what}", hint


def outside(file: ClaimsFile, varied: Iterable[tuple[str, Sequence[str]]]) -> dict[str, list[str]]:
    """By path, the levels of an experiment that are outside the grid of choices, so that points with them do not count.
    Of a path that is no choice the first level counts.
    """
    from wirelab.claims.part import as_compared

    choices = {each.path: {as_compared(level) for level in each.levels} for each in file.choice}
    named = {*file.grid, *file.choices, *file.metrics} - choices.keys()
    found: dict[str, list[str]] = {}
    for path, levels in varied if choices else ():
        known = choices.get(path, {as_compared(level) for level in levels[:1]})
        mine = [level for level in levels if path not in named and as_compared(level) not in known]
        if mine:
            found[path] = mine
    return found


def _takes(source: Source, path: str, level: str) -> bool:
    return _can_be_set(level) and not dict(refusals(source, {path: level}))


def _can_be_set(level: str) -> bool:
    """Whether `--set` reads a level as it is written; a table is canonical JSON."""
    return level != UNSET and not level.startswith("{")


def refusals(
    source: Source, sets: Mapping[str, str], clock: str | None = None
) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """Each path that `--set` refuses in an experiment, with what it says; levels of a path stand as `--set` takes them,
    with commas between.
    """
    from wirelab.experiment.file.sets import apply_sets
    from wirelab.experiment.file.validate import validate
    from wirelab.experiment.grid.factors import read_factors
    from wirelab.experiment.programs.own_protocols import own_protocols
    from wirelab.schema import registered

    assignments = [f"{path}={levels}" for path, levels in sets.items() if levels]
    if clock is not None:
        assignments.append(f"clock={clock}")
    try:
        protocols = registered().with_protocols(own_protocols(source.folder))
        checked, left, wrong = validate(apply_sets(source, assignments))
        wrong += read_factors(left, checked, protocols)[1]
    except CombinedError as error:
        wrong = list(error.errors)
    except WirelabError as error:
        wrong = [error]
    for each in wrong:
        where = each.where
        if isinstance(where, Where) and where.source == "--set":
            key = (where.key or "").strip('"')
            if mine := [path for path in sets if key == path or key.startswith(f"{path}.")]:
                yield max(mine, key=len), (each.what, each.hint)
