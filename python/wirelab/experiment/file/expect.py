"""`[expect]` of an experiment file: bounds that the results are to keep. `read_failure` reads the same the other way
round, as `--fail-if` has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from wirelab.errors import WirelabError, did_you_mean
from wirelab.experiment.file.model import ExperimentFile
from wirelab.experiment.file.source import Source
from wirelab.experiment.grid.points import Point
from wirelab.experiment.grid.scenario import Scenario
from wirelab.schema.expectation import COMPLETED, Expectation, Sign, as_named
from wirelab.statistic import read_statistic, too_few
from wirelab.units import UnitError, duration_ns, energy_j, rate_bps, share, size_bytes

_READERS: tuple[tuple[str, Callable[[object], float]], ...] = (
    ("s", lambda value: duration_ns(value) / 1e9),
    ("B", size_bytes),
    ("bit/s", rate_bps),
    ("share", share),
    ("J", energy_j),
)
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")
_BOUND = re.compile(r"\s*(<=|>=|<|>)\s*(.*\S)\s*")
_SUBJECT = re.compile(r"\s*(?P<statistic>\S+)(\s+of\s+(?P<metric>\S+))?(\s+where\s+(?P<where>.*\S))?\s*")
_LEVEL = re.compile(r"\s*(\S+?)\s*=\s*(.*\S)\s*")
_OPPOSITE: Mapping[str, Sign] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass(frozen=True)
class Subject:
    """What a bound is of. The metric is None for the headline metric."""

    statistic: str
    metric: str | None
    where: Mapping[str, str]


def read_subject(text: str) -> Subject:
    """`p95`, `completed`, `mean of wire-bytes`, `p95 where protocol = h2 and link = clean`. Raises `UnitError`."""
    match = _SUBJECT.fullmatch(text)
    if match is None:
        raise UnitError("does not say what is expected", hint='such as "p95", or "mean of wire-bytes"')
    statistic, metric = match["statistic"], match["metric"]
    if statistic == COMPLETED and metric is not None:
        raise UnitError(f"{COMPLETED} is the share of exchanges, and of no metric", hint=f'write "{COMPLETED}"')
    where = {} if match["where"] is None else dict(map(_level, re.split(r"\s+and\s+", match["where"])))
    return Subject(statistic if statistic == COMPLETED else _statistic(statistic), metric, where)


def _statistic(text: str) -> str:
    try:
        return read_statistic(text)
    except UnitError:
        hint = 'write "median", "mean", a percentile such as "p95", or "completed"'
        raise UnitError(f"'{text}' is not a statistic", hint) from None


def _level(text: str) -> tuple[str, str]:
    match = _LEVEL.fullmatch(text)
    if match is None:
        raise UnitError(f"'{text}' is no level of a factor", hint='such as "where protocol = h2 and link = clean"')
    return match[1], match[2]


def expectation(subject: Subject, bound: object, metric: str) -> Expectation:
    """With a bound such as `"< 800 ms"`; `metric` is the headline metric. Raises `UnitError`."""
    match = _BOUND.fullmatch(bound) if isinstance(bound, str) else None
    sign = next((each for each in get_args(Sign) if match is not None and each == match[1]), None)
    if match is None or sign is None:
        raise UnitError("is not a bound", hint='such as "< 800 ms", or ">= 99 %"')
    of = None if subject.statistic == COMPLETED else subject.metric or metric
    value, unit = _value(match[2])
    return Expectation(
        statistic=subject.statistic, metric=of, sign=sign, bound_in_unit=value, written=match[2], unit=unit,
        where=dict(subject.where),
    )  # fmt: skip


def read_failure(text: str, metric: str) -> Expectation:
    """What `--fail-if` expects: with `p95 > 800 ms` a p95 of at most 800 ms. Raises `UnitError`."""
    place = re.search(r"[<>]=?", text)
    if place is None:
        raise UnitError("has no bound", hint="such as --fail-if 'p95 > 800ms'")
    failing = expectation(read_subject(text[: place.start()]), text[place.start() :], metric)
    return failing.model_copy(update={"sign": _OPPOSITE[failing.sign]})


def _value(text: str) -> tuple[float, str]:
    """A bound, and the unit of its dimension."""
    if _NUMBER.fullmatch(text):
        return float(text), ""
    for unit, read in _READERS:
        try:
            return float(read(text)), unit
        except UnitError:
            continue
    raise UnitError(f"'{text}' is no quantity", hint='such as "800 ms", "2 kB", "1 Mbit/s", "99 %", "5 mJ", or "3"')


def expectations(source: Source, file: ExperimentFile) -> tuple[dict[str, Expectation], list[WirelabError]]:
    """Those of a file by their key in it, and what is wrong with others."""
    found, wrong = dict[str, Expectation](), list[WirelabError]()
    for key, bound in file.expect.items():
        try:
            found[key] = expectation(read_subject(key), bound, file.metric)
        except UnitError as error:
            wrong.append(WirelabError(f'{error} ("{bound}")', source.where(("expect", key)), error.hint))
    return found, wrong


def never_decided(found: Expectation, scenarios: Sequence[Scenario], replicates: int) -> WirelabError | None:
    """Why an expectation is about no scenario, or about one with too few values in at most so many replicates; None
    if it can be decided.
    """
    points = [point for each in scenarios for point in grid_points(each)]
    if (wrong := _unknown_level(found, points)) is not None:
        return wrong
    if found.metric is None:
        return None
    about = [each for each in scenarios if found.is_about(grid_points(each))]
    few = too_few(found.statistic, (replicates * each.workload.rows for each in about))
    return None if few is None else WirelabError(few, hint="more exchanges or more replicates")


def grid_points(scenario: Scenario) -> list[Point]:
    """The points that a scenario stands for, with its protocol and link where these are no factors."""
    own = {"protocol": scenario.protocol, "link": scenario.link_name}
    return [{**own, **point} for point in scenario.points or (dict(scenario.levels),)]


def _unknown_level(found: Expectation, points: Sequence[Point]) -> WirelabError | None:
    """What no scenario has, of the levels that an expectation is about; None if a scenario has them all."""
    if found.is_about(points):
        return None
    for path, level in found.where.items():
        levels = list(dict.fromkeys(as_named(point[path]) for point in points if path in point))
        if not levels:
            known = dict.fromkeys(key for point in points for key in point)
            return WirelabError(f"{path} is no factor", hint=did_you_mean(path, known))
        if level not in levels:
            return WirelabError(f"no scenario has {path} = {level}", hint=f"known: {', '.join(levels)}")
    return WirelabError("no scenario has all of these levels")
