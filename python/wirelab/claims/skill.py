"""Skill of an interpretation: how well it predicts the numbers that a paper prints, next to null models.

Units differ by metric, so each error is the absolute natural logarithm of a ratio. A null model has only the printed
numbers. Fitted to the number that it predicts it would look better than it is, so that number is left out. Pure; knows
neither files nor campaigns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean, geometric_mean, median
from typing import get_args

import numpy as np

from wirelab.claims.part import Levels
from wirelab.schema.printed import (
    GroupRecord,
    LeftOutRecord,
    NullModel,
    NullRecord,
    PredictionRecord,
    Skilled,
    SkillRecord,
)
from wirelab.stats.estimate.bootstrap import Draws
from wirelab.stats.estimate.model import LEVEL
from wirelab.stats.estimate.sample import Floats

PROTOCOL = "protocol"
Without = Callable[["Number"], bool]
"""Which printed numbers a null model must not see."""
METHOD = "percentiles over draws of our estimates"


@dataclass(frozen=True)
class Number:
    """A number that the paper prints, above 0 and in base units, with our estimate of it. `used` says whether the
    interpretation was fitted to it.
    """

    metric: str
    levels: Mapping[str, str]
    statistic: str
    paper: float
    ours: Draws | None
    used: bool = False

    @property
    def usable(self) -> bool:
        """Whether our estimate has a logarithm, and says something."""
        ours = self.ours
        return ours is not None and ours.point > 0 and math.isfinite(ours.point) and any(ours.tells)


def skill(
    interpretation: str, knobs: int, numbers: Sequence[Number], null_cell: Levels, *, by_rule: bool = False
) -> SkillRecord:
    """The record of an interpretation. `null_cell` has the levels of the cell that predicts the others.

    Standard deviations stand in groups of their own: an emulated link without jitter has hardly any, and their
    logarithms would drown those of the means.
    """
    nulls = Nulls(numbers, null_cell)
    usable = [each for each in numbers if each.usable]
    predicted = [each for each in usable if not each.used and each.statistic != "sd"]
    error = errors(predicted, nulls) if predicted else None
    groups: list[GroupRecord] = [
        {"metric": metric, "statistic": statistic, "used": used, **errors(list(group), nulls)}
        for (used, metric, statistic), group in groupby(sorted(usable, key=_group), _group)
    ]
    return {
        "interpretation": interpretation,
        "by_rule": by_rule,
        "null_cell": dict(null_cell),
        "knobs": knobs,
        "used": sum(each.used for each in numbers),
        "predicted": sum(not each.used for each in numbers),
        "missing": len(numbers) - len(usable),
        "error": error,
        "skill": None if error is None else _skilled(error["nulls"]),
        "groups": groups,
        "left_out": _left_out([each for each in usable if each.used], null_cell),
    }


def errors(numbers: Sequence[Number], nulls: Nulls) -> PredictionRecord:
    """Our error on these numbers, of which there is one or more, and that of each null model."""
    hidden = [_same_as(number) for number in numbers]
    return _Numbers(numbers, _logs(numbers), hidden, fitted=all(each.used for each in numbers)).record(nulls)


@dataclass(frozen=True)
class Nulls:
    """Null models over the printed numbers of a paper, whether we measured them or not."""

    printed: Sequence[Number]
    cell: Levels

    def blind(self, number: Number) -> dict[NullModel, float]:
        """What each model predicts for one of the printed numbers that it has not seen; without those that cannot."""
        models: tuple[NullModel, ...] = get_args(NullModel)
        found = {model: self.predict(model, number, _same_as(number)) for model in models}
        return {model: value for model, value in found.items() if value is not None}

    def predict(self, model: NullModel, number: Number, without: Without) -> float | None:
        """A model's prediction from the printed numbers of the same metric and statistic, except some."""
        known = [
            each for each in self.printed
            if (each.metric, each.statistic) == (number.metric, number.statistic) and not without(each)
        ]  # fmt: skip
        if model == "constant":
            return geometric_mean(each.paper for each in known) if known else None
        if model == "protocol-median":
            protocol = number.levels.get(PROTOCOL)
            same = [each.paper for each in known if each.levels.get(PROTOCOL) == protocol]
            return median(same) if same and protocol is not None else None
        at = {**number.levels, **self.cell}
        return next((each.paper for each in known if self.cell and dict(each.levels) == at), None)


