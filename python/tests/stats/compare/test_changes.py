"""What counts as a change: by the whole interval, beyond a margin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.stats.compare.test_clocks import DELAY, edit_exchanges, edit_plan, keep_exchanges, virtually
from tests.synthetic import write_campaign
from wirelab.schema.changes import Change, MeasureChange
from wirelab.schema.estimates import EXACT
from wirelab.stats.compare.changes import (
    SAME_PACKETS,
    Measure,
    change_of,
    each_level,
    judged,
    measure_of,
    measures,
)
from wirelab.stats.compare.scenarios import Side
from wirelab.stats.dataset import Dataset
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.estimate.sample import Sample


def interval(low: float | None, high: float | None, point: float | None = 1.0) -> Estimate:
    return Estimate(point, low, high, 0.95, 100, "bootstrap")


@pytest.mark.parametrize(
    ("low", "high", "change"),
    [(1.06, 1.2, "larger"), (1.04, 1.2, "inconclusive"), (0.96, 1.04, "unchanged"), (0.8, 0.94, "smaller"),
     (0.8, 0.96, "inconclusive"), (None, None, "inconclusive"), (1.06, None, "larger"), (1.05, 1.2, "inconclusive")],
)  # fmt: skip
def test_a_ratio_changes_by_its_whole_interval(low: float | None, high: float | None, change: Change) -> None:
    found, why = change_of(interval(low, high), 0.05)
    assert found == change
    assert (why is not None) == (change == "inconclusive")


def test_a_margin_is_the_same_either_way() -> None:
    assert change_of(interval(1.051, 2), 0.05)[0] == "larger"
    assert change_of(interval(1 / 2, 1 / 1.051), 0.05)[0] == "smaller"
    assert change_of(interval(1 / 1.049, 1.049), 0.05)[0] == "unchanged"


def test_a_difference_of_shares_is_compared_with_the_margin_itself() -> None:
    assert change_of(interval(-0.2, -0.06, -0.1), 0.05, difference=True)[0] == "smaller"
    assert change_of(interval(-0.04, 0.04, 0.0), 0.05, difference=True)[0] == "unchanged"
    assert change_of(interval(0.01, 0.04, 0.02), 0.05, difference=True)[0] == "unchanged"
    # Requests that are lost are a change, however few.
    assert change_of(interval(-0.03, -0.001, -0.02), 0.05, difference=True)[0] == "smaller"


def test_intervals_share_one_error_rate() -> None:
    assert each_level(1) == pytest.approx(0.95)
    assert each_level(10) == pytest.approx(0.995)
    assert each_level(0) == pytest.approx(0.95)


def two_sides(of: str, times: float = 1.0) -> tuple[Side, Side]:
    rng = np.random.default_rng(3)
    olds, news = (rng.lognormal(0, 0.1, (10, 40)) for _ in range(2))
    old, new = (Side.of("s", Sample.of(rows), rng, 10.0, of) for rows in (olds, news * times))
    return old, new


@pytest.mark.parametrize("of", ["median", "mean", "p95"])
def test_each_statistic_finds_what_is_longer(of: str) -> None:
    longer = judged(measure_of(of, ("end-to-end-delay", "s"), two_sides(of, 1.5)), 0.05, 0.99)
    assert (longer["change"], longer["worse"], longer["why"]) == ("larger", True, None)
    assert longer["effect"]["level"] == 0.99
    assert longer["effect"]["point"] == pytest.approx(1.5, rel=0.1)
    shorter = judged(measure_of(of, ("end-to-end-delay", "s"), two_sides(of, 0.5)), 0.05, 0.99)
    assert (shorter["change"], shorter["worse"]) == ("smaller", False)
    same = judged(measure_of(of, ("end-to-end-delay", "s"), two_sides(of)), 0.2, 0.95)
    assert same["change"] == "unchanged"


@pytest.mark.parametrize(
    ("metric", "times", "worse"),
    [("wire-bytes", 2.0, False), ("throughput", 2.0, False), ("throughput", 0.5, True), ("load-time", 2.0, True)],
)
def test_what_is_worse_depends_on_the_metric(metric: str, times: float, *, worse: bool) -> None:
    found = judged(measure_of("mean", (metric, "s"), two_sides("mean", times)), 0.05, 0.95)
    assert found["change"] == ("larger" if times > 1 else "smaller")
    assert found["worse"] == worse


def test_unusable_quality_shows_nothing() -> None:
    found = judged(
        measure_of("median", ("end-to-end-delay", "s"), two_sides("median", 3)), 0.05, 0.95, "the link was late"
    )
    assert (found["change"], found["worse"]) == ("inconclusive", False)
    assert found["why"] == "the quality is unusable: the link was late"


def write_two(folder: Path, **options: object) -> tuple[Path, Path]:
    """Two campaigns of the same scenarios, whose values differ by chance."""
    asked = {"uploads": ("30 B",), "links": ("random",), "protocols": ("http1",), "exchanges": 40, **options}
    old, new = (write_campaign(folder / name, seed=seed, **asked) for seed, name in enumerate(("old", "new")))  # type: ignore[arg-type]
    return old, new


def compared(old: Path, new: Path, *, same: bool = False) -> dict[str, Measure]:
    sides = Dataset.read(old), Dataset.read(new)
    key = sides[0].scenarios[0].key
    found = measures(sides[0], key, sides[1], sides[1].scenarios[0].key, same=same)
    return {f"{each.of} {each.metric}": each for each in found}


def changes(old: Path, new: Path) -> dict[str, MeasureChange]:
    return {name: judged(each, 0.05, 0.99) for name, each in compared(old, new).items()}


def test_the_headline_metric_its_tail_and_packets_are_compared(tmp_path: Path) -> None:
    assert list(compared(*write_two(tmp_path))) == [
        "median end-to-end-delay", "p95 end-to-end-delay", "mean wire-up-packets", "mean wire-down-packets",
    ]  # fmt: skip


def test_few_trials_of_counts_show_no_change_without_a_margin() -> None:
    def found(trials: int, margin: float, metric: str = "round-trips") -> MeasureChange:
        rng = np.random.default_rng(1)
        sides = tuple(Side.of("s", Sample.of(np.full((trials, 20), value)), rng) for value in (3.5, 3.0))
        return judged(measure_of("mean", (metric, ""), sides), margin, 0.99)

    assert (found(4, 0.0)["change"], found(4, 0.05)["change"], found(5, 0.0)["change"]) == (
        "inconclusive", "smaller", "smaller",
    )  # fmt: skip
    assert found(4, 0.0)["why"] == "too few trials for a count without a margin: 4 of 5"
    assert found(4, 0.0, "end-to-end-delay")["change"] == "smaller", "delays vary"


def test_round_trips_are_compared_and_more_of_them_are_not_worse(tmp_path: Path) -> None:
    sides = write_two(tmp_path)
    for side, turns in zip(sides, (6, 8), strict=True):
        edit_exchanges(side, ((turns + pl.col("index") % 2) / 2).alias("round_trips"))
    found = changes(*sides)["mean round-trips"]
    assert (found["change"], found["worse"], found["unit"]) == ("larger", False, "")
    assert found["effect"]["point"] == pytest.approx(4.25 / 3.25)


def test_a_tail_of_too_few_values_is_not_compared(tmp_path: Path) -> None:
    found = compared(*write_two(tmp_path, exchanges=9))
    assert "p95 end-to-end-delay" not in found
    assert "median end-to-end-delay" in found


def test_random_numbers_of_both_sides_differ(tmp_path: Path) -> None:
    """The same campaign twice would otherwise resample alike, and its ratio would have no spread at all."""
    old, _ = write_two(tmp_path)
    edit_plan(old, lambda plan: plan.update(seed=7))
    twice = compared(old, old)["mean wire-up-packets"].effect(0.95)
    assert twice.low is not None
    assert twice.high is not None


def test_fewer_completed_is_worse(tmp_path: Path) -> None:
    old, new = write_two(tmp_path)
    failed = pl.col("index") % 4 == 0
    edit_exchanges(
        new,
        pl.when(failed).then(pl.lit("failed")).otherwise("outcome").alias("outcome"),
        pl.when(failed).then(None).otherwise(DELAY).alias(DELAY),
    )
    found = changes(old, new)["completed None"]
    assert (found["change"], found["worse"], found["unit"]) == ("smaller", True, "share")
    assert found["effect"]["point"] == pytest.approx(-0.25)


def test_a_side_without_an_exchange_completed_none(tmp_path: Path) -> None:
    old, new = write_two(tmp_path)
    keep_exchanges(new, pl.lit(value=False))
    found = changes(old, new)["completed None"]
    assert (found["change"], found["worse"], found["effect"]["point"]) == ("smaller", True, -1.0)
    back = changes(new, old)["completed None"]
    assert (back["change"], back["worse"]) == ("larger", False)
    keep_exchanges(old, pl.lit(value=False))
    assert changes(old, new) == {}


def test_what_repeats_under_the_virtual_clock_needs_no_interval(tmp_path: Path) -> None:
    old, new = write_two(tmp_path, links=("lossless",))
    for folder, delay_ns in ((old, 40_000_000), (new, 43_000_000)):
        edit_plan(folder, virtually)
        edit_exchanges(folder, pl.lit(delay_ns).alias(DELAY))
    found = changes(old, new)["median end-to-end-delay"]
    assert (found["change"], found["worse"], found["why"]) == ("larger", True, "each trial has the same values")
    assert found["effect"]["point"] == found["effect"]["low"] == pytest.approx(43 / 40)
    assert found["effect"]["method"] == found["old"]["method"] == found["new"]["method"] == EXACT
    edit_exchanges(new, pl.when(pl.col("block") == 0).then(50_000_000).otherwise(DELAY).alias(DELAY))
    found = changes(old, new)["median end-to-end-delay"]
    assert (found["old"]["method"] == EXACT, found["new"]["method"] == EXACT) == (True, False)
    assert found["why"] is None


def test_the_same_packets_are_unchanged_whatever_the_spread(tmp_path: Path) -> None:
    old, new = write_two(tmp_path)
    found = judged(compared(old, new, same=True)["median end-to-end-delay"], 0.0, 0.95)
    assert (found["change"], found["why"]) == ("unchanged", SAME_PACKETS)
