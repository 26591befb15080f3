"""What must survive: kill -9 of the runner, Ctrl-C, a killed endpoint, a full disk. Nothing is ever left behind."""

from __future__ import annotations

import ctypes
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.interop.covering import nightly

from wirelab.schema.campaign import EntryStatus, read_journal

if TYPE_CHECKING:
    from conftest import Bench

EXPERIMENT = """
title = "faults"
[factors]
protocol = ["raw-tcp", "http1"]
link = ["clean", "lossy"]
[links]
clean = {{ rtt = "20 ms" }}
lossy = {{ rtt = "20 ms", loss = "1 %" }}
[workload]
kind = "request-response"
upload = "30 B"
connection = "new"
exchanges = {exchanges}
timeout = "20 s"
[stop]
replicates = {replicates}
"""
PATIENCE_S = 60.0


def until(condition: Callable[[], object], what: str) -> None:
    """Wait for something to come true."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {PATIENCE_S:.0f} s"
        time.sleep(0.02)


def finished(bench: Bench) -> int:
    journal = bench.campaign / "journal.jsonl"
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def has_grown(bench: Bench, before: int, process: subprocess.Popen[str]) -> bool:
    return finished(bench) > before or process.poll() is not None


def words_of(process: subprocess.Popen[str]) -> str:
    out, words = process.communicate(timeout=PATIENCE_S)
    return out + words


def host_of(bench: Bench, process: subprocess.Popen[str]) -> int:
    """The agent's host that a command started. What the host forks bears its command line until it executes another."""
    hosts = [pid for pid, line in bench.processes().items() if line.split()[1:2] == ["host"]]
    [host] = [pid for pid in hosts if parent_of(pid) == process.pid]
    return host


