"""What the bench makes of CPU times with and without measuring."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.process import FailedError
from bench.questions import measuring
from bench.questions.measuring import MOST, ROUNDS, Took, interval
from bench.results import Answer
from bench.setup import Setup


def test_the_interval_of_a_median_excludes_equally_many_values_at_each_end() -> None:
    # Of 12 the third and the tenth: fewer than three of 12 tosses are heads with 79 of 4096.
    assert interval([float(value) for value in range(1, 13)]) == (3.0, 10.0)
    assert interval([float(value) for value in range(1, 7)]) == (1.0, 6.0)
    with pytest.raises(FailedError, match="5 rounds are too few"):
        interval([1.0] * 5)


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(Path("agent"), Path("bench"), tmp_path, (), {}, (), (), quick=True)


def compared(setup: Setup, monkeypatch: pytest.MonkeyPatch, took: object) -> Answer:
    monkeypatch.setattr(measuring, "_took", took)
    found = Answer("measuring", "", ())
    measuring._compare(setup, "http1", measuring.WORKS[0], found)
    return found


def test_the_ratio_is_over_both_ends_and_rounds_alternate(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[bool] = []

    def took(*_: object, measured: bool) -> Took:
        order.append(measured)
        return Took(11.0 if measured else 10.0, 40.0)

    found = compared(setup, monkeypatch, took)
    assert order[:4] == [True, False, False, True]
    assert len(order) == 2 * ROUNDS
    [row] = found.rows
    assert row[2:] == (11.0, 40.0, pytest.approx(51 / 50), pytest.approx(51 / 50), pytest.approx(51 / 50), 1.1)
    [target] = found.targets
    assert (target.measured, target.target) == (pytest.approx(51 / 50), MOST)


def test_a_round_that_fails_is_reported_and_nothing_is_judged(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    def took(*_: object, measured: bool) -> Took:
        raise FailedError(f"{measured}")

    found = compared(setup, monkeypatch, took)
    assert (found.rows, found.targets[0].verdict) == ([], "not measured")
    assert found.notes[0] == "http1, 30 B, new connections: True"


def test_cpu_time_is_read_from_the_last_line() -> None:
    line = json.dumps({"wall_s": 1.0, "commands": [{"number": 0, "user_s": 0.25, "system_s": 0.5, "code": 0}]})
    assert measuring._cpu_us(f"words\n{line}\n") == 750_000
