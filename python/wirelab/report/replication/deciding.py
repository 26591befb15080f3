"""Which choice decides a claim: it turns the verdict, or else it changes it most often. Judges nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from wirelab.claims.over_grid import DECIDED, differ
from wirelab.report.blocks import Cell, dash
from wirelab.report.replication.words import NOT_MEASURED, standing, title_of
from wirelab.schema.replication import PointVerdict, ReplicatedClaim, Replication
from wirelab.schema.verdicts import Standing

ALIKE = 1.25
"""Numbers of values of two points whose ratio is at most this: beyond it the number itself may decide one of them."""


def deciding(claim: ReplicatedClaim, record: Replication) -> Cell:
    """The choice that turns the verdict from confirmed to contradicted most often. If none does, that which decides it
    at one level and not at another, in half of its pairs or more, with both verdicts.
    """
    if claim["form"] == NOT_MEASURED:
        return dash("nothing here could measure it")
    found = claim["over_grid"] and claim["over_grid"]["deciding"]
    if found:
        pairs = f"turns the verdict in {found['flips']} of {found['pairs']} pairs of points that differ in it alone"
        return Cell(f"{title_of(found['path'], record)} ({found['flips']} of {found['pairs']})", title=pairs)
    changing = most_changing(claim, record)
    if changing is None:
        if len({each["standing"] for each in claim["points"] if each["counts"]}) < 2:
            return dash("it has the same verdict at every point that was run")
        return dash("no choice alone decides it in half of its pairs")
    path, verdicts, changes, pairs_of_it = changing
    words = " or ".join(standing(each) for each in sorted(verdicts))
    title = f"changes the verdict in {changes} of {pairs_of_it} pairs of points that differ in it alone"
    return Cell(f"{title_of(path, record)} ({words}: {changes} of {pairs_of_it})", title=title)


def most_changing(claim: ReplicatedClaim, record: Replication) -> tuple[str, frozenset[Standing], int, int] | None:
    """The choice with most pairs of points that differ in it alone, rest on about as many values, and have two verdicts
    of which one is decided; the verdicts, how many pairs they are, and of how many. None if they are less than half.
    """
    changes, pairs = Counter[tuple[str, frozenset[Standing]]](), Counter[str]()
    for path, one, other in _pairs(claim, record):
        pairs[path] += 1
        verdicts = frozenset(each for each in (one["standing"], other["standing"]) if each is not None)
        if len(verdicts) > 1 and verdicts & {*DECIDED} and differ(one["value"], other["value"]):
            changes[path, verdicts] += 1
    found = [(most, path, verdicts) for (path, verdicts), most in changes.items() if 2 * most >= pairs[path]]
    if not found:
        return None
    most, path, verdicts = max(found, key=lambda each: (each[0], each[0] / pairs[each[1]]))
    return path, verdicts, most, pairs[path]


def _pairs(claim: ReplicatedClaim, record: Replication) -> Iterator[tuple[str, PointVerdict, PointVerdict]]:
    counted = [each for each in claim["points"] if each["counts"] and each["n"]]
    for one, other in combinations(counted, 2):
        levels, others = record["points"][one["at"]], record["points"][other["at"]]
        differing = [path for path in {**levels, **others} if levels.get(path) != others.get(path)]
        fewer, more = sorted([one["n"], other["n"]])
        if len(differing) == 1 and more <= ALIKE * fewer:
            yield differing[0], one, other
