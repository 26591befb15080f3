"""What `wirelab show` says of a trial, in a line each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.documents import whole_energy, whole_result, whole_scenario
from wirelab.cli.show.trial_words import energy_words, resource_lines
from wirelab.errors import WirelabError
from wirelab.metrics.tables import write_table
from wirelab.schema.plan import Scenario

SCENARIO = Scenario.model_validate(whole_scenario({"key": "s"}))
EVERY = {"arrival": {"process": "periodic", "interval_ns": 600 * 10**9}}
TIMED = Scenario.model_validate(whole_scenario({"key": "s", "workload": EVERY}))


TAIL = "from an idle radio to the end of the tail"


def row(what: str, *joules: float | None) -> dict[str, Any]:
    return dict(zip((f"{what}_least_j", f"{what}_j", f"{what}_most_j"), joules, strict=True))


def written(folder: Path, *, validated: bool = True, no_day: dict[str, str] | None = None, **parts: float) -> Path:
    model = {"radio": {"name": "r", "validated": validated}, "no_day": no_day or {}}
    (folder / "energy.json").write_text(json.dumps(whole_energy(model)))
    rows = [{"trial": "t", **row("trial_radio_energy", 1.0, 2.0, 2.0)}]
    for what, joules in parts.items():
        rows[0] |= row(what, joules, joules, joules)
    pl.DataFrame(rows).pipe(write_table, folder / "trials.parquet")
    return folder


def test_one_exchange_has_its_own_energy_and_several_that_of_their_trial(tmp_path: Path) -> None:
    folder = written(tmp_path)
    one = row("radio_energy", 0.001, 0.002, 0.004)
    assert energy_words(folder, SCENARIO, "t", [one]) == f"radio energy 2 mJ [1 mJ, 4 mJ] by r, {TAIL}"
    assert energy_words(folder, SCENARIO, "t", [one, one]) == "radio energy of the whole trial 2 J [1 J, 2 J] by r"


def test_a_message_has_its_interval_and_its_set_up_and_a_trial_its_parts(tmp_path: Path) -> None:
    folder = written(tmp_path, trial_messages_energy=1.5, trial_closing_energy=0.5)
    one = row("radio_energy", 0.001, 0.002, 0.004) | row("interval_energy", 0.5, 0.5, 0.5)
    opened = one | row("setup_energy", 0.1, 0.1, 0.1)
    assert energy_words(folder, TIMED, "t", [opened]) == (
        f"radio energy 2 mJ [1 mJ, 4 mJ] by r, {TAIL}; with its interval of 10 min 500 mJ; its set-up 100 mJ"
    )
    assert energy_words(folder, TIMED, "t", [one, one]) == (
        "radio energy of the whole trial 2 J [1 J, 2 J] by r: messages 1.5 J, closing 500 mJ"
    )


def test_why_there_is_no_battery_life_is_said(tmp_path: Path) -> None:
    folder = written(tmp_path, no_day={"s": "there is no gap"})
    said = energy_words(folder, SCENARIO, "t", [row("radio_energy", 2.0, 2.0, 2.0)])
    assert said == f"radio energy 2 J by r, {TAIL}\nno battery life: there is no gap"


def test_a_link_without_a_radio_has_no_energy(tmp_path: Path) -> None:
    bare = SCENARIO.model_copy(update={"link_name": "another"})
    assert energy_words(written(tmp_path), bare, "t", [row("radio_energy", 2.0, 2.0, 2.0)]) is None


def test_an_unvalidated_radio_is_called_so_and_an_exact_one_has_no_range(tmp_path: Path) -> None:
    said = energy_words(written(tmp_path, validated=False), SCENARIO, "t", [row("radio_energy", 2.0, 2.0, 2.0)])
    assert said == f"radio energy 2 J by r (unvalidated), {TAIL}"


def test_bounds_that_read_the_same_are_no_range(tmp_path: Path) -> None:
    said = energy_words(written(tmp_path), SCENARIO, "t", [row("radio_energy", 0.003 - 1e-18, 0.003, 0.003 + 1e-18)])
    assert said == f"radio energy 3 mJ by r, {TAIL}"


def test_an_exchange_whose_processor_is_known_has_it_too(tmp_path: Path) -> None:
    folder = written(tmp_path)
    model = {"radio": {"name": "r", "validated": True}, "device": {"name": "d", "validated": False}}
    (folder / "energy.json").write_text(json.dumps(whole_energy(model)))
    one = row("radio_energy", 0.001, 0.002, 0.004) | row("message_energy", 0.002, 0.003, 0.005)
    assert energy_words(folder, SCENARIO, "t", [one]) == (
        f"radio energy 2 mJ [1 mJ, 4 mJ] by r, {TAIL}; with the processor of d (unvalidated) 3 mJ [2 mJ, 5 mJ]"
    )


def test_nothing_is_said_without_a_radio_or_without_packets(tmp_path: Path) -> None:
    assert energy_words(tmp_path, SCENARIO, "t", [row("radio_energy", 1.0, 1.0, 1.0)]) is None
    folder = written(tmp_path)
    assert energy_words(folder, SCENARIO, "t", [row("radio_energy", None, None, None)]) is None
    assert energy_words(folder, SCENARIO, "other", []) is None


def test_a_damaged_file_of_a_trial_is_one_error_with_its_key(tmp_path: Path) -> None:
    folder = written(tmp_path)
    (folder / "energy.json").write_text(json.dumps(whole_energy({"radio": {"name": "r", "validated": "yes"}})))
    with pytest.raises(
        WirelabError, match=r"energy\.json was written by another build, or damaged: radios\.0\.radio\.validated"
    ):
        energy_words(folder, SCENARIO, "t", [row("radio_energy", 1.0, 1.0, 1.0)])
    with pytest.raises(WirelabError, match=r"result\.json was .*: endpoints\.0\.cpu_user_ns: "):
        reported(tmp_path, cpu_user_ns=-1)


def reported(folder: Path, **given: int | None) -> list[str]:
    endpoint = {"name": "client", "cpu_user_ns": 3_000_000, "cpu_system_ns": 1_500_000, "peak_memory_bytes": 7_000_000}
    (folder / "result.json").write_text(json.dumps(whole_result({"endpoints": [endpoint | given]})))
    return list(resource_lines(folder))


def test_the_resource_line_has_only_counted_values(tmp_path: Path) -> None:
    assert list(resource_lines(tmp_path)) == []
    least = "client used 4.5 ms of CPU time (3 user, 1.5 system), 7 MB at its peak"
    assert reported(tmp_path) == [least]
    counted = {
        "cpu_ready_ns": 2_000_000, "proportional_memory_bytes": 2_500_000, "memory_samples": 1,
        "voluntary_switches": 40, "involuntary_switches": 2, "instructions": 9_000_000,
    }  # fmt: skip
    [line] = reported(tmp_path, **counted)
    assert "(3 user, 1.5 system, of which 2 before the first exchange)" in line
    assert line.endswith(
        "2.5 MB with shared pages divided (PSS, 1 sample), 40 voluntary and 2 involuntary context switches, "
        "9 million instructions"
    )
