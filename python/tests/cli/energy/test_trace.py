"""A measured trace as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.test_main import run


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """20 s at 0.8 W with some noise, but 12 s to 14 s at 2 W: 2.4 J above idle."""
    path = tmp_path / "power.csv"
    times = np.arange(0, 20, 0.01)
    watts = np.where((times >= 12) & (times < 14), 2.0, 0.8) + np.random.default_rng(2).normal(0, 0.005, len(times))
    rows = [f"{1e3 * time:.2f},{1e6 * each / 5:.1f}" for time, each in zip(times, watts, strict=True)]
    path.write_text("\n".join(["Timestamp(ms),Current(uA)", *rows]) + "\n")
    return path


def test_work_above_idle_is_printed_with_its_idle_section(trace: Path) -> None:
    code, out, err = run("energy", "--trace", str(trace), "--voltage", "5 V")
    assert code == 0
    first, idle, work = out.splitlines()
    assert first == "power.csv: 2,000 samples, one every 10 ms, in 20 s"
    assert idle.startswith("idle    800 mW [79")
    assert idle.endswith("found; --idle-from and --idle-to name another")
    assert work.startswith("work    2.")
    assert "above idle, of 18.4 J in all, in 20 s" in work
    assert err == (
        "The range is that of the idle power, by ten parts of its section; the meter's own error is not in it.\n"
    )


def test_json_has_seconds_watts_and_joules(trace: Path) -> None:
    words = ("--idle-from", "0s", "--idle-to", "10s", "--from", "11s", "--to", "15s", "--format", "json")
    code, out, _ = run("energy", "--trace", str(trace), "--voltage", "5 V", *words)
    assert code == 0
    found = json.loads(out)
    assert found["idle"]["watts"]["typical"] == pytest.approx(0.8, abs=0.001)
    assert (found["idle"]["from_s"], found["idle"]["to_s"], found["idle"]["found"]) == (0, 10, False)
    above = found["work"]["above_idle_j"]
    assert above["low"] < above["typical"] < above["high"]
    assert above["typical"] == pytest.approx(2.4, abs=0.02)
    assert (found["start_s"], found["gaps"], found["work"]["missing_s"]) == (None, [], 0.0)


def test_csv_has_one_row(trace: Path) -> None:
    code, out, _ = run("energy", "--trace", str(trace), "--voltage", "5 V", "--format", "csv")
    assert code == 0
    head, row = (line.split(",") for line in out.splitlines())
    assert float(dict(zip(head, row, strict=True))["total_j"]) == pytest.approx(18.4, abs=0.02)


def test_a_gap_is_reported_and_makes_the_energy_a_lower_bound(trace: Path) -> None:
    lines = trace.read_text().splitlines()
    trace.write_text("\n".join([*lines[:1251], *lines[1301:]]) + "\n")
    code, _, err = run("energy", "--trace", str(trace), "--voltage", "5 V", "--from", "11s", "--to", "15s")
    assert code == 0
    assert "1 gap without samples, 510 ms in all: nothing is counted there, so the energy is a lower bound" in err
    assert "not sampled: 510 ms of 4 s" in err


def test_a_trace_in_which_nothing_happens_is_said_to_have_no_work(tmp_path: Path) -> None:
    path = tmp_path / "flat.csv"
    watts = 0.8 + np.random.default_rng(2).normal(0, 0.005, 2000)
    path.write_text("time (s),power (W)\n" + "".join(f"{at / 100},{each}\n" for at, each in enumerate(watts)))
    code, _, err = run("energy", "--trace", str(path), "--idle-from", "0s", "--idle-to", "10s")
    assert code == 0
    assert "no work stands out" in err


def test_constant_power_has_no_work_and_no_dust_of_rounding(tmp_path: Path) -> None:
    path = tmp_path / "flat.csv"
    for step_s in (0.01, 0.07, 1 / 3):
        path.write_text("time (s),power (mW)\n" + "".join(f"{at * step_s},100\n" for at in range(2000)))
        code, out, err = run("energy", "--trace", str(path))
        assert (code, out.splitlines()[2].partition(",")[0]) == (0, "work    0 uJ above idle")
        assert "no work stands out" in err


def test_a_voltage_for_a_trace_that_has_power_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "power.csv"
    path.write_text("time (s),power (mW)\n" + "".join(f"{at},100\n" for at in range(100)))
    code, out, err = run("energy", "--trace", str(path), "--voltage", "3 V")
    assert (code, out) == (2, "")
    assert err.startswith(f"{path}: --voltage is of a current, and this is a trace of power")


def test_an_idle_section_on_the_work_is_said_to_draw_more_than_the_rest(trace: Path) -> None:
    words = ("energy", "--trace", str(trace), "--voltage", "5 V")
    code, out, err = run(*words, "--idle-from", "12s", "--idle-to", "13.9s")
    assert (code, out.splitlines()[2].startswith("work    -")) == (0, True)
    assert "the idle section draws more than the rest" in err
    assert "draws more" not in run(*words)[2]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "has a current and no voltage"),
        (("--voltage", "5 V", "--from", "30s"), "there is no work from 30 s to 19.99 s"),
        (("--voltage", "5 V", "--idle-from", "25s", "--idle-to", "26s"), "has 0 samples from 25 s to 26 s"),
    ],
)
def test_what_cannot_be_integrated_is_refused(trace: Path, words: tuple[str, ...], expected: str) -> None:
    code, out, err = run("energy", "--trace", str(trace), *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"{trace}: {expected}")
