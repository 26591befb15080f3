"""A claim over the grid of choices: at how many points it is confirmed, how far its estimate ranges, and which choice
turns it. Pure; knows neither files nor samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from wirelab.claims.judgement import CONFIRMED, CONTRADICTED
from wirelab.schema.verdicts import DecidingChoice, EffectAt, EffectRange, OverGrid, Standing, Verdict

DEPENDS: Standing = "depends-on-outlier-rule"
FITTED: Standing = "fitted"
LEAST = 1.01
"""Estimates of positive quantities whose ratio is below it are alike."""
DECIDED = (CONFIRMED, CONTRADICTED)


@dataclass(frozen=True)
class Point:
    """A claim's verdict at one point: a level for each choice. `by_rule` is the verdict after the publication's outlier
    removal, if it has a rule; `effect` is our estimate. With `missing`, a scenario was not run or must not be used.
    """

    levels: Mapping[str, str]
    verdict: Verdict
    by_rule: Verdict | None = None
    effect: float | None = None
    missing: bool = False
    fitted: bool = False
    outside: bool = False

    @property
    def standing(self) -> Standing | None:
        """The verdict at this point; None if it was not run. With an outlier rule, it is decided only if both verdicts
        agree.
        """
        if self.fitted:
            return FITTED
        if self.missing:
            return None
        if self.by_rule is None or self.by_rule == self.verdict:
            return self.verdict
        return DEPENDS

    @property
    def counts(self) -> bool:
        """Whether the claim was judged here, at a point of the grid."""
        return not (self.missing or self.fitted or self.outside)


def over_grid(points: Sequence[Point], size: int | None, interpretations: Mapping[str, Standing | None]) -> OverGrid:
    """The record of a claim. `size` is the number of points of the whole grid, and `interpretations` has the verdict
    at each named one.
    """
    judged = [point for point in points if point.counts]
    found = [point.standing for point in judged]
    confirmed, contradicted = found.count(CONFIRMED), found.count(CONTRADICTED)
    of_grid = [point for point in points if not point.outside]
    return {
        "size": size,
        "points": len(judged),
        "confirmed": confirmed,
        "contradicted": contradicted,
        "not_decided": len(judged) - confirmed - contradicted,
        "depends_on_outlier_rule": found.count(DEPENDS),
        "missing": sum(point.missing and not point.fitted for point in of_grid),
        "fitted": sum(point.fitted for point in of_grid),
        "outside": len(points) - len(of_grid),
        "robust": len(judged) > 1 and len(judged) in (confirmed, contradicted),
        "effect": _range(judged),
        "deciding": _deciding(judged),
        "interpretations": dict(interpretations),
    }


def _range(points: Sequence[Point]) -> EffectRange | None:
    effects: list[EffectAt] = [
        {"value": point.effect, "levels": dict(point.levels)} for point in points if point.effect is not None
    ]
    return range_of(effects)


def range_of(effects: Sequence[EffectAt]) -> EffectRange | None:
    """The smallest and the largest; None without any."""
    if not effects:
        return None
    return {
        "least": min(effects, key=lambda each: each["value"]),
        "largest": max(effects, key=lambda each: each["value"]),
    }


def _deciding(points: Sequence[Point]) -> DecidingChoice | None:
    """The choice with most pairs that flip, of points that differ in it alone; of equal ones, that with the larger
    share of them. A share alone would favour choices of which few pairs were run.
    """
    pairs: dict[str, list[bool]] = {}
    for one, other in combinations(points, 2):
        paths = dict.fromkeys([*one.levels, *other.levels])
        differing = [path for path in paths if one.levels.get(path) != other.levels.get(path)]
        if len(differing) == 1:
            turns = {one.standing, other.standing} == set(DECIDED) and differ(one.effect, other.effect)
            pairs.setdefault(differing[0], []).append(turns)
    turning: list[DecidingChoice] = [
        {"path": path, "flips": sum(flips), "pairs": len(flips)} for path, flips in pairs.items() if any(flips)
    ]
    return max(turning, key=lambda each: (each["flips"], each["flips"] / each["pairs"]), default=None)


def differ(one: float | None, other: float | None) -> bool:
    """Whether two estimates differ by 1 % or more; unknown ones may. What changes less decides nothing, although it may
    turn a verdict where noise is absent.
    """
    if one is None or other is None or min(one, other) <= 0:
        return True
    return max(one, other) / min(one, other) >= LEAST
