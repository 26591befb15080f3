"""A plan in shards on a Dask cluster: the same records, whatever is killed meanwhile."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.interop.dask_cluster import Cluster, command_line

from wirelab.schema.record import FACTS, CampaignRecord

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.guest

EXPERIMENT = """\
title = "A small experiment"
metric = "end-to-end-delay"
clock = "virtual"

[factors]
protocol = ["http1", "coap"]

[link]
rtt = "20 ms"
loss = "10 %"

[workload]
kind = "telemetry"
message = "30 B"
exchanges = 5

[stop]
replicates = 6
"""
SHARDS = ("--engine", "dask", "--shards", "3")
WAIT_S = 120


def digest_of(campaign: Path) -> str | None:
    return CampaignRecord.model_validate_json((campaign / FACTS).read_text()).runs[-1].digest


def _whole(bench: Bench, file: str) -> str | None:
    folder = bench.folder / "whole"
    assert bench.run("run", file, "--out", str(folder))[0] == 0
    return digest_of(folder)


def _until_a_shard_runs(process: subprocess.Popen[str]) -> psutil.Process:
    """The worker that runs one."""
    ends = time.monotonic() + WAIT_S
    while time.monotonic() < ends:
        for child in psutil.Process(process.pid).children(recursive=True):
            words = command_line(child)
            if "--shard" in words and "wirelab" in words and (worker := _worker_of(child, process.pid)) is not None:
                return worker
        time.sleep(0.05)
    raise AssertionError("no shard began")


def _worker_of(shard: psutil.Process, main: int) -> psutil.Process | None:
    """The parent of a shard that Dask started."""
    try:
        parent = shard.parent()
    except psutil.Error:
        return None
    return parent if parent is not None and parent.pid != main else None


def test_a_worker_that_is_killed_costs_nothing_but_time(bench: Bench) -> None:
    file = str(bench.experiment(EXPERIMENT))
    expected = _whole(bench, file)
    process = bench.start("run", file, *SHARDS, "--out", str(bench.campaign))
    _until_a_shard_runs(process).send_signal(signal.SIGKILL)
    _, words = process.communicate(timeout=400)
    assert process.returncode == 0, words
    assert digest_of(bench.campaign) == expected is not None
    bench.assert_nothing_left()


def test_the_same_command_goes_on_after_its_own_death(bench: Bench) -> None:
    file = str(bench.experiment(EXPERIMENT))
    expected = _whole(bench, file)
    process = bench.start("run", file, *SHARDS, "--out", str(bench.campaign))
    _until_a_shard_runs(process)
    process.kill()
    process.communicate(timeout=60)
    assert not bench.campaign.exists()
    code, _, words = bench.run("run", file, *SHARDS, "--out", str(bench.campaign), timeout_s=400)
    assert code == 0, words
    assert digest_of(bench.campaign) == expected
    code, _, words = bench.run("run", file, *SHARDS, "--out", str(bench.campaign))
    assert code == 2
    assert "is already there" in words
    bench.assert_nothing_left()


def test_a_scheduler_with_tls_is_used_by_who_has_its_certificate(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(bench.experiment(EXPERIMENT))
    key, certificate = bench.folder / "key.pem", bench.folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    cluster = Cluster.of(
        bench, ("--tls-ca-file", str(certificate), "--tls-cert", str(certificate), "--tls-key", str(key))
    )
    command = ("run", file, "--engine", f"dask+tls://{cluster.address}", "--shards", "2", "--out", str(bench.campaign))
    try:
        code, _, words = bench.run(*command, timeout_s=120)
        assert code == 2, words
        assert "needs certificates, and not all are configured" in words
        assert "Traceback" not in words
        for name in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY"):
            monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{name}", str(bench.folder / "none.pem"))
        code, _, words = bench.run(*command, timeout_s=120)
        assert code == 2, words
        assert "certificates cannot be read" in words
        assert not bench.campaign.exists()
        monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TLS__CA_FILE", str(certificate))
        monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT", str(certificate))
        monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY", str(key))
        code, _, words = bench.run(*command, timeout_s=400)
        assert code == 0, words
    finally:
        cluster.stop()
    assert digest_of(bench.campaign) == _whole(bench, file) is not None
    bench.assert_nothing_left()


@pytest.mark.parametrize(
    ("engine", "what"),
    [
        ("spark", "--engine: unknown (spark)"),
        ("dask://127.0.0.1:9", "no scheduler answers at tcp://127.0.0.1:9"),
        ("dask://198.51.100.7:8786", "is beyond this machine, and is not encrypted"),
    ],
)
def test_a_scheduler_that_is_not_there_is_one_error(bench: Bench, engine: str, what: str) -> None:
    file = str(bench.experiment(EXPERIMENT))
    code, _, words = bench.run("run", file, "--engine", engine, "--out", str(bench.campaign), timeout_s=120)
    assert code == 2, words
    assert what in words
    assert "Traceback" not in words
    assert not bench.campaign.exists()
    bench.assert_nothing_left()
