"""What outages did, by scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.metrics.records import Records, exchange
from wirelab.metrics.dataset import measure
from wirelab.stats.dataset import Dataset
from wirelab.stats.recovery import recoveries

RESTART = {"after_ns": 1, "down_ns": 1}


def failed(index: int) -> dict[str, Any]:
    return exchange(index, outcome="failed", error="no route")


def test_figures_are_of_all_trials_of_a_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = Records(tmp_path, {"s": {"restart": RESTART}, "t": {}})
    for ready, rows in ((150, [exchange(0), failed(1), exchange(2)]), (250, [exchange(0), failed(1), failed(2)])):
        trial = records.trial("s", rows)
        records.restarted(trial, (90, ready))
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    measure(tmp_path)
    found = recoveries(Dataset.read(tmp_path))
    assert list(found) == ["s"]
    record = found["s"]
    assert (record["outages"], record["not_recovered"], record["lost"], record["affected"]) == (2, 1, 3, 4)
    assert record["recovery"] == {"least_s": 0.113, "median_s": None, "most_s": None}
    assert (record["what"], record["forgets"], record["attempts"]) == (["server"], True, None)


def test_a_campaign_without_an_outage_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = Records(tmp_path, {"s": {}})
    records.trial("s", [exchange(0)])
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    measure(tmp_path)
    assert recoveries(Dataset.read(tmp_path)) == {}


def found_in(folder: Path, monkeypatch: pytest.MonkeyPatch, *trials: tuple[list[dict[str, Any]], tuple[int, int]]):  # type: ignore[no-untyped-def]
    """The record of trials with a restart each."""
    records = Records(folder, {"s": {"restart": RESTART}})
    for rows, restart in trials:
        records.restarted(records.trial("s", rows), restart)
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    measure(folder)
    return recoveries(Dataset.read(folder)).get("s")


def test_an_outage_that_no_message_met_is_only_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = [exchange(0, attempts=1), exchange(1, attempts=2), exchange(2, attempts=1)]
    trials = (tried, (90, 150)), ([exchange(0), exchange(1)], (70, 90))
    record = found_in(tmp_path / "a", monkeypatch, *trials)
    assert (record["outages"], record["not_met"], record["not_recovered"], record["affected"]) == (1, 1, 0, 1)
    assert record["attempts"] == 2
    assert record["recovery"] == {"least_s": 0.013, "median_s": 0.013, "most_s": 0.013}
    assert found_in(tmp_path / "b", monkeypatch, trials[1]) is None


def test_in_the_median_an_outage_without_recovery_is_the_longest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recovered, not_recovered = ([failed(1), exchange(2)], (90, 150)), ([failed(1), failed(2)], (90, 250))
    record = found_in(tmp_path, monkeypatch, recovered, recovered, not_recovered)
    assert record["recovery"] == {"least_s": 0.113, "median_s": 0.113, "most_s": None}
