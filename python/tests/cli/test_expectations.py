"""`--fail-if`, its exit codes, and the lines of the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from tests.asked import load_experiment
from wirelab.cli.expectations import exit_code, expectation_lines, with_failures
from wirelab.errors import WirelabError
from wirelab.schema.estimates import Estimates

EXPERIMENT = """
title = "Expected"
[factors]
protocol = ["http1", "h2"]
[workload]
kind = "request-response"
upload = "30 B"
exchanges = 100
[expect]
median = "< 1 s"
"""


def estimates(*verdicts: str) -> Estimates:
    found = [expected(verdict) for verdict in verdicts]
    return cast("Estimates", {"expectations": found} if found else {})


def expected(verdict: str, **given: Any) -> dict[str, Any]:
    estimate = {"point": 0.9, "low": 0.85, "high": 0.95, "level": 0.95, "n": 120, "method": "bootstrap"}
    return {
        "subject": "p95 of end-to-end-delay", "bound": "< 800 ms", "scenario": "s", "name": "h2, lossy",
        "verdict": verdict, "why": None, "unit": "s", "estimate": estimate, **given,
    }  # fmt: skip


def test_conditions_are_added_to_the_experiments_expectations(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    loaded = load_experiment(str(tmp_path / "mine.toml"))
    found = with_failures(loaded, ["p95 > 800ms", "completed < 99%"]).expect
    assert [f"{each.subject} {each.sign} {each.written}" for each in found] == [
        "median of end-to-end-delay < 1 s", "p95 of end-to-end-delay <= 800ms", "completed >= 99%",
    ]  # fmt: skip


def test_a_condition_that_the_experiment_has_already_counts_once(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(EXPERIMENT)
    loaded = load_experiment(str(tmp_path / "mine.toml"))
    assert with_failures(loaded, ["median >= 1 s", "mean > 1 s", "mean > 1 s"]).expect == (
        *loaded.expect,
        *with_failures(loaded, ["mean > 1 s"]).expect[1:],
    )


@pytest.mark.parametrize(
    ("condition", "what"),
    [("p95 > 8", "8 is no amount of end-to-end-delay"), ("p95 of wirebytes > 8 B", "did you mean 'wire-bytes'?"),
     ("mean where protocol = h3 > 8 ms", "no scenario has protocol = h3"),
     ("p99 > 8 ms", "one has at most 500"), ("p95", "has no bound")],
)  # fmt: skip
def test_a_condition_that_cannot_be_decided_names_the_option(tmp_path: Path, condition: str, what: str) -> None:
    (tmp_path / "mine.toml").write_text(EXPERIMENT.replace("[expect]", "[stop]\nreplicates = 5\n[expect]"))
    loaded = load_experiment(str(tmp_path / "mine.toml"))
    with pytest.raises(WirelabError) as raised:
        with_failures(loaded, [condition])
    assert str(raised.value).startswith("--fail-if: ")
    assert what in str(raised.value)


@pytest.mark.parametrize(
    ("verdicts", "code", "strict"),
    [((), 0, 0), (("kept",), 0, 0), (("kept", "inconclusive"), 0, 6), (("inconclusive", "missed"), 4, 4)],
)
def test_a_missed_bound_fails_and_an_inconclusive_one_only_if_asked(
    verdicts: tuple[str, ...], code: int, strict: int
) -> None:
    assert exit_code(estimates(*verdicts), inconclusive_fails=False) == code
    assert exit_code(estimates(*verdicts), inconclusive_fails=True) == strict


def test_each_expectation_has_a_line_and_scenarios_that_do_not_keep_it_have_theirs() -> None:
    few = "the p95 needs 100 values, and there are 80"
    records = [
        expected("kept"), expected("inconclusive", why="the bound lies inside the interval"), expected("missed"),
        expected("inconclusive", why=few, estimate=None), expected("inconclusive", why=few, estimate=None),
    ]  # fmt: skip
    assert [*expectation_lines(cast("Estimates", {"expectations": records}))] == [
        "Expected p95 of end-to-end-delay < 800 ms: kept in 1, missed in 1, inconclusive in 3 of 5 scenarios",
        "  missed: h2, lossy: 900 ms [850, 950], n = 120",
        "  inconclusive: h2, lossy: 900 ms [850, 950], n = 120 (the bound lies inside the interval)",
        f"  inconclusive: 2 scenarios: {few}",
    ]


def test_many_lines_are_left_to_the_report() -> None:
    *_, last = expectation_lines(cast("Estimates", {"expectations": [expected("missed")] * 10}))
    assert last == "  2 more scenarios are in the report"
