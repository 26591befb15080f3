"""A measured trace beside a campaign's trials."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.test_main import run
from tests.metrics.records import MS, SINCE_BOOT, START, Records, exchange, flow
from wirelab_energy import Packet, load_radio
from wirelab_energy.trace.against import above_rest

RADIO = "enc28j60-ethernet"
TRIALS = 6
LONG = 500 * MS
BEGIN_S = (START + SINCE_BOOT) / 1e9


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Trials of half a second, one a second, each with a packet up and one down."""
    records = Records(tmp_path / "c", {"s": {}})
    for index in range(TRIALS):
        start = START + index * 1000 * MS
        name = records.trial("s", [exchange(0)], [flow(40_000)])
        records.radio[name] = [
            {"at_ns": start + 100 * MS, "uplink": True, "size_bytes": 1400, "client_port": 40_000},
            {"at_ns": start + 200 * MS, "uplink": False, "size_bytes": 1400, "client_port": 40_000},
        ]
        path = records.folder / "trials" / name / "result.json"
        result = json.loads(path.read_text())
        times = {"start_ns": start, "end_ns": start + LONG, "start_realtime_ns": start + SINCE_BOOT}
        path.write_text(json.dumps(result | times))
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    return records.folder


def model_j() -> float:
    packets = [Packet(100 * MS, True, 1400), Packet(200 * MS, False, 1400)]
    return above_rest(load_radio(RADIO), packets, 0, LONG).typical


def written(folder: Path, *, clock: bool = True, factor: float = 2.0, seconds: float = 10.0) -> Path:
    """Power of 0.5 W that rises in each trial, from the second on, by `factor` times what the model says."""
    times = np.arange(-2, seconds, 0.001)
    busy = np.zeros(len(times), dtype=bool)
    for index in range(1, TRIALS):
        busy |= (times >= index + 0.1) & (times < index + 0.3)
    watts = np.where(busy, 0.5 + factor * model_j() / 0.2, 0.5)
    path = folder / "power.csv"
    origin = BEGIN_S if clock else 2.0
    rows = "".join(f"{origin + at:.6f},{each:.9f}\n" for at, each in zip(times, watts, strict=True))
    path.write_text(f"time (s),power (W)\n{rows}")
    return path


def reported(trace: Path, campaign: Path, *more: str) -> dict[str, Any]:
    words = ("energy", "--trace", str(trace), "--campaign", str(campaign), "--radio", RADIO, "--format", "json")
    code, out, err = run(*words, *more)
    assert (code, err) == (0, ""), err
    return dict(json.loads(out))


def test_each_trial_is_measured_beside_its_model_and_all_together_have_an_interval(
    tmp_path: Path, campaign: Path
) -> None:
    found = reported(written(tmp_path), campaign)
    idle, *busy = found["trials"]
    assert [each["trial"] for each in found["trials"]] == [f"trial-{index}" for index in range(TRIALS)]
    for each in busy:
        assert each["model_j"]["typical"] == pytest.approx(model_j())
        assert each["measured_j"]["typical"] == pytest.approx(2 * model_j(), rel=0.02)
        assert each["ratio"] == pytest.approx(0.5, rel=0.02)
    # What does not stand out of idle has no ratio, and is in no pool.
    assert idle["ratio"] is None
    assert found["ratio"]["n"] == TRIALS - 1
    assert found["ratio"]["point"] == pytest.approx(0.5, rel=0.02)
    assert found["ratio"]["low"] <= found["ratio"]["point"] <= found["ratio"]["high"]
    assert "the model its radio alone" in found["notes"][0]


def test_a_trace_without_a_clock_needs_an_option_for_when_it_began(tmp_path: Path, campaign: Path) -> None:
    trace = written(tmp_path, clock=False)
    words = ("energy", "--trace", str(trace), "--campaign", str(campaign), "--radio", RADIO)
    code, _, err = run(*words)
    assert code == 2
    assert err.startswith(f"{trace}: has no clock's times")
    begun = reported(trace, campaign, "--begins-at", "2023-11-14T22:13:28+00:00")
    assert begun["ratio"]["point"] == pytest.approx(0.5, rel=0.02)
    assert run(*words, "--begins-at", "noon")[2].startswith("--begins-at: 'noon' is not a time")


def test_trials_outside_the_trace_are_left_out_and_that_is_said(tmp_path: Path, campaign: Path) -> None:
    found = reported(written(tmp_path, seconds=3.2), campaign)
    assert len(found["trials"]) == 3
    assert "3 of 6 trials did not run wholly within the trace, and are left out" in found["notes"]
    trace = written(tmp_path, clock=False)
    words = ("energy", "--trace", str(trace), "--campaign", str(campaign), "--radio", RADIO)
    code, _, err = run(*words, "--begins-at", "2020-01-01T00:00:00Z")
    assert code == 2
    assert "ran while the trace was taken (2020-01-01T00:00:00.000Z to 2020-01-01T00:00:11.999Z)" in err
    assert "hint: its 6 trials ran from 2023-11-14T22:13:30.000Z" in err


def test_trials_that_ran_side_by_side_are_refused(tmp_path: Path, campaign: Path) -> None:
    path = campaign / "trials" / "trial-2" / "result.json"
    result = json.loads(path.read_text())
    path.write_text(json.dumps(result | {"end_ns": result["end_ns"] + 600 * MS}))
    words = ("energy", "--trace", str(written(tmp_path)), "--campaign", str(campaign), "--radio", RADIO)
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: trial-2 and trial-3 of {campaign} ran side by side: what was measured is of both\n")
    assert err.endswith("--jobs 1\n")


def test_people_get_a_table_and_programs_csv(tmp_path: Path, campaign: Path) -> None:
    trace = written(tmp_path)
    words = ("energy", "--trace", str(trace), "--campaign", str(campaign), "--radio", RADIO)
    code, out, err = run(*words)
    assert code == 0
    assert f"radio   {load_radio(RADIO).label}" in out
    assert out.splitlines()[-1].startswith("together: model / measured 0.")
    assert "processor" in err
    rows = list(csv.DictReader(io.StringIO(run(*words, "--format", "csv")[1])))
    assert [row["trial"] for row in rows] == [f"trial-{index}" for index in range(TRIALS)]
    assert float(rows[1]["ratio"]) == pytest.approx(0.5, rel=0.02)


def test_a_campaign_that_names_no_radio_needs_one(tmp_path: Path, campaign: Path) -> None:
    code, _, err = run("energy", "--trace", str(written(tmp_path)), "--campaign", str(campaign))
    assert (code, err.splitlines()[0]) == (2, "error: the campaign names no radio")
