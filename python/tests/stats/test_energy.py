"""Means of what a radio spent, by scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.documents import whole_energy
from tests.metrics.records import MS, START, Records, exchange, flow, later
from tests.synthetic import write_campaign
from wirelab.metrics.dataset import measure
from wirelab.metrics.energy_names import BOUNDS, DAY, MESSAGE, RADIO, column, columns
from wirelab.metrics.radio import ENERGY, STATES
from wirelab.metrics.tables import write_table
from wirelab.schema.estimates import read_energy_model
from wirelab.stats.analyze import estimate
from wirelab.stats.dataset import Dataset
from wirelab.stats.energy import radio_energies, without_day
from wirelab_energy import Packet, load_radio, partition

CONFIGURED: dict[str, Any] = {"radio": {"name": "r", "validated": False}, "links": ["lossless"], "battery": None}
EVERY = {"process": "periodic", "interval_ns": 900 * 10**9}


def written(folder: Path, battery: dict[str, float] | None = None, *, day: bool = True) -> Dataset:
    """Two trials of two exchanges, each of 2 mJ (1 to 4), half of it in each of two states, and of 6 mJ with its
    interval. The first of each trial opened a connection for 10 mJ.
    """
    write_campaign(folder, protocols=("h2", "h3"), links=("lossless",), uploads=("30 B",), trials=2, exchanges=2)
    exchanges = pl.read_parquet(folder / "exchanges.parquet")
    columns_of = {"": 2e-3, "_least": 1e-3, "_most": 4e-3}
    exchanges.with_columns(
        **{f"radio_energy{end}_j": pl.lit(joules) for end, joules in columns_of.items()},
        **{
            f"{what}{end}_j": pl.lit(factor * joules if day else None, pl.Float64)
            for end, joules in columns_of.items()
            for what, factor in (("day_energy", 100), ("interval_energy", 3))
        },
        **{
            f"setup_energy{end}_j": pl.when(pl.col("index") == 0).then(5 * joules) for end, joules in columns_of.items()
        },
    ).pipe(write_table, folder / "exchanges.parquet")
    with_parts(folder)
    plan = json.loads((folder / "plan.json").read_text())
    for scenario in plan["scenarios"]:
        scenario["workload"]["arrival"] = EVERY if day else {"process": "closed"}
    (folder / "plan.json").write_text(json.dumps(plan))
    no_day = {} if day else {each["key"]: "there is no gap" for each in plan["scenarios"]}
    (folder / ENERGY).write_text(json.dumps(whole_energy(CONFIGURED | {"battery": battery, "no_day": no_day})))
    rows = [
        {
            "trial": trial, "scenario": scenario, "state": state, "exchanges": 2, "days": 2 if day else 0,
            "seconds": 0.5, **dict.fromkeys(columns(RADIO, DAY), 2e-3),
        }
        for trial, scenario in exchanges["trial", "scenario"].unique(maintain_order=True).iter_rows()
        for state in ("transmit", "receive")
    ]  # fmt: skip
    pl.DataFrame(rows).pipe(write_table, folder / STATES)
    return Dataset.read(folder)


def with_parts(folder: Path) -> None:
    """Each trial has 10 mJ of set-ups, 20 of messages, and in the second trial 4 of closing."""
    trials = pl.read_parquet(folder / "trials.parquet")
    second = pl.col("replicate") == 1
    trials.with_columns(
        **{
            f"trial_{what}_energy{end}_j": value
            for end in ("", "_least", "_most")
            for what, value in {
                "setup": pl.lit(10e-3), "messages": pl.lit(20e-3), "closing": pl.when(second).then(4e-3),
                "radio": pl.when(second).then(34e-3).otherwise(30e-3),
            }.items()
        }
    ).pipe(write_table, folder / "trials.parquet")  # fmt: skip


def test_a_campaign_without_a_radio_has_no_energies(tmp_path: Path) -> None:
    write_campaign(tmp_path, protocols=("h2",), links=("lossless",), uploads=("30 B",), trials=1, exchanges=2)
    dataset = Dataset.read(tmp_path)
    assert radio_energies(dataset) == (None, {})
    assert "energy" not in estimate(dataset)


def test_states_are_means_over_exchanges_and_bounds_are_of_whole_messages(tmp_path: Path) -> None:
    radio, found = radio_energies(written(tmp_path, {"capacity_mah": 1.0, "voltage_v": 1.0}))
    assert radio is not None
    assert len(found) == 2
    for each in found.values():
        assert (each["exchanges"], each["trials"], each["days"]) == (4, 2, 4)
        assert (each["message_j"], each["with_cpu_time"]) == (None, None)
        assert each["radio_j"] == pytest.approx({"low": 1e-3, "typical": 2e-3, "high": 4e-3})
        assert each["states"]["transmit"] == pytest.approx(
            {"seconds": 0.25, "low": 1e-3, "typical": 1e-3, "high": 1e-3}
        )
        assert each["day_j"] == pytest.approx({"low": 0.1, "typical": 0.2, "high": 0.4})
        assert each["battery_days"] == pytest.approx({"low": 3.6 / 0.4, "typical": 3.6 / 0.2, "high": 3.6 / 0.1})
        assert (each["interval_s"], each["no_day"]) == (900.0, None)
        assert each["interval_j"] == pytest.approx({"low": 3e-3, "typical": 6e-3, "high": 12e-3})


def test_set_ups_are_apart_and_the_parts_are_means_over_trials(tmp_path: Path) -> None:
    _, found = radio_energies(written(tmp_path))
    for each in found.values():
        assert each["setups"] == 2
        assert each["setup_j"] == pytest.approx({"low": 5e-3, "typical": 10e-3, "high": 20e-3})
        assert each["parts"] is not None
        parts = {name: bounds["typical"] for name, bounds in each["parts"].items()}
        assert parts == pytest.approx({"setup_j": 10e-3, "messages_j": 20e-3, "closing_j": 2e-3, "trial_j": 32e-3})


def test_without_an_interval_there_is_no_day_and_no_battery_with_the_reason(tmp_path: Path) -> None:
    dataset = written(tmp_path, {"capacity_mah": 1.0, "voltage_v": 1.0}, day=False)
    _, found = radio_energies(dataset)
    for each in found.values():
        assert (each["day_j"], each["day_states"], each["battery_days"], each["interval_j"]) == (None,) * 4
        assert (each["interval_s"], each["no_day"]) == (None, "there is no gap")
    assert estimate(dataset)["notes"][-1] == "No day's energy and no battery life: there is no gap."


def test_a_reason_names_its_scenarios_if_others_have_a_day(tmp_path: Path) -> None:
    dataset = written(tmp_path)
    first, second = dataset.scenarios
    model = read_energy_model(tmp_path / ENERGY)
    one = without_day({**model, "no_day": {first.key: "it rains"}}, dataset.scenarios)
    assert list(one) == [f"No day's energy and no battery life of {first.name}: it rains."]
    both = without_day({**model, "no_day": {first.key: "it rains", second.key: "it snows"}}, dataset.scenarios)
    assert len(list(both)) == 2


def test_a_link_without_a_radio_has_no_energy(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / ENERGY).write_text(json.dumps(whole_energy(CONFIGURED | {"links": ["another"]})))
    model, found = radio_energies(Dataset.read(tmp_path))
    assert model is not None
    assert found == {}


def test_messages_that_all_failed_still_have_an_interval(tmp_path: Path) -> None:
    written(tmp_path)
    rows = pl.read_parquet(tmp_path / STATES)
    rows.with_columns(exchanges=pl.lit(0)).pipe(write_table, tmp_path / STATES)
    exchanges = pl.read_parquet(tmp_path / "exchanges.parquet")
    nothing = [pl.lit(None, pl.Float64).alias(f"radio_energy{end}_j") for end in ("", "_least", "_most")]
    exchanges.with_columns(*nothing).pipe(write_table, tmp_path / "exchanges.parquet")
    _, found = radio_energies(Dataset.read(tmp_path))
    for each in found.values():
        assert (each["exchanges"], each["radio_j"], each["states"]) == (0, None, {})
        assert each["day_j"] == pytest.approx({"low": 0.1, "typical": 0.2, "high": 0.4})


def test_battery_life_of_persistent_mqtts_is_that_of_its_whole_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A message every 10 min with a ping a minute: by itself an exchange would repeat its own packets alone.
    radio, minute = "nrf9160-nbiot", 60 * 10**9
    kept = {"policy": "persistent", "connections": 1}
    every = {"process": "periodic", "interval_ns": 10 * minute}
    workload = {"kind": "request-response", "upload_bytes": 64, "exchanges": 4, "arrival": every, "connection": kept}
    records = Records(tmp_path / "c", {"s": {"workload": workload}})
    rows = [
        later(exchange(0, connection_reused=nth > 0), nth * 10 * minute) | {"index": nth, "local_port": 40_000}
        for nth in range(4)
    ]
    name = records.trial("s", rows, [flow(40_000)])
    sent = [START + 5 * MS, *(START + 45 * MS + at * minute for at in range(40))]
    records.radio[name] = [
        {"at_ns": at, "uplink": True, "size_bytes": 100, "client_port": 40_000} for at in sorted(sent)
    ]
    monkeypatch.setenv(
        "WIRELAB_AGENT", str(records.finish(energy={"radio": radio, "battery_mah": 2400, "battery_v": 3.6}))
    )
    measure(records.folder)
    _, found = radio_energies(Dataset.read(records.folder))
    energy = found["s"]
    packets = [Packet(at * minute, True, 100) for at in range(400)]
    _, parts = partition(load_radio(radio), packets, 0, 400 * minute, [10 * nth * minute for nth in range(1, 40)])
    day_j = 144 * parts[20].joules.typical
    assert energy["day_j"] is not None
    assert energy["day_j"]["typical"] == pytest.approx(day_j, rel=1e-3)
    assert energy["battery_days"] is not None
    assert energy["battery_days"]["typical"] == pytest.approx(2.4 * 3600 * 3.6 / day_j, rel=1e-3)
    # Three of the four, for the first one shares its wake with the set-up.
    assert (energy["days"], energy["setups"]) == (3, 1)


def test_energy_is_compared_without_regard_to_the_links_delay_error(
    tmp_path: Path,
) -> None:
    estimates = estimate(written(tmp_path))
    [first, _] = estimates["scenarios"]
    assert first["metrics"]["radio-energy"]["unit"] == "J"
    assert first["metrics"]["radio-energy"]["mean"]["point"] == pytest.approx(2e-3)
    assert first["metrics"]["radio-energy"]["modes"] == []
    [compared] = [each for each in estimates["comparisons"] if each["metric"] == "radio-energy"]
    assert compared["ratio_of_means"]["point"] == pytest.approx(1.0)
    assert compared["link"]["why"].endswith("timing error adds is in the link's own grade")
    assert estimates["energy"]["radios"][0]["radio"]["name"] == "r"
    assert estimates["notes"][-1] == (
        "Energy is not measured but modelled, of the packets that flowed: r (unvalidated)."
    )


def test_with_the_processor_states_are_those_of_the_trials_that_know_it(tmp_path: Path) -> None:
    written(tmp_path)
    exchanges = pl.read_parquet(tmp_path / "exchanges.parquet")
    known = sorted(exchanges["trial"].unique())[0]
    of_known = pl.col("trial") == known
    exchanges.with_columns(
        **{
            f"message_energy{end}_j": pl.when(of_known).then(pl.col(f"radio_energy{end}_j") + 1e-3)
            for end in ("", "_least", "_most")
        }
    ).pipe(write_table, tmp_path / "exchanges.parquet")
    states = pl.read_parquet(tmp_path / STATES)
    of_messages = {column(MESSAGE, bound): pl.when(of_known).then(column(RADIO, bound)) for bound in BOUNDS}
    states = states.with_columns(**of_messages)
    nothing, taken = dict.fromkeys(columns(RADIO), 0.0), dict.fromkeys(columns(MESSAGE, DAY), 2e-3)
    work = (
        states.filter(of_known)
        .head(1)
        .with_columns(state=pl.lit("processor"), **{name: pl.lit(value) for name, value in (nothing | taken).items()})
    )
    pl.concat([states, work]).pipe(write_table, tmp_path / STATES)
    (tmp_path / ENERGY).write_text(json.dumps(whole_energy(CONFIGURED | {"measured_on_device": True})))
    dataset = Dataset.read(tmp_path)
    _, found = radio_energies(dataset)
    [scenario] = exchanges.filter(of_known)["scenario"].unique()
    with_it, without = found.pop(scenario), next(iter(found.values()))
    assert with_it["states"]["processor"] == pytest.approx(
        {"seconds": 0.25, "low": 1e-3, "typical": 1e-3, "high": 1e-3}
    )
    assert with_it["states"]["transmit"]["typical"] == pytest.approx(1e-3)
    assert with_it["message_j"] == pytest.approx({"low": 2e-3, "typical": 3e-3, "high": 5e-3})
    assert with_it["radio_j"]["typical"] == pytest.approx(2e-3)
    assert (with_it["exchanges"], with_it["with_cpu_time"]) == (4, {"exchanges": 2, "trials": 1})
    assert (without["message_j"], without["states"].keys()) == (None, {"transmit", "receive"})
    assert without["with_cpu_time"] == {"exchanges": 0, "trials": 0}
    assert "of the packets that flowed and of the client's CPU time: r" in estimate(dataset)["notes"][-1]
