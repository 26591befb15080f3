"""Skill next to null models, by numbers that were computed by hand."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from wirelab.claims.skill import Number, skill
from wirelab.schema.printed import NullModel, NullRecord, SkillRecord
from wirelab.stats.estimate.bootstrap import Draws

PAPER = {
    ("h2", "clean"): 1.0, ("h2", "random"): 2.0, ("h2", "burst"): 4.0,
    ("h3", "clean"): 2.0, ("h3", "random"): 4.0, ("h3", "burst"): 8.0,
}  # fmt: skip
CLEAN = {"link": "clean"}
LOG2 = math.log(2)


def _numbers(factor: float, used: frozenset[str] = frozenset(), error: float = 0.0) -> list[Number]:
    rng = np.random.default_rng(1)
    return [
        Number(
            "delay", {"protocol": protocol, "link": link}, "mean", paper,
            Draws(paper * factor, paper * factor * np.exp(rng.normal(0, error, 500)), np.inf, 9), link in used,
        )
        for (protocol, link), paper in PAPER.items()
    ]  # fmt: skip


def _null(record: SkillRecord, model: NullModel) -> NullRecord:
    assert record["error"] is not None
    [found] = [each for each in record["error"]["nulls"] if each["model"] == model]
    return found


def test_a_model_that_equals_the_paper_has_no_error_and_full_skill() -> None:
    record = skill("exact", 0, _numbers(1.0), CLEAN)
    assert record["error"] is not None
    assert (record["error"]["error"]["point"], record["skill"]) == (0.0, "skill")
    assert {each["score"]["point"] for each in record["error"]["nulls"]} == {1.0}
    assert (record["predicted"], record["used"], record["missing"], record["left_out"]) == (6, 0, 0, [])


def test_a_model_that_is_off_by_a_factor_of_2_everywhere_has_an_error_of_log_2() -> None:
    for factor in (2.0, 0.5):
        record = skill("off", 1, _numbers(factor), CLEAN)
        assert record["error"] is not None
        assert record["error"]["error"]["point"] == pytest.approx(LOG2)
        assert record["error"]["error"]["low"] == pytest.approx(LOG2)


def test_null_models_do_not_see_the_number_that_they_predict() -> None:
    record = skill("off", 0, _numbers(2.0), CLEAN)
    constant, protocol, cell = (_null(record, model) for model in ("constant", "protocol-median", "null-cell"))
    # In steps of log 2 the numbers are 0 1 2 1 2 3: their mean is 1.5, and without one number x it is (9 - x) / 5.
    assert constant["error_seen"] == pytest.approx(LOG2 * 5 / 6)
    assert constant["error"] == pytest.approx(LOG2 * 1.2 * 5 / 6)
    # Of 1, 2, 4 the median is 2; without 1 it is 3, without 2 it is 2.5, and without 4 it is 1.5.
    assert protocol["error_seen"] == pytest.approx(LOG2 * 2 / 3)
    assert protocol["error"] == pytest.approx((math.log(3) + math.log(1.25) + math.log(4 / 1.5)) / 3)
    # The clean cell cannot be predicted by itself.
    assert cell["n"] == 4
    assert cell["error"] == pytest.approx(LOG2 * 1.5)
    assert cell["score"]["point"] == pytest.approx(1 / 3)


def test_an_error_above_the_best_null_model_is_no_skill() -> None:
    assert skill("off", 0, _numbers(1.5), CLEAN)["skill"] == "skill"
    assert skill("off", 0, _numbers(2.5), CLEAN)["skill"] == "no-skill"


def test_skill_is_not_shown_if_the_interval_of_a_score_reaches_0() -> None:
    assert skill("noisy", 0, _numbers(1.75, error=1.0), CLEAN)["skill"] == "not-shown"


def test_numbers_that_were_used_are_no_prediction() -> None:
    record = skill("fitted", 1, _numbers(2.0, frozenset({"clean", "burst"})), CLEAN)
    assert (record["used"], record["predicted"]) == (4, 2)
    assert record["error"] is not None
    assert record["error"]["n"] == 2
    by_use = {group["used"]: group for group in record["groups"]}
    [constant] = [each for each in by_use[True]["nulls"] if each["model"] == "constant"]
    assert constant["score"]["point"] == pytest.approx(1 - LOG2 / constant["error_seen"])


def test_a_fit_with_one_column_left_out_scales_by_the_other_columns() -> None:
    numbers = _numbers(2.0, frozenset({"clean", "random", "burst"}))
    record = skill("fitted", 1, numbers, CLEAN)
    assert record["error"] is None
    assert record["skill"] is None
    assert {each["path"]: each["error"]["point"] for each in record["left_out"]} == pytest.approx(
        {"protocol": 0.0, "link": 0.0}
    )
    tilted = [
        Number(each.metric, each.levels, each.statistic, each.paper, _twice(each), used=True)
        if each.levels["protocol"] == "h3"
        else each
        for each in numbers
    ]
    of = {each["path"]: each["error"]["point"] for each in skill("fitted", 1, tilted, CLEAN)["left_out"]}
    assert of == pytest.approx({"protocol": LOG2, "link": LOG2 / 2})


def _twice(number: Number) -> Draws:
    assert number.ours is not None
    return number.ours.times(2.0)


def test_a_number_without_an_estimate_is_missing_and_nulls_still_know_it() -> None:
    numbers = _numbers(1.5)
    gone = [Number("delay", each.levels, "mean", each.paper, None) for each in numbers[:1]] + numbers[1:]
    record = skill("some", 0, gone, CLEAN)
    assert (record["missing"], record["predicted"]) == (1, 6)
    assert _null(record, "null-cell")["n"] == 4


def test_metrics_and_statistics_have_null_models_of_their_own() -> None:
    numbers = [
        Number(metric, {"window": window}, statistic, paper, Draws(paper, np.array([paper]), np.inf, 1))
        for (metric, statistic), (window, paper) in product(
            (("time", "mean"), ("time", "sd"), ("use", "mean")), (("1", 1.0), ("2", 2.0))
        )
    ]
    record = skill("many", 0, numbers, {})
    assert [(group["metric"], group["statistic"], group["n"]) for group in record["groups"]] == [
        ("time", "mean", 2), ("time", "sd", 2), ("use", "mean", 2),
    ]  # fmt: skip
    assert _null(record, "constant")["error"] == pytest.approx(LOG2)
    assert (_null(record, "constant")["n"], record["predicted"]) == (4, 6)
    assert [each["model"] for each in record["groups"][0]["nulls"]] == ["constant"]


def test_draws_of_0_leave_an_interval() -> None:
    values = np.full(4000, 2.0)
    values[:3] = 0.0
    [one] = [Number("delay", {"link": "clean"}, "mean", 1.0, Draws(2.0, values, np.inf, 9))]
    record = skill("one", 0, [one], {})
    assert record["error"] is not None
    assert record["error"]["error"]["high"] == pytest.approx(LOG2)
    assert record["skill"] is None
