"""What endpoints used, from the host's counts to metrics of a trial."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.documents import whole_result
from tests.metrics.records import MS, Records, exchange
from wirelab.metrics.dataset import build
from wirelab.metrics.resources import ROLES, USED

USE = {
    "cpu_user_ns": 30 * MS, "cpu_system_ns": 12 * MS, "cpu_ready_ns": 2 * MS, "peak_memory_bytes": 9_000_000,
    "proportional_memory_bytes": 4_000_000, "memory_samples": 3, "voluntary_switches": 50, "involuntary_switches": 7,
    "instructions": 1_000_000,
}  # fmt: skip


def values(folder: Path, monkeypatch: pytest.MonkeyPatch, *endpoints: dict[str, Any]) -> dict[str, float | None]:
    """Of one trial with two exchanges, from the start of the first to 163 ms later."""
    records = Records(folder, {"s": {}})
    trial = records.trial("s", [exchange(0), exchange(1)])
    path = folder / "trials" / trial / "result.json"
    path.write_text(json.dumps(whole_result(json.loads(path.read_text()) | {"endpoints": list(endpoints)})))
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
    trials = build(folder).trials
    return {metric.name: trials.select(value=metric.value)["value"].cast(pl.Float64)[0] for metric in USED}


def test_each_endpoint_has_its_cpu_time_memory_and_switches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = values(tmp_path, monkeypatch, {"name": "client", **USE}, {"name": "proxy", **USE, "cpu_user_ns": 0})
    assert (found["client-cpu"], found["client-cpu-user"], found["client-cpu-system"]) == (42 * MS, 30 * MS, 12 * MS)
    assert (found["client-peak-memory"], found["client-proportional-memory"]) == (9_000_000, 4_000_000)
    assert (found["client-voluntary-switches"], found["client-involuntary-switches"]) == (50, 7)
    assert found["client-instructions"] == 1_000_000
    assert (found["proxy-cpu"], found["server-cpu"]) == (12 * MS, None)


def test_idle_cpu_time_is_subtracted_and_utilisation_is_over_the_time_of_the_exchanges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = values(tmp_path, monkeypatch, {"name": "client", **USE})
    assert (found["client-cpu-idle"], found["client-cpu-work"]) == (2 * MS, 40 * MS)
    assert found["client-utilisation"] == pytest.approx(40 / 163)


def test_what_was_not_reported_is_unknown_and_not_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = {"name": "client", "cpu_user_ns": 3 * MS, "cpu_system_ns": MS, "peak_memory_bytes": 5000}
    found = values(tmp_path, monkeypatch, old)
    known = {name for name, value in found.items() if value is not None}
    assert known == {"client-cpu", "client-cpu-user", "client-cpu-system", "client-peak-memory"}


def test_cpu_time_is_never_negative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = values(tmp_path, monkeypatch, {"name": "server", **USE, "cpu_ready_ns": 43 * MS})
    assert found["server-cpu-work"] == 0


def test_every_role_has_the_same_metrics() -> None:
    names = {role: [m.name.removeprefix(role) for m in USED if m.name.startswith(role)] for role in ROLES}
    assert names["client"] == names["server"] == names["proxy"]
