"""CPU time that was measured on the device: whose it is, and what it makes of messages and days."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.metrics.records import MS, START, Records, exchange, flow, later
from wirelab.metrics.dataset import Dataset, build
from wirelab.metrics.radio import ENERGY, STATES
from wirelab_energy import Packet, Range, load_device, load_radio, per_day, radio_energy
from wirelab_energy.processor import NO_CPU, PROCESSOR

RADIO, DEVICE = "powerpi-ethernet", "raspberry-pi-3"
ON_DEVICE = {"radio": RADIO, "device": DEVICE, "measured_on_device": True}
WORKLOAD = {
    "kind": "request-response", "upload_bytes": 30, "exchanges": 3,
    "arrival": {"process": "periodic", "interval_ns": 900 * 10**9},
}  # fmt: skip
APART_NS = 900 * 10**9 - 100 * MS
"""Between the exchanges, in addition to what `exchange` gives them."""
ENDS = {"low": "_least", "typical": "", "high": "_most"}
ONE = [Packet(START, True, 100), Packet(START + 40 * MS, False, 100)]


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "campaign", {"s": {"workload": WORKLOAD}})


def built(records: Records, monkeypatch: pytest.MonkeyPatch, energy: dict[str, Any]) -> Dataset:
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish(energy=energy)))
    return build(records.folder)


def trial(records: Records, *outcomes: str, ready_ns: int | None = MS) -> None:
    """Exchanges with one packet each way; the client worked for 3 ms beyond its idle cost."""
    rows = [later(exchange(index, outcome=outcome), index * APART_NS) for index, outcome in enumerate(outcomes)]
    name = records.trial("s", rows, [flow(40_000)], ready_ns=ready_ns)
    records.radio[name] = [
        {
            "at_ns": START + index * 900 * 10**9 + at * MS, "uplink": up, "size_bytes": 100,
            "client_port": 40_000 + index,
        }
        for index in range(len(outcomes))
        for at, up in ((0, True), (40, False))
    ]  # fmt: skip


def joules(table: pl.DataFrame, what: str) -> list[dict[str, float]]:
    return table.select(**{bound: pl.col(f"{what}{end}_j") for bound, end in ENDS.items()}).to_dicts()


def bounds(value: Range) -> Any:
    return pytest.approx({bound: getattr(value, bound) for bound in ENDS})


def notes(records: Records) -> list[str]:
    return list(json.loads((records.folder / ENERGY).read_text())["notes"])


def test_work_is_shared_evenly_by_what_completed(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    trial(records, "completed", "timed-out", "completed")
    dataset = built(records, monkeypatch, ON_DEVICE)
    cpu_j = load_device(DEVICE).cpu_joules(1.5e-3)
    assert cpu_j.typical == pytest.approx(1.5e-3 * 0.181, rel=0.01)
    radio = radio_energy(load_radio(RADIO), ONE, START, START + 40 * MS)
    [first, given_up, last] = joules(dataset.exchanges, "message_energy")
    assert first == bounds(radio.joules + cpu_j)
    assert last == bounds(radio.joules + cpu_j)
    assert set(given_up.values()) == {None}
    assert joules(dataset.exchanges, "radio_energy")[0] == bounds(radio.joules)


def test_the_processor_has_its_own_energy_state_in_messages_and_days(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial(records, "completed", "completed")
    dataset = built(records, monkeypatch, ON_DEVICE)
    states = pl.read_parquet(records.folder / STATES)
    [row] = states.filter(pl.col("state") == PROCESSOR).to_dicts()
    cpu_j = load_device(DEVICE).cpu_joules(3e-3)
    assert (row["exchanges"], row["days"], row["seconds"]) == (2, 2, pytest.approx(3e-3))
    assert (row["radio_energy_typical"], row["message_energy_high"]) == (0, pytest.approx(cpu_j.high))
    assert row["day_energy_typical"] == pytest.approx(96 * cpu_j.typical)
    for what in ("radio_energy", "message_energy", "day_energy"):
        assert states[f"{what}_typical"].sum() == pytest.approx(dataset.exchanges[f"{what}_j"].sum())


def test_a_day_includes_the_processors_energy_of_its_messages(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial(records, "completed")
    dataset = built(records, monkeypatch, ON_DEVICE)
    radio, device = load_radio(RADIO), load_device(DEVICE)
    message = radio_energy(radio, ONE, START, START + 40 * MS)
    day = per_day(radio, device, message, 900, device.cpu_joules(3e-3))
    assert joules(dataset.exchanges, "day_energy") == [bounds(day.total_j)]
    assert day.total_j.typical > per_day(radio, device, message, 900).total_j.typical


def test_the_note_calls_the_device_unvalidated(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    trial(records, "completed")
    built(records, monkeypatch, ON_DEVICE)
    said, of_its_range = notes(records)
    assert of_its_range.startswith(f"{DEVICE} has what computing takes beyond sleep by itself (0.181 W)")
    assert said.startswith("The processor's energy is not measured: it is CPU time of the client without its idle cost")
    assert f"times what {DEVICE} (unvalidated) takes" in said
    assert json.loads((records.folder / ENERGY).read_text())["measured_on_device"] is True


def test_without_an_idle_cost_neither_message_nor_day_is_known_with_the_reason(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial(records, "completed", ready_ns=None)
    trial(records, "completed")
    exchanges = built(records, monkeypatch, ON_DEVICE).exchanges
    assert [value is None for value in exchanges["message_energy_j"]] == [True, False]
    assert [value is None for value in exchanges["day_energy_j"]] == [True, False]
    assert exchanges["radio_energy_j"].null_count() == 0
    assert "and so without a message's and a day's: 1 trials" in notes(records)[-1]
    states = pl.read_parquet(records.folder / STATES).filter(pl.col("trial") == "trial-0")
    assert PROCESSOR not in states["state"].to_list()
    assert states["message_energy_typical"].null_count() == len(states)


def test_cpu_time_of_another_machine_changes_nothing(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    trial(records, "completed")
    exchanges = built(records, monkeypatch, {**ON_DEVICE, "measured_on_device": False}).exchanges
    message = radio_energy(load_radio(RADIO), ONE, START, START + 40 * MS)
    day = per_day(load_radio(RADIO), load_device(DEVICE), message, 900)
    assert joules(exchanges, "day_energy") == [bounds(day.total_j)]
    assert exchanges["message_energy_j"].null_count() == 1
    assert notes(records) == [NO_CPU]
    assert PROCESSOR not in pl.read_parquet(records.folder / STATES)["state"].to_list()


def test_a_chip_that_may_count_twice_is_reported(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    trial(records, "completed")
    built(records, monkeypatch, {**ON_DEVICE, "radio": "esp32-wifi", "device": "esp32"})
    assert notes(records)[1].startswith("esp32-wifi and esp32 are one chip: ")
