"""Each form of claim, on numbers whose truth is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.claims.fakes import Fake
from wirelab.claims import forms
from wirelab.claims.family import judge_part
from wirelab.claims.forms import FORMS
from wirelab.claims.judgement import Context


def _judge(source: Fake, **part: Any) -> Any:
    parts = FORMS[part["form"]].model_validate({"metric": "delay", **part}).expand()
    assert len(parts) == 1
    return judge_part(parts[0], Context(source, 0.95, 0.95, 1.25))


H2, H3 = {"protocol": "h2"}, {"protocol": "h3"}


@pytest.mark.parametrize(
    ("h2", "h3", "verdict"), [(2, 1, "confirmed"), (1, 2, "contradicted"), (1, 1.001, "inconclusive")]
)
def test_an_order_is_confirmed_if_the_interval_of_the_ratio_excludes_1_on_its_side(
    h2: float, h3: float, verdict: str
) -> None:
    judged = _judge(Fake({("h2",): h2, ("h3",): h3}), form="order", ascending=[H3, H2])
    assert judged.verdict == verdict
    assert judged.n == 200


@pytest.mark.parametrize(
    ("h2", "error", "verdict"),
    [
        (1.43, 0.01, "confirmed"),
        (1.70, 0.01, "confirmed"),
        (1.85, 0.03, "inconclusive"),
        (2.5, 0.01, "contradicted"),
        (1.43, 0.3, "inconclusive"),
        (0.7, 0.01, "contradicted"),
    ],
)
def test_a_ratio_is_confirmed_within_the_published_one_divided_and_multiplied(
    h2: float, error: float, verdict: str
) -> None:
    source = Fake({("h2",): h2, ("h3",): 1.0}, error)
    judged = _judge(source, form="ratio", upper=H2, lower=H3, published=1.43, printed=[1.425, 1.44])
    assert judged.verdict == verdict, judged.why
    assert judged.paper == 1.43


def test_a_small_published_ratio_is_not_confirmed_by_magnitude_if_the_direction_is_open() -> None:
    source = Fake({("h2",): 1.01, ("h3",): 1.0}, 0.02)
    judged = _judge(source, form="ratio", upper=H2, lower=H3, published=1.05, printed=[1.045, 1.06])
    assert judged.verdict == "inconclusive"
    assert "magnitude" in judged.why


@pytest.mark.parametrize(
    ("h2", "error", "verdict"),
    [(1.02, 0.01, "confirmed"), (1.02, 0.2, "inconclusive"), (1.5, 0.01, "contradicted"), (0.6, 0.01, "contradicted")],
)
def test_equivalence_needs_the_interval_within_the_margin(h2: float, error: float, verdict: str) -> None:
    source = Fake({("h2",): h2, ("h3",): 1.0}, error)
    assert _judge(source, form="equivalence", upper=H2, lower=H3, margin=1.1).verdict == verdict


COUNT: dict[str, Any] = {
    "form": "count", "winner": H3, "loser": H2, "metrics": ["delay"], "statistics": ["mean"],
    "over": {"link": list("abcdefgh")}, "majority": True,
}  # fmt: skip


def _cells(wins: int, gap: float = 2.0) -> Fake:
    means: dict[tuple[str, ...], float] = {}
    for index, link in enumerate("abcdefgh"):
        means |= {("h3", link): 1.0, ("h2", link): gap if index < wins else 1 / gap}
    return Fake(means)


@pytest.mark.parametrize(
    ("wins", "verdict"), [(6, "confirmed"), (7, "confirmed"), (8, "contradicted"), (2, "contradicted")]
)
def test_a_count_is_judged_in_direction_and_magnitude(wins: int, verdict: str) -> None:
    part = FORMS["count"].model_validate({**COUNT, "published": 6})
    judged = judge_part(part, Context(_cells(wins), 0.95, 0.95, 1.25))  # type: ignore[arg-type]
    assert judged.verdict == verdict, judged.why
    assert judged.ours is not None
    assert judged.ours.point == wins


def test_a_count_over_few_trials_is_inconclusive_even_if_all_resamples_agree() -> None:
    part = FORMS["count"].model_validate({**COUNT, "published": 6})
    cells = _cells(6)
    for df, verdict in ((3, "inconclusive"), (4, "confirmed")):
        cells.df = df
        assert judge_part(part, Context(cells, 0.95, 0.95, 1.25)).verdict == verdict  # type: ignore[arg-type]


def test_a_count_of_ties_is_spread_over_its_bootstrap_distribution() -> None:
    part = FORMS["count"].model_validate({**COUNT, "published": 6})
    judged = judge_part(part, Context(_cells(6, gap=1.0001), 0.95, 0.95, 1.25))  # type: ignore[arg-type]
    assert judged.verdict == "inconclusive"
    assert judged.ours is not None
    assert judged.ours.low is not None and judged.ours.high is not None
    assert judged.ours.low <= 2 and judged.ours.high >= 6


TREND: dict[str, Any] = {
    "form": "trend", "upper": H2, "lower": H3, "along": {"path": "link", "levels": ["a", "b", "c"]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("ratios", "direction", "verdict"),
    [
        ((1, 2, 4), "rising", "confirmed"),
        ((1, 2, 4), "falling", "contradicted"),
        ((4, 2, 1), "falling", "confirmed"),
        ((1, 1.0005, 1), "rising", "inconclusive"),
    ],
)
def test_a_trend_is_the_slope_of_the_logarithm(ratios: tuple[float, ...], direction: str, verdict: str) -> None:
    means: dict[tuple[str, ...], float] = {("h2", link): ratio for link, ratio in zip("abc", ratios, strict=True)}
    source = Fake(means | {("h3", link): 1.0 for link in "abc"})
    judged = _judge(source, **TREND, direction=direction)
    assert judged.verdict == verdict
    if ratios == (1, 2, 4):
        assert judged.ours.point == pytest.approx(2)


def test_a_trend_may_use_some_of_its_levels() -> None:
    levels = {"path": "link", "levels": ["a", "b", "c"]}
    source = Fake({("h2", "b"): 2.0, ("h2", "c"): 4.0})
    part = {"form": "trend", "upper": H2, "direction": "rising"}
    assert _judge(source, **part, along=levels).verdict == "inconclusive"
    assert _judge(source, **part, along=levels | {"least": 3}).verdict == "inconclusive"
    judged = _judge(source, **part, along=levels | {"least": 2})
    assert (judged.verdict, judged.why.endswith("over 2 of 3 levels")) == ("confirmed", True)


def test_a_verdict_names_the_settings_not_in_force_that_it_left_out() -> None:
    source = Fake({("h2", "b"): 2.0, ("h2", "c"): 4.0})
    source.why = "a: its table of the client was configured as 2, and 1 held in its place"
    part = {"form": "trend", "upper": H2, "direction": "rising"}
    judged = _judge(source, **part, along={"path": "link", "levels": ["a", "b", "c"], "least": 2})
    assert judged.verdict == "confirmed"
    assert judged.why.endswith(f"over 2 of 3 levels; {source.why}")


@pytest.mark.parametrize(
    ("ratios", "verdict"), [((0.5, 0.7, 2), "confirmed"), ((0.5, 2, 4), "contradicted"), ((2, 3, 4), "inconclusive")]
)
def test_a_change_point_lies_between_the_published_levels(ratios: tuple[float, ...], verdict: str) -> None:
    means: dict[tuple[str, ...], float] = {("h2", link): ratio for link, ratio in zip("abc", ratios, strict=True)}
    source = Fake(means | {("h3", link): 1.0 for link in "abc"})
    part = {**TREND, "form": "change-point", "published": ["b", "c"]}
    assert _judge(source, **part).verdict == verdict


@pytest.mark.parametrize(("wins", "verdict"), [(1, "confirmed"), (0, "contradicted")])
def test_existence_needs_one_cell_and_is_contradicted_by_all(wins: int, verdict: str) -> None:
    judged = _judge(_cells(wins), form="existence", upper=H2, lower=H3, over={"link": list("abcdefgh")})
    assert judged.verdict == verdict
    assert len(judged.parts) == 8


def test_existence_is_inconclusive_without_a_decided_cell() -> None:
    judged = _judge(_cells(4, gap=1.0001), form="existence", upper=H2, lower=H3, over={"link": list("abcdefgh")})
    assert judged.verdict == "inconclusive"


CONTRAST: dict[str, Any] = {
    "form": "causal-contrast", "upper": H2, "lower": H3, "treated": {"link": "lossy"}, "control": {"link": "clean"},
    "expect": "equal", "margin": 1.25,
}  # fmt: skip


def _additions(h2: float, h3: float) -> Fake:
    return Fake(
        {("h2", "lossy"): 1 + h2, ("h2", "clean"): 1.0, ("h3", "lossy"): 1 + h3, ("h3", "clean"): 1.0,
         ("h2", "clean", "packets"): 20.0, ("h3", "clean", "packets"): 10.0},
        0.002,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("h2", "h3", "verdict"), [(1, 1, "confirmed"), (2, 1, "contradicted"), (0.5, 1, "contradicted")]
)
def test_a_common_cause_must_add_the_same_in_both_cases(h2: float, h3: float, verdict: str) -> None:
    assert _judge(_additions(h2, h3), **CONTRAST).verdict == verdict


def test_agreement_without_evidence_of_the_cause_is_inconclusive() -> None:
    judged = _judge(_additions(1, 1), **CONTRAST, cannot_confirm="there is one stream")
    assert judged.verdict == "inconclusive"
    assert "there is one stream" in judged.why
    assert _judge(_additions(2, 1), **CONTRAST, cannot_confirm="there is one stream").verdict == "contradicted"


def test_a_rival_explanation_is_judged_separately_and_does_not_decide() -> None:
    judged = _judge(_additions(2, 1), **CONTRAST, per=["packets"], rival="more packets")
    assert judged.verdict == "confirmed"
    assert not judged.decides


def test_a_cause_that_acts_in_one_case_only_must_add_more_there() -> None:
    assert _judge(_additions(2, 1), **{**CONTRAST, "expect": "above"}).verdict == "confirmed"
    assert _judge(_additions(1, 2), **{**CONTRAST, "expect": "above"}).verdict == "contradicted"


def test_a_missing_number_makes_a_claim_inconclusive_and_is_named() -> None:
    for part in (
        {"form": "order", "ascending": [H3, H2]},
        {"form": "ratio", "upper": H2, "lower": H3, "published": 2, "printed": [2, 2]},
        {"form": "equivalence", "upper": H2, "lower": H3, "margin": 1.1},
        {**COUNT, "published": 6},
        {**TREND, "direction": "rising"},
        {**TREND, "form": "change-point", "published": ["a", "b"]},
        CONTRAST,
    ):
        source = Fake({("h2", "a"): 1.0, ("h2",): 1.0})
        fields = part if part["form"] == "count" else {"metric": "delay", **part}
        judged = judge_part(FORMS[str(part["form"])].model_validate(fields), Context(source, 0.95, 0.95, 1.25))  # type: ignore[arg-type]
        assert judged.verdict == "inconclusive"
        assert "is not measured" in judged.why


def test_every_file_of_a_form_is_registered() -> None:
    files = {path.stem.replace("_", "-") for path in Path(forms.__file__).parent.glob("*.py")} - {"--init--"}
    assert files == {*FORMS}


@pytest.mark.parametrize(
    ("missing", "size", "verdict"),
    [((0, 1), 30, "confirmed"), ((0, 0), 30, "inconclusive"), ((0, 0), 200, "contradicted")],
)
def test_one_unanswered_exchange_shows_existence_and_many_answers_show_a_low_share(
    missing: tuple[int, int], size: int, verdict: str
) -> None:
    source = Fake({})
    for link, count in zip(("clean", "lossy"), missing, strict=True):
        source.ended[frozenset(("h2", link))] = [(count, size // 10), *[(0, size // 10)] * 9]
    over = {"link": ["clean", "lossy"]}
    part = FORMS["unanswered"].model_validate({"form": "unanswered", "of": H2, "over": over, "least": 1 / 30})
    judged = judge_part(part, Context(source, 0.95, 0.95, 1.25))  # type: ignore[arg-type]
    assert judged.verdict == verdict, judged.why
    assert f"{sum(missing)} of {2 * size} without an answer" in judged.why


def test_outcomes_of_a_scenario_that_was_not_run_decide_nothing() -> None:
    part = FORMS["unanswered"].model_validate({"form": "unanswered", "of": H2, "least": 0.1})
    judged = judge_part(part, Context(Fake({}), 0.95, 0.95, 1.25))  # type: ignore[arg-type]
    assert (judged.verdict, "is not measured" in judged.why) == ("inconclusive", True)


@pytest.mark.parametrize(("h2", "verdict"), [(2.5, "confirmed"), (1.7, "inconclusive"), (1.0, "contradicted")])
def test_an_order_by_a_factor_is_confirmed_only_beyond_it(h2: float, verdict: str) -> None:
    source = Fake({("h2",): h2, ("h3",): 1.0}, 0.1)
    judged = _judge(source, form="order", ascending=[H3, H2], by=1.5)
    assert judged.verdict == verdict, judged.why
    assert "by more than a factor of 1.5" in judged.text


@pytest.mark.parametrize(
    "part",
    [
        {"form": "order", "ascending": [H3, H2]},
        {"form": "ratio", "upper": H2, "lower": H3, "published": 2.0, "printed": [2.0, 2.0]},
        {"form": "equivalence", "upper": H2, "lower": H3, "margin": 3.0},
        {"form": "trend", "upper": H2, "lower": H3, "along": {"path": "x", "levels": ["a", "b"]},
         "direction": "rising"},
        {"form": "change-point", "upper": H2, "lower": H3, "along": {"path": "x", "levels": ["a", "b"]},
         "published": ["a", "b"]},
        {**COUNT, "over": {"x": ["a", "b"]}, "published": 1, "majority": False},
    ],
)  # fmt: skip
def test_values_unknown_by_timeouts_decide_nothing(part: dict[str, Any]) -> None:
    means = {("h2",): 2.0, ("h3",): 1.0, ("h2", "a"): 0.5, ("h3", "a"): 1.0, ("h2", "b"): 4.0, ("h3", "b"): 1.0}
    source = Fake(means)
    metric = {} if part["form"] == "count" else {"metric": "delay"}
    made = FORMS[part["form"]].model_validate({**metric, **part})
    assert judge_part(made, Context(source, 0.95, 0.95, 1.25)).verdict == "confirmed"  # type: ignore[arg-type]
    source.unknown = "h2"
    judged = judge_part(made, Context(source, 0.95, 0.95, 1.25))  # type: ignore[arg-type]
    assert judged.verdict == "inconclusive"
    assert judged.why.endswith("; time-outs leave it unknown")


def test_a_count_over_bounds_decides_only_on_their_side() -> None:
    source = _cells(8)
    part = FORMS["count"].model_validate({**COUNT, "published": 3, "majority": False})
    context = Context(source, 0.95, 0.95, 1.25)
    source.bound = "h2"
    assert judge_part(part, context).verdict == "contradicted"  # type: ignore[arg-type]
    source.bound = "h3"
    assert judge_part(part, context).verdict == "inconclusive"  # type: ignore[arg-type]


def test_a_part_outside_the_verdict_has_a_reason_and_does_not_decide() -> None:
    judged = _judge(Fake({("h2",): 2, ("h3",): 1}), form="order", ascending=[H3, H2], beside="on a fast machine")
    assert (judged.verdict, judged.decides) == ("confirmed", False)
    assert judged.text.startswith("on a fast machine (mean delay: h3 below h2")


def test_an_unmeasured_claim_is_inconclusive_with_the_reason() -> None:
    [part] = FORMS["not-measured"].model_validate({"form": "not-measured", "reason": "nobody looked"}).expand()
    judged = judge_part(part, Context(Fake({}), 0.95, 0.95, 1.25))
    assert (judged.verdict, judged.why, judged.n) == ("inconclusive", "not measured: nobody looked", 0)


@pytest.mark.parametrize(
    ("small", "large", "verdict"),
    [
        ((1, 2), (1, 2), "confirmed"),
        ((2, 1), (2, 1), "confirmed"),
        ((1, 2), (2, 1), "contradicted"),
        ((1, 2), (1, 1.001), "inconclusive"),
    ],
)
def test_the_same_order_needs_every_cell_and_is_contradicted_if_two_cells_differ(
    small: tuple[float, float], large: tuple[float, float], verdict: str
) -> None:
    means = {
        (protocol, size): mean
        for size, pair in (("small", small), ("large", large))
        for protocol, mean in zip(("h2", "h3"), pair, strict=True)
    }
    judged = _judge(Fake(means), form="same-order", of=[H2, H3], across={"size": ["small", "large"]})
    assert judged.verdict == verdict
    for (size, ratio), pair in zip(judged.judged, (small, large), strict=True):
        assert ratio.low < pair[1] / pair[0] < ratio.high, size
    assert [size for size, _ in judged.judged] == ["small", "large"]


def test_the_same_order_is_contradicted_at_a_level_for_each_pair_of_cells() -> None:
    means: dict[tuple[str, ...], float]
    means = {("h2", "a"): 1, ("h2", "b"): 1, ("h2", "c"): 2, ("h3", "a"): 2, ("h3", "b"): 2, ("h3", "c"): 1}
    judged = _judge(Fake(means), form="same-order", of=[H2, H3], across={"size": ["a", "b", "c"]})
    assert judged.verdict == "contradicted"
    assert {round(ratio.level, 4) for _, ratio in judged.judged} == {round(1 - 0.05 / 3, 4)}


@pytest.mark.parametrize(("ratio", "tolerance"), [(2.0, "1.0"), (3.0, "1.5"), (1.2, "1.6")])
def test_a_ratio_names_the_smallest_tolerance_that_confirms_it(ratio: float, tolerance: str) -> None:
    part = {
        "form": "ratio", "metric": "delay", "upper": {"protocol": "h2"}, "lower": {"protocol": "h3"},
        "published": 2.0, "printed": [2.0, 2.0],
    }  # fmt: skip
    judged = _judge(Fake({("h2",): ratio, ("h3",): 1.0}, 0.001), **part)
    assert f"smallest tolerance that confirms the magnitude: {tolerance}" in judged.why
    assert judged.tolerance is not None
    assert judged.verdict == ("confirmed" if judged.tolerance <= 1.25 else "contradicted")
