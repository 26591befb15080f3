"""The numbers that a paper prints, each with our estimate of it in each interpretation that was run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wirelab.claims.fitted import is_used
from wirelab.claims.interpretations import InterpretationTable
from wirelab.claims.load import Claims
from wirelab.claims.printed import null_predictions, published_numbers
from wirelab.claims.samples import same_level
from wirelab.replicate.source import Source
from wirelab.schema.estimates import EstimateRecord
from wirelab.schema.plan import Level
from wirelab.schema.replication import ReplicatedNumber
from wirelab.schema.verdicts import PublishedNumber
from wirelab.stats.dataset import points

MOMENTS = ("mean", "sd", "median")
BASE = "as-varied-around"
"""The point where each choice is at its first level."""


def numbers(claims: Claims, sources: Sequence[Source]) -> tuple[list[ReplicatedNumber], dict[str, str]]:
    """The numbers, the primary interpretation first, and the unit of each metric. Of several campaigns in one
    interpretation the one with most exchanges a scenario gives ours, of equal ones the earlier.
    """
    largest = sorted(enumerate(sources), key=lambda each: -each[1].exchanges_each)
    known, nulls = published_numbers(claims), null_predictions(claims)
    found: list[ReplicatedNumber] = []
    units: dict[str, str] = {}
    for interpretation in _interpretations(claims):
        best: dict[int, ReplicatedNumber] = {}
        for index, source in largest:
            for number, printed, ours, unit in _measured(claims, known, source, interpretation):
                if number not in best:
                    units[printed["metric"]] = unit
                    best[number] = {
                        "interpretation": None if interpretation.name == BASE else interpretation.name,
                        "metric": printed["metric"],
                        "levels": printed["levels"],
                        "statistic": printed["statistic"],
                        "paper": printed["value"],
                        "ours": ours,
                        "fitted": is_used(_cell(claims, printed), interpretation),
                        "nulls": nulls[number],
                        "campaign": index,
                    }
        found += [best[number] for number in sorted(best)]
    return found, units


def _interpretations(claims: Claims) -> list[InterpretationTable]:
    """The primary first; the base too, unless an interpretation is at it."""
    named = sorted(claims.file.interpretation, key=lambda each: each.name != claims.file.primary)
    first = {each.path: each.levels[0] for each in claims.file.choice}
    if any({**first, **each.levels} == first for each in named):
        return named
    base = InterpretationTable(name=BASE, title="each choice at its first level", basis="text", why="", levels={})
    return [*named, base]


def _measured(
    claims: Claims, known: Sequence[PublishedNumber], source: Source, interpretation: InterpretationTable
) -> Iterator[tuple[int, PublishedNumber, EstimateRecord, str]]:
    """Each of the printed numbers that a campaign has at the interpretation: its index, itself, ours and its unit."""
    grid, factors = source.grid(claims), set(claims.file.grid)
    for scenario in source.plan.scenarios:
        estimates = source.by_key.get(scenario.key)
        for point in points(scenario) if estimates is not None else ():
            choice = {path: level for path, level in point.items() if path not in factors}
            if estimates is None or not grid.stands_at(grid.place(choice), interpretation):
                continue
            for number, printed in enumerate(known):
                metric = estimates["metrics"].get(_meant(claims, printed["metric"], interpretation))
                if metric is not None and printed["statistic"] in MOMENTS and _matches(point, printed["levels"]):
                    ours: EstimateRecord = metric[printed["statistic"]]  # type: ignore[literal-required]
                    if ours["point"] is not None:
                        yield number, printed, ours, metric["unit"]


def _meant(claims: Claims, metric: str, interpretation: InterpretationTable) -> str:
    """The metric that the interpretation takes a name to mean; a printed number has the first one."""
    name = _name(claims, metric)
    return interpretation.levels.get(name, metric)


def _name(claims: Claims, metric: str) -> str:
    return next(name for name, meant in claims.file.metrics.items() if meant[0] == metric)


def _cell(claims: Claims, printed: PublishedNumber) -> tuple[str, ...]:
    levels = (printed["levels"][path] for path in claims.file.grid)
    return _name(claims, printed["metric"]), *levels, printed["statistic"]


def _matches(point: Mapping[str, Level], levels: Mapping[str, str]) -> bool:
    return all(same_level(point.get(path), level) for path, level in levels.items())
