"""Our loads of a page next to Chromium's, from the same server over the same link.

What both do is held. Load times are live time and so are printed: on a machine that does nothing else they differ by
less than 15 % (docs/design/pages.md).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.interop.covering import nightly
from tests.interop.test_pages import require

from wirelab import agent
from wirelab.schema import registered
from wirelab.site import fischer2021

if TYPE_CHECKING:
    from conftest import Bench

RELATIVE = 0.15
PROTOCOLS = ("http1", "https1", "h2", "h3")
CLIENTS = ("builtin", "chromium")
EXPERIMENT = f"""
title = "loads of a page, ours and Chromium's"
metric = "load-time"
[factors]
protocol = {json.dumps(PROTOCOLS)}
"client.implementation" = {json.dumps(CLIENTS)}
[link]
rtt = "100 ms"
[workload]
kind = "page"
page = "fischer2021"
loads = LOADS
timeout = "60 s"
[stop]
replicates = 1
"""
FIRST_IMAGES = {f"/{number}.jpg" for number in range(1, 6)}


@pytest.mark.namespaces
@pytest.mark.chromium
@pytest.mark.parametrize("count", [1, nightly(5)])
def test_our_loads_agree_with_chromiums_own_timing(
    bench: Bench, capsys: pytest.CaptureFixture[str], count: int
) -> None:
    require("chromium")
    bench.measure_experiment(EXPERIMENT.replace("LOADS", str(count)), "--jobs", "1")
    plan = json.loads((bench.campaign / "plan.json").read_text())
    who = {each["key"]: (each["protocol"], each["implementation"]["client"]) for each in plan["scenarios"]}
    loads, requests = (_rows(bench, name, who) for name in ("exchanges", "resources"))
    assert set(loads) == {(protocol, client) for protocol in PROTOCOLS for client in CLIENTS}
    with capsys.disabled():
        print(f"\n{'protocol':7} {'ours ms':>9} {'Chromium ms':>12} {'differs':>9}  within {RELATIVE:.0%}")
        for protocol in PROTOCOLS:
            print(_line(protocol, *(_median_ms(loads[protocol, client]) for client in CLIENTS)))
    for case, rows in loads.items():
        one_each = case[0] in {"http1", "https1"}
        assert [row["outcome"] for row in rows] == ["completed"] * count, case
        assert {row["connections"] for row in rows} == {6 if one_each else 1}, case
        assert all(0 < row["time_to_first_byte_ns"] < row["load_time_ns"] for row in rows), case
        assert {row["body_received_bytes"] for row in rows} == {fischer2021.page().site.body_bytes}, case
    for case, rows in requests.items():
        for load in range(count):
            _check_order(case, [row for row in rows if row["exchange"] == load])
    for protocol in PROTOCOLS:
        ours, theirs = ({_said(row) for row in requests[protocol, client]} for client in CLIENTS)
        assert ours == theirs, protocol
    assert _elsewhere(bench) == []
    assert list(bench.campaign.glob("trials/*/client/profile")) == []
    bench.assert_nothing_left()


def _elsewhere(bench: Bench) -> list[dict[str, Any]]:
    """What passed the link and was not with the server; ICMP is a kernel's, of a socket that had ended."""
    logs = sorted(map(str, bench.campaign.glob("trials/*/packets.wlpl")))
    reported = agent.ask(bench.agent, ["dissect", "--flows", *logs]).splitlines()
    ports = {protocol.default_port for protocol in registered().protocols if protocol.name in PROTOCOLS}
    flows = [flow for flow in map(json.loads, reported) if flow["transport"] != "icmp"]
    return [flow for flow in flows if flow["server_port"] not in ports]


def _check_order(case: tuple[str, str], rows: list[dict[str, Any]]) -> None:
    """Each resource once; document, stylesheet, images, of which over HTTP/1.1 some wait for the stylesheet."""
    resources = fischer2021.page().site.resources
    in_order = sorted(rows, key=lambda row: row["request_start_ns"])
    assert sorted((row["path"], row["body_received_bytes"]) for row in rows) == sorted(
        (resource.path, resource.body_bytes) for resource in resources
    ), case
    assert [row["path"] for row in in_order[:2]] == ["/index.html", "/style.css"], case
    held = [row for row in in_order[2:] if row["path"] not in FIRST_IMAGES]
    waited = [row["request_start_ns"] >= in_order[1]["end_ns"] for row in held]
    assert set(waited) == {case[0] in {"http1", "https1"}}, case


def _said(row: dict[str, Any]) -> tuple[str, int | None, bool | None]:
    return row["path"], row["urgency"], row["incremental"]


def _rows(bench: Bench, name: str, who: dict[str, tuple[str, str]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    rows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in pl.read_parquet(bench.campaign / f"{name}.parquet").to_dicts():
        rows.setdefault(who[row["scenario"]], []).append(row)
    return rows


def _median_ms(rows: list[dict[str, Any]]) -> float:
    return sorted(row["end_ns"] - row["start_ns"] for row in rows)[len(rows) // 2] / 1e6


def _line(protocol: str, ours_ms: float, theirs_ms: float) -> str:
    differs = ours_ms / theirs_ms - 1
    return (
        f"{protocol:7} {ours_ms:9.0f} {theirs_ms:12.0f} {differs:+9.1%}  {'yes' if abs(differs) <= RELATIVE else 'no'}"
    )
