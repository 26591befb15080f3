"""What the client's radio spent: which packets are whose, and what stands in the tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.metrics.records import MS, START, Records, exchange, flow
from wirelab.errors import WirelabError
from wirelab.metrics.dataset import Dataset, build
from wirelab.metrics.energy_settings import Settings
from wirelab.metrics.radio import ENERGY, STATES, assigned
from wirelab.schema.plan import EnergyRecord
from wirelab_energy import Packet, load_radio, per_day, radio_energy
from wirelab_energy.processor import NO_CPU

RADIO = "enc28j60-ethernet"
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


def rows(*starts: tuple[int, int]) -> list[dict[str, int]]:
    return [{"local_port": port, "start_ns": start} for port, start in starts]


def given(*packets: tuple[int, int | None]) -> list[tuple[Packet, int | None]]:
    return [(Packet(at, up=True, size=1), port) for at, port in packets]


def times(found: list[list[Packet]]) -> list[list[int]]:
    return [[packet.time_ns for packet in mine] for mine in found]


def test_a_packet_belongs_to_the_latest_exchange_of_its_connection() -> None:
    kept = rows((1, 100), (1, 200), (2, 150))
    found = assigned(kept, given((90, 1), (100, 1), (160, 1), (160, 2), (200, 1), (900, 1)), by_time=False)
    assert times(found) == [[90, 100, 160], [200, 900], [160]]


def test_packets_of_other_connections_and_without_ports_belong_to_no_exchange() -> None:
    assert times(assigned(rows((1, 100)), given((100, 7), (100, None)), by_time=False)) == [[]]
    assert times(assigned([{"local_port": None, "start_ns": 100}], given((100, None)), by_time=False)) == [[]]


def test_a_load_has_all_packets_of_its_time_on_any_connection() -> None:
    loads = rows((1, 100), (9, 200))
    assert times(assigned(loads, given((100, 1), (150, 2), (250, 1), (260, None)), by_time=True)) == [
        [100, 150], [250, 260],
    ]  # fmt: skip


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


def test_a_day_repeats_the_message_and_the_device_sleeps(records: Records, built: Build) -> None:
    name = records.trial("s", [exchange(0)], [flow(40_000)])
    records.radio[name] = [packet(0), packet(40, up=False)]
    dataset = built(records, {"radio": RADIO, "device": "nrf52840", "interval_ns": 900 * 10**9})
    own = [Packet(START, True, 100), Packet(START + 40 * MS, False, 100)]
    message = radio_energy(load_radio(RADIO), own, START, START + 40 * MS)
    settings = Settings.of(EnergyRecord(radio=RADIO, device="nrf52840"))
    day = per_day(settings.radio, settings.device, message, 900)
    assert dataset.exchanges["day_energy_j"].to_list() == pytest.approx([day.total_j.typical])
    states = pl.read_parquet(records.folder / STATES)
    assert states["day_energy_typical"].sum() == pytest.approx(day.total_j.typical)
    assert states["radio_energy_typical"].sum() == pytest.approx(message.joules.typical)
    assert (states["exchanges"].unique().to_list(), states["days"].unique().to_list()) == ([1], [1])


def test_a_message_longer_than_the_interval_has_no_day_with_the_reason(records: Records, built: Build) -> None:
    name = records.trial("s", [exchange(0)], [flow(40_000)])
    records.radio[name] = [packet(0), packet(2000, up=False)]
    dataset = built(records, {"radio": RADIO, "interval_ns": 10**9})
    assert dataset.exchanges["day_energy_j"].null_count() == 1
    assert dataset.exchanges["radio_energy_j"].null_count() == 0
    notes = json.loads((records.folder / ENERGY).read_text())["notes"]
    assert notes == [NO_CPU, "Without a day's energy: 1 exchanges that take longer than the interval."]


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
    assert json.loads((records.folder / ENERGY).read_text())["radio"]["name"] == RADIO
    assert built(records, None).exchanges["radio_energy_j"].null_count() == 1
    assert not (records.folder / ENERGY).exists()
    assert not (records.folder / STATES).exists()


def test_every_constant_is_written_down_with_its_source(records: Records, built: Build) -> None:
    name = records.trial("s", [exchange(0)], [flow(40_000)])
    records.radio[name] = [packet(0)]
    built(records, {"radio": RADIO, "battery_mah": 2400.0, "battery_v": 3.7})
    written = json.loads((records.folder / ENERGY).read_text())
    assert [each["constant"] for each in written["radio"]["sources"]] == [
        each.path for each in load_radio(RADIO).cited()
    ]
    assert all(each["source"] for each in written["radio"]["sources"])
    assert written["battery"] == {"capacity_mah": 2400.0, "voltage_v": 3.7}
    assert (written["device"], written["interval_s"]) == (None, None)


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
