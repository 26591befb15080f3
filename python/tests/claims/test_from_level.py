"""The level from which on one case is above another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.claims.fakes import Fake
from tests.claims.test_load import GOOD, error_of
from wirelab.claims.family import Rules, judge, judge_part
from wirelab.claims.forms import FromLevel
from wirelab.claims.judgement import Context
from wirelab.claims.model import Claim

LEVELS = ["a", "b", "c", "d"]


def part(published: str | None, **fields: Any) -> FromLevel:
    made = {
        "form": "from-level", "metric": "delay", "upper": {"protocol": "h2"}, "lower": {"protocol": "h3"},
        "along": {"path": "loss", "levels": LEVELS}, **({} if published is None else {"published": published}),
    }  # fmt: skip
    return FromLevel.model_validate({**made, **fields})


def source(ratios: tuple[float, ...], error: float = 0.01) -> Fake:
    means: dict[tuple[str, ...], float] = {("h2", level): ratio for level, ratio in zip(LEVELS, ratios, strict=False)}
    return Fake(means | {("h3", level): 1.0 for level in LEVELS}, error)


def judged(ratios: tuple[float, ...], published: str | None, error: float = 0.01, **fields: Any) -> Any:
    context = Context(source(ratios, error), 0.95, 0.95, 1.25)  # type: ignore[arg-type]
    return judge_part(part(published, **fields), context)


@pytest.mark.parametrize(
    ("ratios", "published", "verdict"),
    [
        ((0.5, 0.8, 2.0, 3.0), "c", "confirmed"),
        ((0.5, 2.0, 2.0, 3.0), "c", "contradicted"),
        ((0.5, 0.8, 2.0, 0.5), "c", "contradicted"),
        ((0.5, 0.8, 0.9, 3.0), "c", "contradicted"),
        ((0.5, 1.0, 2.0, 3.0), "c", "inconclusive"),
        ((2.0, 0.8, 2.0, 3.0), "c", "confirmed"),
        ((2.0, 2.0, 2.0, 3.0), "a", "confirmed"),
        ((0.5, 0.8, 0.8, 3.0), "d", "confirmed"),
    ],
)
def test_it_begins_at_the_level_and_not_earlier(ratios: tuple[float, ...], published: str, verdict: str) -> None:
    found = judged(ratios, published)
    assert found.verdict == verdict, found.why


def test_wide_intervals_decide_nothing() -> None:
    assert judged((0.5, 0.8, 2.0, 3.0), "c", error=0.6).verdict == "inconclusive"


def test_a_factor_must_be_exceeded() -> None:
    found = judged((1.0, 1.2, 2.0, 3.0), "c", by=1.5)
    assert found.verdict == "confirmed", found.why
    assert "h2 more than 1.5 times h3 from c on" in found.text
    assert judged((1.0, 1.2, 1.4, 3.0), "c", by=1.5).verdict == "contradicted"


def test_the_place_is_reported_and_so_is_its_absence() -> None:
    found = judged((0.5, 0.8, 2.0, 3.0), "c")
    assert (found.ours.point, found.ours.low, found.ours.high) == (2, 2, 2)
    assert (
        "by the estimates h2 is above h3 from c on; the interval lies above 1 at c, d; h2 over h3 is 0.5 [" in found.why
    )
    assert [of for of, _ in found.judged] == ["b", "c", "d"]
    assert "; the interval lies above 1 at d; " in judged((0.5, 0.8, 1.2, 3.0), "c", error=0.2).why
    assert "; the interval lies above 1 at no level; " in judged((0.5, 0.8, 0.9, 0.9), "c").why
    found = judged((2.0, 2.0, 2.0, 0.5), "c")
    assert (found.verdict, found.ours.point) == ("contradicted", 4)
    assert "h2 is above h3 not at the last level" in found.why


def test_any_needed_level_may_contradict_so_that_they_share_the_error_rate() -> None:
    found = judged((0.5, 0.8, 2.0, 0.5), "c")
    assert {round(each.level, 4) for _, each in found.judged} == {round(1 - 0.05 / 3, 4)}


def test_without_a_published_level_the_part_describes_and_decides_nothing() -> None:
    found = judged((0.5, 0.8, 2.0, 3.0), None)
    assert (found.verdict, found.decides, found.decidable, found.ours.point) == ("inconclusive", False, False, 2)
    assert "from c on" in found.why
    two = [part(None), part(None, beside="again")]
    claim = Claim.model_construct(id="C1", text="from a level on", note=None, parts=two)
    whole = judge(claim, source((0.5, 0.8, 2.0, 3.0)), 0.05, Rules(0.05, 1.25, {}))  # type: ignore[arg-type]
    assert (whole.verdict, whole.why, whole.decidable) == ("inconclusive", "no part decides", False)


def test_without_one_of_the_levels_nothing_is_decided() -> None:
    found = judged((0.5, 0.8, 2.0), "c")
    assert (found.verdict, found.missing) == ("inconclusive", True)
    assert "is not measured" in found.why


PART = """\
form = "from-level"
metric = "delay"
upper = { protocol = "h2" }
lower = { protocol = "h3" }
along = { path = "link", levels = ["clean", "lossy"] }
by = 1.5
published = "lossy"
"""


@pytest.mark.parametrize(
    ("good", "bad", "where", "words"),
    [
        ('published = "lossy"', 'published = "losy"', "x.claims.toml:17:1", "losy is not one of the levels of `along`"),
        ('"lossy"] }', '"lossy"], least = 2 }', "x.claims.toml:15:1", "`least` is for trends alone"),
        ("by = 1.5", "by = 0.5", "x.claims.toml:16:1", "must be at least 1"),
        ('lower = { protocol = "h3" }\n', "", "x.claims.toml:10:", "is missing"),
    ],
)
def test_wrong_keys_have_their_place(tmp_path: Path, good: str, bad: str, where: str, words: str) -> None:
    assert good in PART
    message = error_of(tmp_path, GOOD[: GOOD.index("form =")] + PART.replace(good, bad, 1))
    assert message.startswith(where), message
    assert words in message
