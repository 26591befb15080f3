"""A plan in shards as an array of tasks on a Slurm cluster: a task that is cancelled goes on, and all are merged."""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.interop import slurm
from tests.interop.conftest import REQUIRED

from wirelab.schema.record import FACTS, CampaignRecord

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = [pytest.mark.guest, pytest.mark.nightly]

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
exchanges = 20

[stop]
replicates = 40
"""
SHARDS = 3


def _digest(campaign: Path) -> str | None:
    return CampaignRecord.model_validate_json((campaign / FACTS).read_text()).runs[-1].digest


def test_a_cancelled_task_is_submitted_again_and_all_are_merged(bench: Bench) -> None:
    if why := slurm.missing():
        pytest.fail(why) if REQUIRED else pytest.skip(why)
    file, whole = str(bench.experiment(EXPERIMENT)), bench.folder / "whole"
    assert bench.run("run", file, "--out", str(whole), timeout_s=400)[0] == 0
    code, words, errors = bench.run("slurm", file, "--shards", str(SHARDS), "--out", str(bench.campaign))
    assert code == 0, errors
    folder = bench.folder / f"campaign-slurm-{SHARDS}"
    array, merge = str(folder / "shards.sbatch"), str(folder / "merge.sbatch")
    assert f"sbatch --array=N {array}" in words
    # Sockets of Slurm's steps are in its folder, and the path of a socket has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="slurm-") as short, slurm.cluster(Path(short) / "cluster") as cluster:
        # As it is printed. One task is cancelled while it runs, so the merge after them has nothing to write.
        submit = next(line for line in words.splitlines() if line.startswith("Submit ")).removeprefix("Submit")
        merged = _job(cluster.run("sh", "-c", submit))
        job = str(int(merged) - 1)
        _until_a_trial_is_there(folder / "parts" / "0001", cluster)
        cluster.run("scancel", f"{job}_1")
        cluster.wait(merged, "FAILED")
        assert cluster.states(job) == {"1": "CANCELLED", "2": "COMPLETED", "3": "COMPLETED"}, cluster.log()
        assert not bench.campaign.exists()
        log = (folder / "merge.log").read_text()
        assert "shard 1/3" in log, log
        assert f"A shard N that is missing: sbatch --array=N {array}" in log
        again = _job(cluster.run("sbatch", "--array=1", array))
        cluster.wait(again)
        merged = _job(cluster.run("sbatch", merge))
        cluster.wait(merged)
        print(cluster.log())
    assert _digest(bench.campaign) == _digest(whole) is not None
    bench.assert_nothing_left()


def _until_a_trial_is_there(part: Path, cluster: slurm.Cluster) -> None:
    ends = time.monotonic() + slurm.JOB_S
    while not [*part.glob("trials/*")]:
        assert time.monotonic() < ends, cluster.log()
        time.sleep(0.05)


def _job(words: str) -> str:
    found = re.search(r"Submitted batch job (\d+)", words)
    assert found is not None, words
    return found[1]
