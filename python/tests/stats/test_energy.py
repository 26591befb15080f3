"""Means of what a radio spent, by scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.documents import whole_energy
from tests.synthetic import write_campaign
from wirelab.metrics.energy_names import BOUNDS, DAY, MESSAGE, RADIO, column, columns
from wirelab.metrics.radio import ENERGY, STATES
from wirelab.metrics.tables import write_table
from wirelab.stats.analyze import estimate
from wirelab.stats.dataset import Dataset
from wirelab.stats.energy import radio_energies

CONFIGURED: dict[str, Any] = {
    "radio": {"name": "r", "validated": False},
    "device": None,
    "interval_s": 900.0,
    "battery": None,
    "notes": [],
}


def written(folder: Path, battery: dict[str, float] | None = None, *, day: bool = True) -> Dataset:
    """Two trials of two exchanges, each of 2 mJ (1 to 4), half of it in each of two states."""
    write_campaign(folder, protocols=("h2", "h3"), links=("lossless",), uploads=("30 B",), trials=2, exchanges=2)
    exchanges = pl.read_parquet(folder / "exchanges.parquet")
    columns_of = {"": 2e-3, "_least": 1e-3, "_most": 4e-3}
    exchanges.with_columns(
        **{f"radio_energy{end}_j": pl.lit(joules) for end, joules in columns_of.items()},
        **{
            f"day_energy{end}_j": pl.lit(100 * joules if day else None, pl.Float64)
            for end, joules in columns_of.items()
        },
    ).pipe(write_table, folder / "exchanges.parquet")
    (folder / ENERGY).write_text(json.dumps(whole_energy(CONFIGURED | {"battery": battery})))
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


def test_without_an_interval_there_is_no_day_and_no_battery(tmp_path: Path) -> None:
    _, found = radio_energies(written(tmp_path, {"capacity_mah": 1.0, "voltage_v": 1.0}, day=False))
    for each in found.values():
        assert (each["day_j"], each["day_states"], each["battery_days"]) == (None, None, None)


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
    assert estimates["energy"]["radio"]["name"] == "r"
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
