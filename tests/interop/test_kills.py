"""A worker, the scheduler and the client of a Dask cluster, each killed at random moments: nothing is lost, nothing is
counted twice, and nothing is left running.
"""

from __future__ import annotations

import random
import shutil
import time
from typing import TYPE_CHECKING

import pytest
from tests.interop.dask_cluster import Cluster
from tests.interop.test_engine import EXPERIMENT, WAIT_S, digest_of

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = [pytest.mark.guest, pytest.mark.nightly]

MOMENTS = 20
LIMIT_S = 300


@pytest.mark.parametrize("victim", ["worker", "scheduler", "client"])
def test_kills_at_random_moments_cost_nothing_but_time(bench: Bench, victim: str) -> None:
    file = str(bench.experiment(EXPERIMENT))
    whole = bench.folder / "whole"
    assert bench.run("run", file, "--out", str(whole))[0] == 0
    expected = digest_of(whole)
    assert expected is not None
    cluster = Cluster.of(bench)
    out, parts = bench.folder / "out", bench.folder / "out-shards-3"
    command = ("run", file, "--engine", f"dask://{cluster.address}", "--shards", "3", "--out", str(out))
    try:
        began = time.monotonic()
        code, _, words = bench.run(*command, timeout_s=LIMIT_S)
        takes_s = time.monotonic() - began
        assert code == 0, words
        assert digest_of(out) == expected
        rng = random.Random(victim)
        ended = 0
        for _ in range(MOMENTS):
            for folder in (out, parts):
                shutil.rmtree(folder)
            moment_s = rng.uniform(0, takes_s)
            client = bench.start(*command)
            time.sleep(moment_s)
            ended += client.poll() is not None
            if victim == "client":
                client.kill()
            elif victim == "scheduler":
                cluster.scheduler.kill()
            elif (worker := cluster.worker(rng)) is not None:
                worker.kill()
            _, words = client.communicate(timeout=LIMIT_S)
            assert "Traceback" not in words, words
            if victim == "scheduler":
                cluster.restart()
            if victim == "worker":
                assert client.returncode == 0, f"{moment_s} s: {words}"
            elif not out.exists():
                code, _, words = bench.run(*command, timeout_s=LIMIT_S)
                assert code == 0, f"{moment_s} s: {words}"
            assert digest_of(out) == expected, f"{moment_s} s"
            assert not _shards(bench)
    finally:
        cluster.stop()
    print(f"{victim}: {MOMENTS} kills within {takes_s:.1f} s, {ended} of them after the end")
    bench.assert_nothing_left()


def _shards(bench: Bench) -> list[str]:
    """Shards that still run, after the time that ending one may take."""
    ends = time.monotonic() + WAIT_S
    while found := [words for words in bench.processes().values() if "--shard " in words]:
        if time.monotonic() > ends:
            return found
        time.sleep(0.1)
    return []