def parent_of(pid: int) -> int | None:
    """The process that started one; none if that has ended meanwhile."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


@pytest.mark.namespaces
def test_killed_at_random_moments_a_campaign_resumes_and_leaves_nothing(bench: Bench) -> None:
    experiment = bench.experiment(EXPERIMENT.format(exchanges=10, replicates=4))
    command = ("run", str(experiment), "--out", str(bench.campaign), "--jobs", "4")
    chance = random.Random(7)
    kept: dict[str, str] = {}
    for _ in range(5):
        process = bench.start(*command)
        grown = partial(has_grown, bench, finished(bench), process)
        until(grown, "a finished trial")
        time.sleep(chance.uniform(0, 0.5))
        process.kill()
        words_of(process)
        until(lambda: not bench.processes(), "the end of every process")
        bench.assert_nothing_left()
        done = {trial for trial, status in kept.items() if status == "done"}
        kept = bench.statuses()
        assert done <= {trial for trial, status in kept.items() if status == "done"}
    bench.measure_experiment(experiment.read_text(), "--jobs", "4")
    assert set(bench.statuses().values()) == {"done"}
    assert len(pl.read_parquet(bench.campaign / "exchanges.parquet")) == 4 * 4 * 10
    folders = {path.name for path in (bench.campaign / "trials").iterdir() if ".discarded-" not in path.name}
    assert folders == set(bench.statuses())
    bench.assert_nothing_left()


@pytest.mark.namespaces
@pytest.mark.parametrize("how", [signal.SIGINT, nightly(signal.SIGTERM)])
def test_an_interrupted_run_keeps_finished_trials_and_says_how_to_continue(bench: Bench, how: signal.Signals) -> None:
    experiment = bench.experiment(EXPERIMENT.format(exchanges=20, replicates=3))
    command = ("run", str(experiment), "--out", str(bench.campaign), "--jobs", "2", "--no-probes")
    process = bench.start(*command)
    until(lambda: finished(bench) >= 2, "two finished trials")
    process.send_signal(how)
    words = words_of(process)
    assert process.returncode == 130, words
    assert re.search(r"stopped after \d+ of 12 trials", words)
    assert "the same command continues where this one stopped" in words
    until(lambda: not bench.processes(), "the end of every process")
    bench.assert_nothing_left()
    status, out, words = bench.run(*command)
    assert status == 0, out + words
    assert set(bench.statuses().values()) == {"done"}


@pytest.mark.namespaces
def test_a_killed_host_ends_the_run_and_the_next_one_continues(bench: Bench) -> None:
    experiment = bench.experiment(EXPERIMENT.format(exchanges=20, replicates=2))
    command = ("run", str(experiment), "--out", str(bench.campaign), "--jobs", "2", "--no-probes")
    process = bench.start(*command)
    until(lambda: finished(bench) >= 1, "a finished trial")
    os.kill(host_of(bench, process), signal.SIGKILL)
    words = words_of(process)
    assert process.returncode == 1, words
    assert "wirelab-agent host ended with" in words
    until(lambda: not bench.processes(), "the end of every process")
    bench.assert_nothing_left()
    bench.measure_experiment(experiment.read_text(), "--jobs", "2")


@pytest.mark.namespaces
def test_a_killed_link_process_is_replaced_and_its_block_runs_again(bench: Bench) -> None:
    experiment = bench.experiment(EXPERIMENT.format(exchanges=40, replicates=2))
    process = bench.start("run", str(experiment), "--out", str(bench.campaign), "--jobs", "1", "--no-probes")

    def links() -> list[int]:
        return [pid for pid, line in bench.processes().items() if " link --slots " in line]

    until(lambda: finished(bench) >= 1, "a finished trial")
    os.kill(links()[0], signal.SIGKILL)
    words = words_of(process)
    assert process.returncode == 0, words
    assert re.search(r"the link process ended; another one is started, and block \d will run again", words), words
    assert set(bench.statuses().values()) == {"done"}
    assert len(bench.statuses()) == 4 * 2
    until(lambda: not bench.processes(), "the end of every process")
    bench.assert_nothing_left()


@pytest.mark.namespaces
def test_after_a_stopped_link_process_the_block_runs_again(bench: Bench) -> None:
    experiment = bench.experiment(EXPERIMENT.format(exchanges=20, replicates=1))
    process = bench.start("run", str(experiment), "--out", str(bench.campaign), "--jobs", "1", "--no-probes")

    def links() -> list[int]:
        return [pid for pid, line in bench.processes().items() if " link --slots " in line]

    def stopped_for_a_moment() -> bool:
        """Until a trial has ended: one stop may come before its first packet."""
        os.kill(links()[0], signal.SIGSTOP)
        time.sleep(0.2)
        os.kill(links()[0], signal.SIGCONT)
        time.sleep(0.2)
        return finished(bench) >= 1

    until(links, "a link process")
    until(stopped_for_a_moment, "a finished trial")
    words = words_of(process)
    assert process.returncode == 0, words
    assert re.search(r"block 0: the link delivered a packet \d+ ms late, so a timer may have fired; repeated", words), (
        words
    )
    assert set(bench.statuses().values()) == {"done"}
    assert "Attempts that were run again and do not count" in (bench.campaign / "estimates.json").read_text()
    bench.assert_nothing_left()


@pytest.mark.namespaces
@pytest.mark.parametrize("role", ["client", "server"])
def test_a_killed_endpoint_fails_only_its_trial(bench: Bench, role: str) -> None:
    experiment = bench.experiment(EXPERIMENT.format(exchanges=40, replicates=1))
    process = bench.start("run", str(experiment), "--out", str(bench.campaign), "--jobs", "1", "--no-probes")
    victim = re.compile(rf"endpoint \S+/{role}/parameters\.json")

    def victims() -> list[int]:
        return [pid for pid, line in bench.processes().items() if re.search(victim, line) and " trial " not in line]

    until(victims, "a running endpoint")
    os.kill(victims()[0], signal.SIGKILL)
    words = words_of(process)
    assert process.returncode == 0, words
    statuses = list(bench.statuses().values())
    if role == "client":
        assert sorted(statuses) == ["done", "done", "done", "failed"], words
        assert "failed" in words
    else:
        # Without its server a client's exchanges fail, which is data; the trial fails if the host saw the server go.
        assert statuses.count("done") >= 3
    bench.assert_nothing_left()


def is_probing(bench: Bench) -> bool:
    return any(" probes " in line and "--end client" in line for line in bench.processes().values())


@pytest.mark.namespaces
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_calibration_that_is_interrupted_or_killed_leaves_nothing(bench: Bench, how: signal.Signals) -> None:
    process = bench.start("calibrate", "wifi-good", "--time", "60s")
    until(lambda: is_probing(bench), "probes")
    assert len(list(bench.temporary.iterdir())) == 1
    process.send_signal(how)
    out, words = process.communicate(timeout=PATIENCE_S)
    assert out == ""
    if how is not signal.SIGKILL:
        assert process.returncode == 130, words
        assert words.endswith("cancelled\n")
    until(lambda: not bench.processes(), "the end of every process")
    bench.assert_nothing_left()


@pytest.mark.namespaces
def test_a_calibration_whose_host_is_killed_says_so_and_leaves_nothing(bench: Bench) -> None:
    process = bench.start("calibrate", "wifi-good", "--time", "60s")
    until(lambda: is_probing(bench), "probes")
    os.kill(host_of(bench, process), signal.SIGKILL)
    words = words_of(process)
    assert process.returncode == 1, words
    assert "wirelab-agent host ended with -9" in words
    until(lambda: not bench.processes(), "the end of every process")
    bench.assert_nothing_left()


CLONE_NEWNS = 0x20000


def with_small_disk(at: Path, size: str, body: Callable[[], None]) -> None:
    """Call `body` where a file system of so many bytes is at a path, which `body` and what it starts alone see.

    In a thread of its own: with its mounts a thread leaves the working directory that all others share, for good.
    """
    at.mkdir()

    def mounted() -> None:
        _unshare(CLONE_NEWNS)
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(at)], check=True)
        body()

    with ThreadPoolExecutor(max_workers=1) as threads:
        threads.submit(mounted).result()


def _unshare(flags: int) -> None:
    """The system call, which Python has a function for since 3.12."""
    if ctypes.CDLL(None, use_errno=True).unshare(flags):
        number = ctypes.get_errno()
        raise OSError(number, f"unshare: {os.strerror(number)}")


@pytest.mark.namespaces
@pytest.mark.parametrize("options", [nightly(()), ("--capture",)], ids=["log", "capture"])
def test_a_full_disk_stops_the_run_and_free_space_lets_it_continue(bench: Bench, options: tuple[str, ...]) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    with_small_disk(bench.campaign, "4608k", partial(_fill_and_go_on, bench, options))


def _fill_and_go_on(bench: Bench, options: tuple[str, ...]) -> None:
    assert str(bench.campaign) in Path("/proc/thread-self/mounts").read_text()
    assert str(bench.campaign) not in Path("/proc/self/mounts").read_text()
    experiment = bench.experiment(EXPERIMENT.format(exchanges=10, replicates=5))
    command = ("run", str(experiment), "--out", str(bench.campaign / "c"), "--jobs", "4", "--no-probes", *options)
    status, out, words = bench.run(*command)
    assert status == 1, out + words
    assert "no space left on the device" in words
    assert "finished trials are kept" in words
    entries, _ = read_journal(bench.campaign / "c" / "journal.jsonl")
    assert EntryStatus.FAILED not in {entry.status for entry in entries}
    bench.assert_nothing_left()
    subprocess.run(["mount", "-o", "remount,size=200m", str(bench.campaign)], check=True)
    # The last entry of a trial counts: a block whose link was late on a busy machine was discarded.
    last = {entry.trial: entry.status for entry in entries}
    before = sum(status is EntryStatus.DONE for status in last.values())
    assert before
    status, out, words = bench.run(*command)
    assert status == 0, out + words
    assert f"{before} reused" in words