@dataclass(frozen=True)
class _Logs:
    """Logarithms of our estimates over the printed numbers: points, and rows of draws."""

    points: Floats
    draws: Floats

    def mean(self, rows: Sequence[int]) -> Draws:
        """Mean absolute value over these numbers."""
        chosen = list(rows)
        point = float(np.abs(self.points[chosen]).mean())
        return Draws(point, np.abs(self.draws[chosen]).mean(axis=0), np.inf, len(chosen), least=0.0, method=METHOD)


def _logs(numbers: Sequence[Number], scale: Sequence[float] | None = None) -> _Logs:
    """Of usable numbers. A draw of 0 is infinitely far off, which a percentile bears."""
    drawn = [np.asarray(each.ours.values if each.ours else []) for each in numbers]
    size = min((len(values) for values in drawn if len(values) > 1), default=1)
    by = [1.0] * len(numbers) if scale is None else scale
    with np.errstate(divide="ignore"):
        rows = [
            np.log(np.broadcast_to(values[:size], size) * factor / each.paper)
            for each, values, factor in zip(numbers, drawn, by, strict=True)
        ]
    points = [
        math.log(each.ours.point * factor / each.paper) if each.ours else 0.0
        for each, factor in zip(numbers, by, strict=True)
    ]
    return _Logs(np.array(points), np.array(rows))


@dataclass(frozen=True)
class _Numbers:
    """Numbers with the logarithms of our predictions, and what a null model must not see of each. With `fitted`, ours
    saw the same numbers: the score is then against the null model that saw them too.
    """

    numbers: Sequence[Number]
    ours: _Logs
    hidden: Sequence[Without]
    fitted: bool = False

    def record(self, nulls: Nulls) -> PredictionRecord:
        found = [self._null(model, nulls) for model in get_args(NullModel)]
        return {
            "n": len(self.numbers),
            "error": self.ours.mean(range(len(self.numbers))).estimate(LEVEL).record(),
            "nulls": [each for each in found if each is not None],
        }

    def _null(self, model: NullModel, nulls: Nulls) -> NullRecord | None:
        blind = {
            row: math.log(value / each.paper)
            for row, (each, without) in enumerate(zip(self.numbers, self.hidden, strict=True))
            if (value := nulls.predict(model, each, without)) is not None
        }
        if not blind:
            return None
        sighted = [(each, nulls.predict(model, each, _nothing)) for each in (self.numbers[row] for row in blind)]
        error = fmean(map(abs, blind.values()))
        seen = fmean(abs(math.log(value / each.paper)) for each, value in sighted if value is not None)
        own = self.ours.mean(list(blind))
        score = _score(own, seen if self.fitted else error).estimate(LEVEL).record()
        return {
            "model": model, "n": len(blind), "error": error, "error_seen": seen, "ours": own.point, "score": score,
        }  # fmt: skip


def _score(own: Draws, error: float) -> Draws:
    """Without an error of the null model there is no score."""
    if error == 0:
        return Draws(math.nan, np.array([math.nan]), np.inf, own.n)
    return Draws(1 - own.point / error, 1 - own.values / error, np.inf, own.n, logarithmic=False, method=METHOD)


def _skilled(nulls: Sequence[NullRecord]) -> Skilled | None:
    scores = [each["score"] for each in nulls if each["score"]["point"] is not None]
    if not scores:
        return None
    if any((score["point"] or 0.0) <= 0 for score in scores):
        return "no-skill"
    return "skill" if all(score["low"] is not None and score["low"] > 0 for score in scores) else "not-shown"


def _same_as(number: Number) -> Without:
    return lambda other: other is number


def _of_level(path: str, level: str) -> Without:
    return lambda other: other.levels[path] == level


def _nothing(_: Number) -> bool:
    return False


def _group(number: Number) -> tuple[bool, str, str]:
    return number.used, number.metric, number.statistic


def _left_out(used: Sequence[Number], null_cell: Levels) -> list[LeftOutRecord]:
    """Of each factor with several levels among the used numbers."""
    nulls, found = Nulls(used, null_cell), list[LeftOutRecord]()
    for path in dict.fromkeys(path for each in used for path in each.levels):
        if len({each.levels[path] for each in used}) < 2:
            continue
        hidden = [_of_level(path, each.levels[path]) for each in used]
        scale = [_scale([other for other in used if not without(other)]) for without in hidden]
        found.append({"path": path, **_Numbers(used, _logs(used, scale), hidden).record(nulls)})
    return found


def _scale(numbers: Sequence[Number]) -> float:
    """The ratio of geometric means, printed over ours."""
    return geometric_mean(each.paper / each.ours.point for each in numbers if each.ours)
