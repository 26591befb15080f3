"""What the client's radio spent: which packets are whose, and what stands in the tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.metrics.records import MS, START, Records, exchange, flow, later
from wirelab.errors import WirelabError
from wirelab.metrics.dataset import Dataset, build
from wirelab.metrics.energy_settings import Settings
from wirelab.metrics.no_day import ATYPICAL, BACK_TO_BACK, OVERLOADED
from wirelab.metrics.radio import ENERGY, STATES, read_packets
from wirelab.schema.plan import EnergyRecord
from wirelab_energy import Packet, load_device, load_radio, per_day, radio_energy

RADIO = "enc28j60-ethernet"
EVERY = {
    "kind": "request-response", "upload_bytes": 30, "exchanges": 2,
    "arrival": {"process": "periodic", "interval_ns": 900 * 10**9},
}  # fmt: skip
"""A message every 15 min."""
Build = Callable[..., Dataset]


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "campaign", {"s": {}})


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Build:
    def finish(records: Records, energy: dict[str, Any] | None, again: EnergyRecord | None = None) -> Dataset:
        monkeypatch.setenv("WIRELAB_AGENT", str(records.finish(energy=energy)))
        return build(records.folder, again)

    return finish


def packet(at_ms: float, *, up: bool = True, size: int = 100, port: int | None = 40_000) -> dict[str, Any]:
    return {"at_ns": START + round(at_ms * MS), "uplink": up, "size_bytes": size, "client_port": port}


def test_the_energy_of_an_exchange_is_that_of_its_packets_from_an_idle_radio(records: Records, built: Build) -> None:
    name = records.trial("s", [exchange(0), exchange(1)], [flow(40_000)])
    records.radio[name] = [
        packet(0), packet(40, up=False), packet(100, port=40_001), packet(130, up=False, port=40_001, size=900),
        packet(400, port=None),
    ]  # fmt: skip
    dataset = built(records, {"radio": RADIO})
    radio = load_radio(RADIO)
    own = [
        [Packet(START, True, 100), Packet(START + 40 * MS, False, 100)],
        [Packet(START + 100 * MS, True, 100), Packet(START + 130 * MS, False, 900)],
    ]
    expected = [radio_energy(radio, each, each[0].time_ns, each[-1].time_ns).joules for each in own]
    for bound, column in (("low", "_least"), ("typical", ""), ("high", "_most")):
        found = dataset.exchanges[f"radio_energy{column}_j"].to_list()
        assert found == pytest.approx([getattr(each, bound) for each in expected])
    every = [*own[0], *own[1], Packet(START + 400 * MS, True, 100)]
    whole = radio_energy(radio, every, START, START + 400 * MS).joules.typical
    assert dataset.trials["trial_radio_energy_j"].to_list() == pytest.approx([whole])
    assert dataset.exchanges["day_energy_j"].null_count() == 2


def test_a_topology_without_a_named_client_uses_the_first_host(records: Records, built: Build) -> None:
    rows = [exchange(index) for index in range(2)]
    name = records.trial("s", [{key: row[key] for key in row if key != "client"} for row in rows], [flow(40_000)])
    records.radio[name] = [packet(0), packet(100, port=40_001)]
    found = built(records, {"radio": RADIO}).exchanges
    assert found["radio_energy_j"].null_count() == 0
    assert found["client"].to_list() == [0, 0]


@pytest.fixture
def timed(tmp_path: Path) -> Records:
    """A campaign whose messages have 15 min between them."""
    return Records(tmp_path / "timed", {"s": {"workload": EVERY}})


def apart(index: int) -> dict[str, Any]:
    """An exchange 15 min after the one before."""
    return later(exchange(index), index * (900 * 10**9 - 100 * MS))


def test_a_day_is_made_of_whole_intervals_and_the_device_sleeps(timed: Records, built: Build) -> None:
    name = timed.trial("s", [apart(0), apart(1)], [flow(40_000)])
    quarter = 900_000
    timed.radio[name] = [
        packet(0), packet(40, up=False), packet(quarter, port=40_001), packet(quarter + 40, up=False, port=40_001),
    ]  # fmt: skip
    dataset = built(timed, {"radio": RADIO, "device": "nrf52840"})
    own = [Packet(START, True, 100), Packet(START + 40 * MS, False, 100)]
    message = radio_energy(load_radio(RADIO), own, START, START + 40 * MS)
    day = per_day(load_radio(RADIO), load_device("nrf52840"), message, 900)
    assert dataset.exchanges["day_energy_j"].to_list() == pytest.approx([day.total_j.typical] * 2)
    assert dataset.exchanges["interval_energy_j"].to_list() == pytest.approx([day.radio_j.typical / 96] * 2)
    [trial] = dataset.trials.to_dicts()
    assert trial["trial_radio_energy_j"] == pytest.approx(day.radio_j.typical / 48)
    assert trial["trial_messages_energy_j"] == pytest.approx(trial["trial_radio_energy_j"])
    assert (trial["trial_setup_energy_j"], trial["trial_closing_energy_j"]) == (None, pytest.approx(0))
    states = pl.read_parquet(timed.folder / STATES)
    assert states["day_energy_typical"].sum() == pytest.approx(2 * day.total_j.typical)
    assert states["radio_energy_typical"].sum() == pytest.approx(2 * message.joules.typical)
    assert (states["exchanges"].unique().to_list(), states["days"].unique().to_list()) == ([2], [2])
    assert json.loads((timed.folder / ENERGY).read_text())["no_day"] == {}


def test_exchanges_that_ran_back_to_back_have_no_day_with_the_reason(records: Records, built: Build) -> None:
    name = records.trial("s", [exchange(0), exchange(1)], [flow(40_000)])
    records.radio[name] = [packet(0), packet(100, port=40_001)]
    dataset = built(records, {"radio": RADIO, "battery_mah": 1.0, "battery_v": 1.0})
    for column in ("day_energy_j", "interval_energy_j"):
        assert dataset.exchanges[column].null_count() == 2
    assert dataset.exchanges["radio_energy_j"].null_count() == 0
    assert json.loads((records.folder / ENERGY).read_text())["no_day"] == {"s": BACK_TO_BACK}


def test_an_overloaded_scenario_has_no_day_in_any_trial(timed: Records, built: Build) -> None:
    late = apart(1) | {"start_ns": apart(1)["start_ns"] + 3600 * 10**9}
    for rows in ([apart(0), apart(1)], [apart(0), late]):
        name = timed.trial("s", rows, [flow(40_000)])
        timed.radio[name] = [packet(0), packet(900_000, port=40_001)]
    dataset = built(timed, {"radio": RADIO})
    for column in ("day_energy_j", "interval_energy_j"):
        assert dataset.exchanges[column].null_count() == 4
    assert dataset.trials["trial_messages_energy_j"].null_count() == 0
    assert set(pl.read_parquet(timed.folder / STATES)["days"]) == {0}
    assert json.loads((timed.folder / ENERGY).read_text())["no_day"] == {"s": OVERLOADED}


def test_messages_that_are_like_no_other_have_no_day_with_the_reason(tmp_path: Path, built: Build) -> None:
    kept = {**EVERY, "connection": {"policy": "persistent", "connections": 1}}
    records = Records(tmp_path / "kept", {"s": {"workload": kept}})
    name = records.trial("s", [exchange(0)], [flow(40_000)])
    # The handshake takes 41 ms, and then the request goes.
    records.radio[name] = [packet(1), packet(21, up=False), packet(45)]
    dataset = built(records, {"radio": RADIO})
    assert dataset.exchanges["setup_energy_j"].null_count() == 0
    assert dataset.exchanges["interval_energy_j"].null_count() == 1
    assert json.loads((records.folder / ENERGY).read_text())["no_day"] == {"s": ATYPICAL}


def test_each_link_has_its_radio_and_one_without_has_no_energy(tmp_path: Path, built: Build) -> None:
    links = ("near", "far", "bare")
    records = Records(tmp_path / "c", {link: {"link_name": link} for link in links})
    for link in links:
        name = records.trial(link, [exchange(0)], [flow(40_000)])
        records.radio[name] = [packet(0)]
    own = {"far": {"radio": "powerpi-ethernet"}, "near": {"radio": RADIO}}
    dataset = built(records, {"radios": own})
    model = json.loads((records.folder / ENERGY).read_text())
    assert [(each["links"], each["radio"]["name"]) for each in model["radios"]] == [
        (["near"], RADIO), (["far"], "powerpi-ethernet"),
    ]  # fmt: skip
    assert "Without energy: 1 trials over links without a radio." in model["notes"]
    spent = dict(dataset.exchanges.select("scenario", "radio_energy_j").iter_rows())
    for link in ("near", "far"):
        radio = load_radio(own[link]["radio"])
        alone = radio_energy(radio, [Packet(START, True, 100)], START, START)
        assert spent[link] == pytest.approx(alone.joules.typical)
    assert spent["bare"] is None


def test_packets_say_how_far_the_link_was_ahead_if_it_rested(records: Records, built: Build) -> None:
    name = records.trial("s", [exchange(0)], [flow(40_000)])
    records.radio[name] = [packet(0), packet(40) | {"rested_ns": 7}]
    built(records, {"radio": RADIO})
    [found] = read_packets(records.folder, [name])
    assert [each.rested_ns for each in found] == [0, 7]
    assert [each.on_device.time_ns for each in found] == [START, START + 40 * MS + 7]


def test_an_incomplete_exchange_has_no_energy_and_counts_in_no_mean(records: Records, built: Build) -> None:
    name = records.trial("s", [exchange(0, outcome="timed-out"), exchange(1)], [flow(40_000)])
    records.radio[name] = [packet(0), packet(100, port=40_001)]
    dataset = built(records, {"radio": RADIO})
    assert [value is None for value in dataset.exchanges["radio_energy_j"]] == [True, False]
    assert pl.read_parquet(records.folder / STATES)["exchanges"].unique().to_list() == [1]


def test_a_netem_campaign_has_no_energy_with_the_reason(tmp_path: Path, built: Build) -> None:
    records = Records(tmp_path / "c", {"s": {"link": {"backend": "netem", "uplink": [], "downlink": []}}})
    name = records.trial("s", [exchange(0)], [flow(40_000)])
    records.radio[name] = [packet(0)]
    assert built(records, {"radio": RADIO}).exchanges["radio_energy_j"].null_count() == 1
    assert "netem" in json.loads((records.folder / ENERGY).read_text())["notes"][1]


def test_without_a_radio_nothing_is_computed_and_earlier_energies_are_removed(records: Records, built: Build) -> None:
    name = records.trial("s", [exchange(0)], [flow(40_000)])
    records.radio[name] = [packet(0)]
    asked = built(records, None, EnergyRecord(radio=RADIO))
    assert asked.exchanges["radio_energy_j"].null_count() == 0
    assert json.loads((records.folder / ENERGY).read_text())["radios"][0]["radio"]["name"] == RADIO
    assert built(records, None).exchanges["radio_energy_j"].null_count() == 1
    assert not (records.folder / ENERGY).exists()
    assert not (records.folder / STATES).exists()


def test_every_constant_is_written_down_with_its_source(records: Records, built: Build) -> None:
    name = records.trial("s", [exchange(0)], [flow(40_000)])
    records.radio[name] = [packet(0)]
    built(records, {"radio": RADIO, "battery_mah": 2400.0, "battery_v": 3.7})
    written = json.loads((records.folder / ENERGY).read_text())
    [one] = written["radios"]
    assert [each["constant"] for each in one["radio"]["sources"]] == [each.path for each in load_radio(RADIO).cited()]
    assert all(each["source"] for each in one["radio"]["sources"])
    assert written["battery"] == {"capacity_mah": 2400.0, "voltage_v": 3.7}
    assert (one["links"], one["device"]) == (["clean"], None)


def test_an_unknown_radio_is_refused_before_anything_is_read() -> None:
    with pytest.raises(WirelabError, match="unknown radio 'enc28j6'"):
        Settings.of(EnergyRecord(radio="enc28j6"))
    with pytest.raises(WirelabError, match="has no input 'drx'"):
        Settings.of(EnergyRecord(radio=RADIO, inputs={"drx": "1 s"}))


def test_a_user_defined_radio_is_read_from_the_campaigns_copy(records: Records, built: Build) -> None:
    shipped = resources.files("wirelab_energy.data").joinpath("radios", f"{RADIO}.toml").read_text()
    (records.folder / "mine.toml").write_text(shipped.replace('["160 mA", "160 mA", "180 mA"]', '"320 mA"'))
    name = records.trial("s", [exchange(0)], [flow(40_000)])
    records.radio[name] = [packet(0)]
    own, shipped_one = (built(records, {"radio": each}).exchanges["radio_energy_j"][0] for each in ("mine.toml", RADIO))
    assert own > 1.9 * shipped_one
    (records.folder / "mine.toml").unlink()
    with pytest.raises(WirelabError, match="no such file"):
        built(records, {"radio": "mine.toml"})
