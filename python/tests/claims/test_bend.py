"""Where a quantity begins to rise or fall."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.claims.fakes import Fake
from wirelab.claims.family import judge_part
from wirelab.claims.forms import Bend
from wirelab.claims.forms.bend import fit
from wirelab.claims.judgement import Context

LEVELS = ["a", "b", "c", "d", "e", "f"]
FLAT_THEN_TWICE = (1.0, 1.0, 1.0, 2.0, 4.0, 8.0)


def judged(means: tuple[float, ...], direction: str = "rising", lower: float | None = None) -> Any:
    given: dict[tuple[str, ...], float] = {("h2", level): mean for level, mean in zip(LEVELS, means, strict=False)}
    if lower is not None:
        given |= {("h3", level): lower for level in LEVELS}
    part = {
        "form": "bend", "metric": "delay", "upper": {"protocol": "h2"}, "along": {"path": "size", "levels": LEVELS},
        "direction": direction, "published": ["b", "d"],
    }  # fmt: skip
    if lower is not None:
        part["lower"] = {"protocol": "h3"}
    return judge_part(Bend.model_validate(part), Context(Fake(given), 0.95, 0.95, 1.25))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("means", "direction", "verdict"),
    [
        (FLAT_THEN_TWICE, "rising", "confirmed"),
        (FLAT_THEN_TWICE, "falling", "contradicted"),
        (tuple(1 / mean for mean in FLAT_THEN_TWICE), "falling", "confirmed"),
        ((1.0, 1.0, 1.0, 1.0, 1.0, 3.0), "rising", "contradicted"),
        ((1.0, 2.0, 4.0, 8.0, 16.0, 32.0), "rising", "contradicted"),
        ((1.0, 1.0, 1.0, 1.0, 1.0, 1.0), "rising", "inconclusive"),
    ],
)
def test_a_bend_lies_between_the_published_levels_and_goes_the_claimed_way(
    means: tuple[float, ...], direction: str, verdict: str
) -> None:
    assert judged(means, direction).verdict == verdict


def test_the_bends_place_and_the_slope_after_it_are_reported() -> None:
    found = judged(FLAT_THEN_TWICE)
    assert found.ours.point == pytest.approx(2)
    assert "grows by a factor of 2 " in found.why
    assert [of for of, _ in found.judged] == ["position", "factor a level"]


def test_a_bend_of_a_ratio_is_fitted_to_the_ratio() -> None:
    assert judged(FLAT_THEN_TWICE, lower=7.0).ours.point == pytest.approx(2)


def test_without_one_of_the_levels_nothing_is_decided() -> None:
    found = judged(FLAT_THEN_TWICE[:5])
    assert (found.verdict, "is not measured" in found.why) == ("inconclusive", True)


def test_the_fit_is_the_one_with_the_least_squares() -> None:
    logs = np.random.default_rng(1).normal(0, 1, (6, 20))
    found = fit(logs)

    def left_over(place: float, column: int) -> float:
        design = np.stack([np.ones(6), np.maximum(np.arange(6) - place, 0)], axis=1)
        return float(np.linalg.lstsq(design, logs[:, column], rcond=None)[1].sum())

    for column, place in enumerate(found.place):
        assert left_over(place, column) <= 1e-9 + min(left_over(each, column) for each in np.linspace(0, 4, 81))
