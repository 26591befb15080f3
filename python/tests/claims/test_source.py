"""Where the numbers of a judgement come from."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.claims.family import judge_part
from wirelab.claims.forms import Equivalence, Order, ShareBeyond, Unanswered
from wirelab.claims.grade import Grades
from wirelab.claims.judgement import Context
from wirelab.claims.samples import Samples
from wirelab.claims.source import Measured
from wirelab.metrics.tables import write_table
from wirelab.stats.dataset import Dataset
from wirelab.stats.machine.endpoint_waits import Wait

LEVELS = {"protocol": "h2", "link": "lossless", "workload.upload": "30 B"}


def _source(folder: Path, timed_out: float, *, filtered: bool = False) -> Measured:
    write_campaign(
        folder, protocols=("h2",), links=("lossless",), uploads=("30 B",), trials=6, exchanges=20, timed_out=timed_out
    )
    samples = Samples(Dataset.read(folder), frozenset(LEVELS), medians=True)
    return Measured(samples, {"link.rtt": "20 ms"}, {"delay": "end-to-end-delay"}, filtered, 200)


def test_a_median_counts_timed_out_exchanges_as_above_the_time_out(tmp_path: Path) -> None:
    draws = _source(tmp_path, 0.8).draws("delay", "median", LEVELS)
    assert draws is not None
    assert draws.point == math.inf
    assert draws.interval(0.95) == (None, None)


def test_a_mean_counts_a_single_time_out_at_the_time_out(tmp_path: Path) -> None:
    _source(tmp_path, 0.0)
    exchanges = pl.read_parquet(tmp_path / "exchanges.parquet").with_row_index("row")
    late = pl.col("row") == 0
    exchanges.with_columns(
        outcome=pl.when(late).then(pl.lit("timed-out")).otherwise("outcome"),
        end_to_end_delay_ns=pl.when(~late).then("end_to_end_delay_ns"),
    ).drop("row").pipe(write_table, tmp_path / "exchanges.parquet")
    source = _with_time_out(tmp_path, 180)
    draws = source.draws("delay", "mean", LEVELS)
    assert draws is not None
    assert draws.point == pytest.approx((119 * 0.081 + 180) / 120, abs=0.001)
    assert draws.n == 120
    [time_outs] = source.time_outs.values()
    assert time_outs.horizon_s == 180
    assert time_outs.share == pytest.approx(180 / 120 / draws.point, abs=0.001)
    assert list(source.touched.values()) == [draws.n]


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_mean_at_a_horizon_cuts_each_value_and_each_time_out_there(tmp_path: Path, share: float) -> None:
    _source(tmp_path, share)
    source = _with_time_out(tmp_path, 10)
    sample = source.samples.of(next(one.key for one in source.samples.dataset.scenarios))["end-to-end-delay"]
    for horizon_s in (0.05, 5.0):
        draws = source.draws("delay", "mean", LEVELS, horizon_s)
        assert draws is not None
        assert draws.n == 120
        late = sample.censored_share
        assert draws.point == pytest.approx(late * horizon_s + (1 - late) * min(0.081, horizon_s), abs=0.001)
        assert draws.values.max() <= horizon_s * (1 + 1e-12)
        assert [each.horizon_s for each in source.time_outs.values()] == ([horizon_s] if share else [])
    plain = source.draws("delay", "mean", LEVELS)
    assert plain is not None
    assert [each.horizon_s for each in source.time_outs.values()] == ([10] if share else [])


def test_a_mean_of_completed_exchanges_leaves_time_outs_out_and_says_how_many(tmp_path: Path) -> None:
    _source(tmp_path, 0.5)
    source = _with_time_out(tmp_path, 10)
    sample = source.samples.of(next(one.key for one in source.samples.dataset.scenarios))["end-to-end-delay"]
    draws, whole = (source.draws("delay", each, LEVELS) for each in ("mean-of-completed", "mean"))
    assert draws is not None and whole is not None
    assert draws.point == pytest.approx(sample.values.mean())
    assert whole.point == pytest.approx((1 - sample.censored_share) * draws.point + sample.censored_share * 10)
    assert (draws.n, whole.n) == (len(sample.values), 120)
    part = Equivalence(
        form="equivalence", metric="delay", statistic="mean-of-completed", where=LEVELS, margin=1.5,
        upper={"protocol": "h2"}, lower={"protocol": "h2"},
    )  # fmt: skip
    judged = judge_part(part, Context(source, 0.95, 0.95, 1.25))
    assert judged.verdict == "inconclusive"
    assert "; it would be confirmed, but its means leave out more than 1 % of a case; " in judged.why
    assert judged.text.startswith("mean delay of completed exchanges, ")
    [name] = [one.name for one in source.samples.dataset.scenarios]
    left_out = f"{100 * sample.censored_share:.3g} % of {name}"
    assert judged.why.endswith(f"; mean, without time-outs, which are {left_out}")


def test_without_time_outs_both_means_are_one(tmp_path: Path) -> None:
    source = _source(tmp_path, 0.0)
    draws, whole = (source.draws("delay", each, LEVELS) for each in ("mean-of-completed", "mean"))
    assert draws is not None and whole is not None
    assert (draws.point, draws.interval(0.95)) == (whole.point, whole.interval(0.95))
    part = Equivalence(
        form="equivalence", metric="delay", statistic="mean-of-completed", where=LEVELS, margin=1.5,
        upper={"protocol": "h2"}, lower={"protocol": "h2"},
    )  # fmt: skip
    assert judge_part(part, Context(source, 0.95, 0.95, 1.25)).verdict == "confirmed"
    assert not source.time_outs


def test_one_value_has_no_interval_and_is_said_to_be_one(tmp_path: Path) -> None:
    write_campaign(
        tmp_path, protocols=("h2",), links=("lossless",), uploads=("30 B",), trials=1, exchanges=1, timed_out=0
    )
    samples = Samples(Dataset.read(tmp_path), frozenset(LEVELS), medians=True)
    source = Measured(samples, {"link.rtt": "20 ms"}, {"delay": "end-to-end-delay"}, filtered=False, resamples=200)
    assert source.draws("delay", "mean", LEVELS) is None
    [why] = source.few.values()
    assert why.endswith(": 1 completed value, and an interval needs 2")


def test_delays_are_unknown_after_the_time_out(tmp_path: Path) -> None:
    _source(tmp_path, 0.0)
    source = _with_time_out(tmp_path, 10)
    [name] = [one.name for one in source.samples.dataset.scenarios]
    assert source.draws("delay", "mean", LEVELS, 10.0) is not None
    assert source.beyond("delay", 10.0, LEVELS) is not None
    assert not source.absent
    assert source.draws("delay", "mean", LEVELS, 11.0) is None
    assert source.beyond("delay", 11.0, LEVELS) is None
    assert source.absent == {"h2 lossless 30 B": f"{name}: 11 s is after its time-out, 10 s"}
    part = Order(
        form="order", metric="delay", where={**LEVELS}, ascending=[{"protocol": "h2"}, {"protocol": "h2"}]
    ).model_copy(update={"horizon": 11 * 10**9})
    judged = judge_part(part, Context(source, 0.95, 0.95, 1.25))
    assert (judged.verdict, judged.missing) == ("inconclusive", True)
    assert judged.why.endswith("is not measured; " + f"{name}: 11 s is after its time-out, 10 s")


def test_a_share_beyond_a_bound_counts_time_outs_trial_by_trial(tmp_path: Path) -> None:
    _source(tmp_path, 0.3)
    source = _with_time_out(tmp_path, 10)
    late, all_ = source.beyond("delay", 5.0, LEVELS), source.beyond("delay", 0.001, LEVELS)
    assert late is not None and all_ is not None
    assert list(zip(late.successes, late.sizes, strict=True)) == source.unanswered(LEVELS)
    assert all_.point == 1
    assert source.beyond("delay", 5.0, {**LEVELS, "protocol": "h3"}) is None
    assert list(source.touched.values()) == [120]


def test_a_share_of_values_unknown_by_timeouts_decides_nothing(tmp_path: Path) -> None:
    for share, known in ((0.3, False), (0.0, True)):
        source = _source(tmp_path / str(share), share)
        found = source.beyond("wire-up-packets", 1.0, LEVELS)
        assert found is not None
        assert found.tells == (known, known)


def test_disturbed_exchanges_are_left_out_of_a_share(tmp_path: Path) -> None:
    _source(tmp_path, 0.0)
    exchanges = pl.read_parquet(tmp_path / "exchanges.parquet").with_row_index("row")
    late = pl.col("row") % 20 < 4
    exchanges.with_columns(
        end_to_end_delay_ns=pl.when(late).then(2 * 10**9).otherwise("end_to_end_delay_ns"), disturbed=late
    ).drop("row").pipe(write_table, tmp_path / "exchanges.parquet")
    part = ShareBeyond(form="share-beyond", metric="delay", upper=LEVELS, beyond="1 s", least=0.05)  # type: ignore[arg-type]
    source = _with_time_out(tmp_path, 180)
    source.grades = Grades((), {}, {}, {})
    judged = judge_part(part, Context(source, 0.95, 0.95, 1.25))
    assert judged.ours is not None and judged.ours.point == 24 / 120
    words = "it would be confirmed, but not without the 24 of 120 exchanges during which the link was late"
    assert judged.why.endswith(words)


def test_cpu_waiting_is_taken_away_from_delays_before_they_are_counted(tmp_path: Path) -> None:
    source = _source(tmp_path, 0.0)
    [scenario] = source.samples.dataset.scenarios
    wait = Wait(scenario.name, 0.5, 0.0, "unusable", "the CPU was busy", 0.05, 0.05, 0.05)
    source.grades = Grades((), {}, {scenario.key: wait}, {})
    part = ShareBeyond(form="share-beyond", metric="delay", upper=LEVELS, beyond="50 ms", least=0.5)  # type: ignore[arg-type]
    judged = judge_part(part, Context(source, 0.95, 0.95, 1.25))
    assert judged.verdict == "inconclusive"
    assert "it would be confirmed, but not without the 50 ms of CPU waiting" in judged.why


def test_the_outlier_rule_leaves_no_time_outs(tmp_path: Path) -> None:
    draws = _source(tmp_path, 0.8, filtered=True).draws("delay", "median", LEVELS)
    assert draws is not None
    assert draws.point == pytest.approx(0.081, abs=0.001)


def test_each_statistic_has_the_resamples_that_its_family_needs(tmp_path: Path) -> None:
    source = _source(tmp_path, 0)
    drawn = [source.draws("delay", statistic, LEVELS) for statistic in ("mean", "sd", "median")]
    assert [draws and len(draws.values) for draws in drawn] == [200] * 3


@pytest.mark.parametrize("statistic", ["mean", "sd", "median"])
def test_values_unknown_by_timeouts_give_no_estimate(tmp_path: Path, statistic: str) -> None:
    some, none = _source(tmp_path / "some", 0.3), _source(tmp_path / "none", 0)
    for source, tells in ((some, (False, False)), (none, (True, True))):
        draws = source.draws("wire-up-packets", statistic, LEVELS)
        assert draws is not None
        assert draws.tells == tells


def test_levels_are_compared_without_spaces_and_case(tmp_path: Path) -> None:
    source = _source(tmp_path, 0)
    assert source.draws("delay", "mean", {**LEVELS, "workload.upload": "30B"}) is not None
    assert source.draws("delay", "mean", {**LEVELS, "workload.upload": "31 B"}) is None


def test_exchanges_that_timed_out_are_unanswered_trial_by_trial(tmp_path: Path) -> None:
    source = _source(tmp_path, 0.3)
    trials = source.unanswered(LEVELS)
    assert trials is not None
    assert [exchanges for _, exchanges in trials] == [20] * 6
    sample = source.samples.of(next(iter(source.touched)))["end-to-end-delay"]
    assert sum(missing for missing, _ in trials) == 120 - len(sample.values) > 0
    assert source.unanswered({**LEVELS, "protocol": "h3"}) is None


def test_disturbed_exchanges_are_left_out_of_the_unanswered(tmp_path: Path) -> None:
    _source(tmp_path, 0.0)
    exchanges = pl.read_parquet(tmp_path / "exchanges.parquet").with_row_index("row")
    late = pl.col("row") < 2
    exchanges.with_columns(outcome=pl.when(late).then(pl.lit("failed")).otherwise("outcome"), disturbed=late).drop(
        "row"
    ).pipe(write_table, tmp_path / "exchanges.parquet")
    source = _with_time_out(tmp_path, 180)
    context = Context(source, 0.95, 0.95, 1.25, {})
    part = Unanswered(form="unanswered", of=LEVELS, least=0.01)
    judged = judge_part(part, context)
    assert sum(missing for missing, _ in source.unanswered(LEVELS) or []) == 2
    assert judged.verdict == "inconclusive"
    words = "it would be confirmed, but not without the 2 of 120 exchanges during which the link was late"
    assert judged.why.endswith(words)


def test_a_scenario_that_was_offered_more_than_was_served_is_not_used_for_what_takes_time(tmp_path: Path) -> None:
    source = _source(tmp_path, 0.1)
    [scenario] = source.samples.dataset.scenarios
    source.grades = Grades((), {}, {}, {scenario.key: "50 /s offered, 9.8 /s served"})
    assert source.draws("delay", "median", LEVELS) is None
    assert source.unanswered(LEVELS) is None
    why = f"{scenario.name}: more was offered than was served: 50 /s offered, 9.8 /s served"
    assert source.absent == {"h2 lossless 30 B": why}
    assert source.draws("retransmissions", "mean", LEVELS) is not None
    part = Unanswered(form="unanswered", of={"protocol": "h2"}, where=LEVELS, least=0.1)
    judged = judge_part(part, Context(source, 0.95, 0.95, 1))
    assert (judged.verdict, judged.missing, judged.ours) == ("inconclusive", True, None)
    assert judged.why.endswith(f"is not measured; {why}")


def _with_time_out(folder: Path, seconds: float) -> Measured:
    plan = json.loads((folder / "plan.json").read_text())
    for scenario in plan["scenarios"]:
        scenario["workload"]["timeout_ns"] = int(seconds * 1e9)
    (folder / "plan.json").write_text(json.dumps(plan))
    samples = Samples(Dataset.read(folder), frozenset(LEVELS), medians=True)
    return Measured(samples, {"link.rtt": "20 ms"}, {"delay": "end-to-end-delay"}, False, 200)


def test_a_mean_with_many_timeouts_counts_them_at_the_time_out(tmp_path: Path) -> None:
    _source(tmp_path, 0.5)
    source = _with_time_out(tmp_path, 10)
    draws = source.draws("delay", "mean", LEVELS)
    assert draws is not None
    share = source.samples.of(next(iter(source.touched)))["end-to-end-delay"].censored_share
    assert draws.point == pytest.approx(10 * share + 0.081 * (1 - share), abs=0.01)
    assert (draws.n, draws.tells) == (120, (True, True))
    assert source.draws("delay", "sd", LEVELS) is None


def test_a_mean_with_few_timeouts_is_of_the_completed_exchanges(tmp_path: Path) -> None:
    _source(tmp_path, 0.0)
    draws = _with_time_out(tmp_path, 10).draws("delay", "mean", LEVELS)
    assert draws is not None
    assert draws.tells == (True, True)
