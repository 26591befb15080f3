"""A ratio that another factor changes, or does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.claims.fakes import Fake
from tests.claims.test_load import GOOD, error_of
from wirelab.claims.family import judge_part
from wirelab.claims.forms import Interaction
from wirelab.claims.judgement import Context

SIZES = ("small", "large")


def judged(small: float, large: float, expect: str, error: float = 0.01) -> Any:
    means: dict[tuple[str, ...], float] = {
        ("h2", size): ratio for size, ratio in zip(SIZES, (small, large), strict=True)
    }
    fields = {
        "form": "interaction", "metric": "delay", "upper": {"protocol": "h2"}, "lower": {"protocol": "h3"},
        "first": {"size": "small"}, "second": {"size": "large"}, "expect": expect,
    }  # fmt: skip
    part = Interaction.model_validate({**fields, **({"margin": 1.25} if expect == "none" else {})})
    source = Fake(means | {("h3", size): 1.0 for size in SIZES}, error)
    return judge_part(part, Context(source, 0.95, 0.95, 1.25))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("small", "large", "expect", "verdict"),
    [
        (1.265, 1.117, "none", "confirmed"),
        (0.95, 1.05, "none", "confirmed"),
        (2.0, 1.0, "none", "contradicted"),
        (1.0, 2.0, "none", "contradicted"),
        (1.25, 1.0, "none", "inconclusive"),
        (2.0, 1.0, "above", "confirmed"),
        (1.0, 2.0, "above", "contradicted"),
        (2.0, 2.0, "above", "inconclusive"),
        (1.0, 2.0, "below", "confirmed"),
        (2.0, 1.0, "below", "contradicted"),
    ],
)
def test_an_interaction_is_judged_by_the_ratio_of_two_ratios(
    small: float, large: float, expect: str, verdict: str
) -> None:
    found = judged(small, large, expect)
    assert found.verdict == verdict, found.why
    assert found.ours.point == pytest.approx(small / large)
    assert found.n == 400


def test_a_wide_interval_shows_no_absence_of_an_interaction() -> None:
    assert judged(1.0, 1.0, "none", error=0.2).verdict == "inconclusive"


def test_a_missing_case_is_named() -> None:
    fields = {"form": "interaction", "metric": "delay", "upper": {"protocol": "h2"}, "lower": {"protocol": "h3"}}
    part = Interaction.model_validate({**fields, "first": {"x": "a"}, "second": {"x": "b"}, "expect": "above"})
    source = Fake({("h2", "a"): 1.0, ("h3", "a"): 1.0, ("h2", "b"): 1.0})
    found = judge_part(part, Context(source, 0.95, 0.95, 1.25))  # type: ignore[arg-type]
    assert (found.verdict, found.missing) == ("inconclusive", True)
    assert "mean delay of b, h3 is not measured" in found.why


PART = """\
form = "interaction"
metric = "delay"
upper = { protocol = "h2" }
lower = { protocol = "h3" }
first = { link = "clean" }
second = { link = "lossy" }
expect = "none"
margin = 1.25
"""


@pytest.mark.parametrize(
    ("good", "bad", "where", "words"),
    [
        ("margin = 1.25\n", "", "x.claims.toml:17:1", 'needs a margin ("none")'),
        ('"none"', '"above"', "x.claims.toml:17:1", 'has no margin ("above")'),
        ('"none"', '"nothing"', "x.claims.toml:17:1", "unknown value"),
        ("1.25", "1", "x.claims.toml:18:1", "must be above 1"),
        ('second = { link = "lossy" }', 'second = { link = "losy" }', "x.claims.toml:16:1", "did you mean 'lossy'?"),
    ],
)
def test_wrong_keys_have_their_place(tmp_path: Path, good: str, bad: str, where: str, words: str) -> None:
    assert good in PART
    message = error_of(tmp_path, GOOD[: GOOD.index("form =")] + PART.replace(good, bad, 1))
    assert message.startswith(where), message
    assert words in message
