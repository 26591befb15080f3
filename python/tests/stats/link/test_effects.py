"""Duplication, corruption and reordering: configured, and counted in the trials' logs."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tests.asked import chain
from wirelab.stats.link.effects import Effect, effects

DUPLICATE = {"kind": "duplicate", "probability": 0.1}
CORRUPT = {"kind": "corrupt", "probability": 0.02}
DELAY = {"kind": "delay", "delay_ns": 10_000_000}


def counted(stages: list[dict[str, Any]], **hits: int) -> dict[str, Effect]:
    """Effects over 5 trials of 20,000 packets with so many hits each, every trial with a seed of its own."""
    names = ("duplicated", "corrupted", "reordered")
    rows = [
        {"replicate": i, "up_log_packets": 20_000, **{f"up_log_{name}": hits.get(name, 0) for name in names}}
        for i in range(5)
    ]
    return {effect.name: effect for effect in effects(chain(*stages), pl.DataFrame(rows), "up")}


def test_configured_and_counted_effects_agree() -> None:
    found = counted([DELAY, DUPLICATE, CORRUPT], duplicated=2000, corrupted=400)
    assert {name: effect.configured for name, effect in found.items()} == pytest.approx(
        {"duplicated": 0.1, "corrupted": 0.02, "reordered": 0.0}
    )
    assert [effect.grade() for effect in found.values()] == [None] * 3
    measured = found["duplicated"].measured(0.95)
    assert measured.point == 0.1
    assert measured.low is not None
    assert 0.097 < measured.low < 0.1


def test_two_stages_add_up() -> None:
    assert counted([DUPLICATE, DUPLICATE])["duplicated"].configured == pytest.approx(0.19)


@pytest.mark.parametrize(
    ("name", "hits", "flag"),
    [("duplicated", 2120, "limited"), ("corrupted", 800, "unusable"), ("reordered", 5, "unusable")],
)
def test_a_deviating_effect_is_flagged_with_both_shares(name: str, hits: int, flag: str) -> None:
    found = counted([DELAY, DUPLICATE, CORRUPT], **{"duplicated": 2000, "corrupted": 400, name: hits})[name].grade()
    assert found is not None
    assert found[0] == flag
    assert f"{name}, measured {hits / 20_000:.4%} [" in found[1]


@pytest.mark.parametrize(
    "stage",
    [{"kind": "reorder", "probability": 0.1, "by_ns": 10**6}, {**DELAY, "overtaking": True}],
)
def test_configured_reordering_has_no_single_share(stage: dict[str, Any]) -> None:
    found = counted([stage], reordered=3000)["reordered"]
    assert (found.configured, found.grade()) == (None, None)
    assert found.measured(0.95).point == 0.15


def test_correlated_draws_have_no_interval_of_independent_ones() -> None:
    assert counted([{**CORRUPT, "correlation": 0.5}], corrupted=700)["corrupted"].grade() is None


def test_trials_without_a_log_are_left_out() -> None:
    rows = pl.DataFrame({"replicate": [0], "up_log_packets": [None], "up_log_duplicated": [None]})
    assert effects(chain(DUPLICATE), rows, "up") == []
