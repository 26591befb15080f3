"""Endpoints that waited for a CPU measured the machine, and their scenarios say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.synthetic import write_campaign
from wirelab.metrics.tables import write_table
from wirelab.stats.dataset import Dataset
from wirelab.stats.machine.endpoint_waits import endpoint_waits

MS = 10**6


def waits(folder: Path, **columns: int | None) -> dict[str, Any]:
    """Those of a campaign of one scenario, 3 trials of 10 exchanges of about 40 ms each."""
    write_campaign(folder, protocols=("raw-tcp",), links=("lossless",), uploads=("30 B",), trials=3, exchanges=10)
    path = folder / "trials.parquet"
    values = {"duration_ns": 500 * MS, **columns}
    given = [pl.lit(value, dtype=pl.Int64).alias(name) for name, value in values.items()]
    pl.read_parquet(path).with_columns(given).pipe(write_table, path)
    [found] = endpoint_waits(Dataset.read(folder)).values()
    return found


@pytest.mark.parametrize(("wait_ms", "flag"), [(0.1, "good"), (3, "good"), (20, "limited"), (60, "unusable")])
def test_cpu_waiting_is_judged_as_a_share_of_the_exchanges(tmp_path: Path, wait_ms: float, flag: str) -> None:
    # 10 exchanges of 40 ms: 4 ms are a hundredth.
    wait = int(wait_ms * MS)
    found = waits(tmp_path, client_run_delay_ns=wait // 3, server_run_delay_ns=wait - wait // 3)
    assert found["flag"] == flag
    assert (found["cure"] is None) == (flag == "good")
    assert found["wait_s"] == pytest.approx(wait_ms / 1e4)


def test_the_reason_has_the_wait_and_its_share(tmp_path: Path) -> None:
    why = waits(tmp_path, client_run_delay_ns=40 * MS, server_run_delay_ns=20 * MS)["why"]
    assert why.startswith("endpoints waited 6 ms for a CPU in each exchange, 14.")
    assert why.endswith("% of its duration")


def test_a_wait_longer_than_the_exchange_is_a_multiple_of_it(tmp_path: Path) -> None:
    found = waits(tmp_path, client_run_delay_ns=800 * MS, server_run_delay_ns=0)
    assert found["why"].endswith(f" for a CPU in each exchange, {found['share']:.1f} times its duration")
    assert found["share"] > 1


def journal(folder: Path, lanes: int) -> None:
    names = pl.read_parquet(folder / "trials.parquet").select("trial", "scenario", "block", "lane").to_dicts()
    rest = {"lanes": lanes, "status": "done", "attempt": 1, "agent": "0" * 64, "written": "2026-11-21T12:00:00.000Z"}
    (folder / "journal.jsonl").write_text("".join(json.dumps({**name, **rest}) + "\n" for name in names))


@pytest.mark.parametrize(
    ("lanes", "cure"),
    [(1, "stop other programs"), (4, "run fewer trials at a time (--jobs), or stop other programs")],
)
def test_fewer_jobs_are_advised_only_if_there_were_several(tmp_path: Path, lanes: int, cure: str) -> None:
    waits(tmp_path, client_run_delay_ns=800 * MS, server_run_delay_ns=0)
    journal(tmp_path, lanes)
    [found] = endpoint_waits(Dataset.read(tmp_path)).values()
    assert found["cure"] == cure


def test_a_wait_of_a_few_microseconds_does_not_lower_the_quality(tmp_path: Path) -> None:
    assert waits(tmp_path, client_run_delay_ns=300_000, server_run_delay_ns=100_000)["flag"] == "good"


def test_an_uncounted_wait_is_not_taken_for_zero(tmp_path: Path) -> None:
    found = waits(tmp_path, client_run_delay_ns=None, server_run_delay_ns=40 * MS)
    assert (found["wait_s"], found["share"]) == (None, None)
    assert found["why"] == "how long endpoints waited for a CPU was not counted"


def test_a_throttled_host_is_not_cpu_contention_and_the_other_host_decides(tmp_path: Path) -> None:
    limited: dict[str, int | None] = {"client_run_delay_ns": None, "client_throttled_ns": 400 * MS}
    assert waits(tmp_path / "idle", **limited, server_run_delay_ns=2 * MS)["flag"] == "good"
    assert waits(tmp_path / "busy", **limited, server_run_delay_ns=80 * MS)["flag"] == "unusable"
    neither = waits(tmp_path / "both", **limited, server_run_delay_ns=None, server_throttled_ns=MS)
    assert neither["why"] == "how long endpoints waited for a CPU was not counted"


def test_cpu_time_stolen_by_a_hypervisor_lowers_the_grade(tmp_path: Path) -> None:
    found = waits(tmp_path, client_run_delay_ns=0, server_run_delay_ns=0, stolen_cpu_ns=20 * MS)
    assert (found["flag"], found["steal"]) == ("limited", 0.04)
    assert found["why"].startswith("a hypervisor gave 4.0% of a CPU to others")
    assert found["cure"] == "run it when the machine is quieter"
