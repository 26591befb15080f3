"""Exchanges are marked if a packet was late meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.metrics.records import MS, START, Records, exchange, flow
from wirelab.metrics.dataset import build
from wirelab.metrics.disturbed import disturbance_ns
from wirelab.schema.campaign import read_plan


def links(rtt_ms: int = 0, backend: str = "wirelab") -> dict[str, object]:
    chain = [{"kind": "delay", "delay_ns": rtt_ms * MS // 2}] if rtt_ms else []
    return {"link": {"uplink": chain, "downlink": chain, "backend": backend}}


def marked(records: Records, monkeypatch: pytest.MonkeyPatch) -> list[bool | None]:
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    return build(records.folder).exchanges["disturbed"].to_list()


def test_an_exchange_is_disturbed_if_a_packet_of_any_flow_was_late_during_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = Records(tmp_path / "campaign", {"s": {}})
    trial = records.trial("s", [exchange(0), exchange(1), exchange(2)], [flow(40_000)])
    left = START + 100 * MS
    records.packets[trial] = [
        {"departure_ns": left - MS, "lateness_ns": 2 * MS, "client_port": 7},
        {"departure_ns": left + 110 * MS, "lateness_ns": 400_000, "client_port": 7},
    ]
    assert marked(records, monkeypatch) == [False, True, False]


def test_the_bound_is_a_tenth_of_the_round_trip_and_half_a_millisecond_at_least(tmp_path: Path) -> None:
    records = Records(tmp_path / "campaign", {"near": links(2), "far": links(40)})
    records.finish()
    plan = read_plan(records.folder)
    assert [disturbance_ns(plan, scenario) for scenario in plan.scenarios] == [MS // 2, 4 * MS]


def test_packets_within_the_bound_are_not_even_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = Records(tmp_path / "campaign", {"s": links(40)})
    trial = records.trial("s", [exchange()], [flow(40_000)])
    records.packets[trial] = [{"departure_ns": START, "lateness_ns": 9 * MS}]
    assert marked(records, monkeypatch) == [False]


def test_how_late_netem_was_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = Records(tmp_path / "campaign", {"s": links(backend="netem")})
    records.trial("s", [exchange()], [flow(40_000)])
    assert marked(records, monkeypatch) == [None]
