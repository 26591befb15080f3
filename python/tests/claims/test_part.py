"""Keys that parts of several forms have: the horizon of means."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.claims.fakes import Fake
from tests.claims.grids import LATER
from tests.claims.test_load import GOOD, VALUES, error_of
from wirelab.claims.family import judge_part
from wirelab.claims.forms import FORMS
from wirelab.claims.judgement import Context
from wirelab.claims.load import load
from wirelab.claims.part import as_compared
from wirelab.claims.source import Published

H2, H3 = {"protocol": "h2"}, {"protocol": "h3"}
ALONG = {"path": "x", "levels": ["a", "b"]}
PARTS: list[dict[str, Any]] = [
    {"form": "order", "ascending": [H3, H2]},
    {"form": "ratio", "upper": H2, "lower": H3, "published": 2.0, "printed": [2.0, 2.0]},
    {"form": "equivalence", "upper": H2, "lower": H3, "margin": 3.0},
    {"form": "trend", "upper": H2, "along": ALONG, "direction": "rising"},
    {"form": "bend", "upper": H2, "along": ALONG, "direction": "rising", "published": ["a", "b"]},
    {"form": "change-point", "upper": H2, "lower": H3, "along": ALONG, "published": ["a", "b"]},
    {"form": "from-level", "upper": H2, "lower": H3, "along": ALONG, "published": "b"},
    {"form": "quotient", "per": "delay", "of": H2, "above": 1},
    {"form": "existence", "upper": H2, "lower": H3, "over": {"x": ["a", "b"]}},
    {"form": "same-order", "of": [H2, H3], "across": {"x": ["a", "b"]}},
    {
        "form": "causal-contrast", "upper": H2, "lower": H3, "treated": {"x": "a"}, "control": {"x": "b"},
        "expect": "above",
    },
    {"form": "interaction", "upper": H2, "lower": H3, "first": {"x": "a"}, "second": {"x": "b"}, "expect": "above"},
    {
        "form": "count", "winner": H3, "loser": H2, "metrics": ["delay"], "statistics": ["mean"], "published": 1,
        "over": {"x": ["a", "b"]},
    },
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part["form"])
def test_each_form_with_a_statistic_cuts_its_means_at_the_horizon(part: dict[str, Any]) -> None:
    metric = {} if part["form"] == "count" else {"metric": "delay"}
    means: dict[tuple[str, ...], float] = {("h2",): 2.0, ("h3",): 1.0}
    source = Fake(means | {(one, level): 1.0 for one in ("h2", "h3") for level in "ab"})
    for horizon, asked in (({}, None), ({"horizon": "10 s"}, 10.0)):
        source.horizons_s.clear()
        [made] = FORMS[part["form"]].model_validate({**part, **metric, **horizon}).expand()
        judged = judge_part(made, Context(source, 0.95, 0.95, 1.25))  # type: ignore[arg-type]
        assert source.horizons_s == {asked}
        assert ("values cut at 10 s" in judged.text) == (asked is not None)


def _at(horizon: str) -> str:
    return GOOD.replace('metric = "delay"\n', f'metric = "delay"\nhorizon = "{horizon}"\n')


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        (_at("10"), "x.claims.toml:13:1", "10"),
        (_at("0 s"), "x.claims.toml:13:1", "0 s"),
        (
            _at('10 s"\nstatistic = "median'),
            "x.claims.toml:13:1",
            'a horizon cuts the values of a mean, not of "median"',
        ),
        (_at('10 s"\nstatistic = "sd'), "x.claims.toml:13:1", 'a horizon cuts the values of a mean, not of "sd"'),
        (
            _at("10 s").replace('"end-to-end-delay"', '"wire-up-bytes"'),
            "x.claims.toml:13:1",
            "is a time, and wire-up-bytes is in bytes",
        ),
    ],
)
def test_a_horizon_that_means_nothing_is_refused(tmp_path: Path, text: str, where: str, words: str) -> None:
    message = error_of(tmp_path, text)
    assert message.startswith(where), message
    assert words in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LATER.replace('beside = "of answered requests alone"\n', ""), "written after data existed decides nothing"),
        (LATER.replace('"of answered requests alone"', '""'), "decides nothing (2026-11-29T00:00:00Z)"),
        (LATER.replace("T00:00:00Z", ""), "should be a time with its zone"),
        (re.sub(r"(?<=form = ).*\n", '"unanswered"\n', LATER), "a part of form unanswered decides its claim"),
        (LATER + re.sub(r"(beside|after).*\n", "", LATER), "stands after a part that was written later"),
    ],
)
def test_a_part_that_was_written_later_decides_nothing_and_stands_last(tmp_path: Path, text: str, words: str) -> None:
    good, published = GOOD[: (at := GOOD.index("[published]"))], GOOD[at:]
    path = tmp_path / "x.claims.toml"
    path.write_text(good + LATER + published)
    assert [part.name() for part in load(path).claims[-1].later] == ["order"]
    assert words in error_of(tmp_path, good + text + published)


def test_a_claim_has_a_part_that_was_written_before_data_existed(tmp_path: Path) -> None:
    before, after = GOOD.index("[[claim.part]]"), GOOD.index("[published]")
    words = error_of(tmp_path, GOOD[:before] + LATER + GOOD[after:])
    assert "has no part that was written before data existed" in words
    assert words.startswith("x.claims.toml:7:1: ")


@pytest.mark.parametrize("number", ['published = "1.5"', 'printed = ["1", 2]', 'factor = "1.25"'])
def test_a_number_in_quotes_is_refused(tmp_path: Path, number: str) -> None:
    ratio = 'form = "ratio"\nupper = {}\nlower = {}\npublished = 1.5\nprinted = [1, 2]\n'
    text = "factor = 1.25\n" + GOOD.replace('form = "order"\n', ratio)
    text = re.sub(r"ascending = .*\n", "", text)
    words = error_of(tmp_path, re.sub(rf"{number.partition(' ')[0]} = .*", number, text))
    assert 'should be a number ("1' in words


def test_printed_bounds_hold_what_is_published() -> None:
    ratio = {**PARTS[1], "metric": "delay"}
    assert FORMS["ratio"].model_validate({**ratio, "printed": [1.95, 2.05]})
    for printed, words in (([2.1, 2.2], "does not hold the published 2"), ([2.1, 1.9], "does not ascend")):
        with pytest.raises(ValueError, match=words):
            FORMS["ratio"].model_validate({**ratio, "printed": printed})


def test_a_count_with_other_statistics_has_no_horizon() -> None:
    count = {**PARTS[-1], "statistics": ["mean", "sd"], "horizon": "10 s"}
    with pytest.raises(ValueError, match='a horizon cuts the values of a mean, not of "sd"'):
        FORMS["count"].model_validate(count)


def test_printed_values_are_cut_and_printed_means_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(GOOD + VALUES.replace("]]]", ']], ["delay", "h3", "clean", [1, 2]]]'))
    source = Published(load(path))
    cut = source.draws("delay", "mean", {"protocol": "h2", "link": "lossy"}, 0.011)
    whole = source.draws("delay", "mean", {"protocol": "h2", "link": "lossy"})
    assert cut is not None and whole is not None
    assert (cut.point, whole.point) == (pytest.approx((10 + 11 + 11) / 3e3), pytest.approx(33.5 / 3e3))
    assert source.draws("delay", "mean", {"protocol": "h3", "link": "lossy"}) is not None
    assert source.draws("delay", "mean", {"protocol": "h3", "link": "lossy"}, 0.011) is None
    assert source.absent == {"h3 lossy": "its mean is printed without a horizon"}


def test_levels_are_compared_without_spaces_and_case() -> None:
    assert as_compared("3.5 KB") == as_compared("3.5kB") == "3.5kb"
    assert as_compared(40) == "40"
