"""What background traffic carried."""

from __future__ import annotations

import json
from pathlib import Path

from tests.documents import whole_scenario
from wirelab.metrics.traffic import background_bps
from wirelab.schema.plan import Scenario

ENDS = {"source": "client", "to": "server", "flows": 1}
TRAFFIC = [
    {"name": "bulk", "kind": "bulk", "direction": "upload", "stagger_ns": 0, **ENDS},
    {"name": "ping", "kind": "ping", "payload_bytes": 56, "interval_ns": 10**9, **ENDS},
]
SCENARIO = Scenario.model_validate(whole_scenario({"key": "s", "traffic": TRAFFIC}))


def write(folder: Path, name: str, received: list[int], seconds: float = 2) -> None:
    place = folder / f"traffic-{name}"
    place.mkdir()
    flows = [{"sent_bytes": 9, "received_bytes": each, "connections": 1} for each in received]
    report = {"begin_ns": 10**9, "end_ns": 10**9 + int(seconds * 1e9), "flows": flows}
    (place / "stdout.txt").write_text('{"event": "ready", "ports": {}}\n' + json.dumps(report) + "\n")


def test_background_throughput_counts_arrivals_at_both_ends_over_the_senders_time(tmp_path: Path) -> None:
    write(tmp_path, "bulk.server", [1000, 500], seconds=99)
    write(tmp_path, "bulk", [0, 0])
    write(tmp_path, "ping", [250], seconds=1)
    assert background_bps(tmp_path, SCENARIO) == 8 * 750 + 8 * 250


def test_without_background_traffic_or_its_report_the_throughput_is_unknown(tmp_path: Path) -> None:
    assert background_bps(tmp_path, SCENARIO.model_copy(update={"traffic": ()})) is None
    write(tmp_path, "bulk", [10])
    assert background_bps(tmp_path, SCENARIO) is None
    (tmp_path / "traffic-ping").mkdir()
    (tmp_path / "traffic-ping" / "stdout.txt").write_text('{"event": "ready", "ports": {}}\n')
    assert background_bps(tmp_path, SCENARIO) is None
