"""Hostile surroundings: each is one error, nothing is left behind, and finished trials are kept."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.interop.covering import nightly
from tests.interop.test_faults import PATIENCE_S, finished, until, words_of

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.namespaces

EXPERIMENT = """
title = "surroundings"
[factors]
protocol = ["raw-udp", "http1"]
[link]
rtt = "10 ms"
[workload]
kind = "request-response"
upload = "30 B"
connection = "new"
exchanges = {exchanges}
timeout = "5 s"
[stop]
replicates = {replicates}
"""
WITHOUT_PROC = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
LIMITS = {
    "12 files": (("prlimit", "--nofile=12"), "at most 12 files may be open, and at least 64 are needed", "ulimit -n"),
    "700 MB": (("prlimit", "--as=734003200"), "the address space is limited to 700.0 MiB", "ulimit -v unlimited"),
    "files of 4 kB": (("prlimit", "--fsize=4096"), "files may have at most 0.0 MiB", "ulimit -f unlimited"),
    "no proc": (WITHOUT_PROC, "/proc is not mounted", "mount -t proc proc /proc"),
}


def one_error(words: str) -> None:
    """No traceback, and one error at most."""
    assert "Traceback" not in words, words
    assert "panicked" not in words, words
    assert words.count("hint: ") <= 1, words


def ended(bench: Bench) -> None:
    until(lambda: not bench.processes(), "the end of every process")
    bench.assert_nothing_left()


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_that_is_too_low_is_refused_before_anything_is_started(bench: Bench, limit: str) -> None:
    within, what, hint = LIMITS[limit]
    experiment = bench.experiment(EXPERIMENT.format(exchanges=2, replicates=1))
    status, out, words = bench.run("run", str(experiment), "--out", str(bench.campaign), within=within)
    assert (status, out) == (2, ""), words
    assert what in words
    assert hint in words
    one_error(words)
    assert not bench.campaign.exists()
    ended(bench)


def test_a_soft_limit_on_open_files_is_raised(bench: Bench) -> None:
    experiment = bench.experiment(EXPERIMENT.format(exchanges=2, replicates=1))
    status, out, words = bench.run(
        "run", str(experiment), "--out", str(bench.campaign), "--no-probes", within=("prlimit", "--nofile=20:4096")
    )
    assert status == 0, out + words


def test_an_address_space_that_is_too_small_for_figures_is_said_and_trials_are_kept(bench: Bench) -> None:
    experiment = bench.experiment(EXPERIMENT.format(exchanges=2, replicates=1))
    command = ("run", str(experiment), "--out", str(bench.campaign), "--no-probes")
    status, _, words = bench.run(*command, within=("prlimit", f"--as={4 * 2**30}"))
    assert status == 1, words
    assert "figures need an address space of 80.0 GiB, and it is limited to 4.0 GiB; trials and estimates are kept" in (
        words
    )
    one_error(words)
    ended(bench)
    assert (bench.campaign / "estimates.json").exists()
    status, _, words = bench.run(*command)
    assert status == 0, words
    assert "2 reused" in words


@pytest.mark.parametrize("verb", ["analyze", nightly("report"), nightly("measure")])
def test_a_campaign_that_cannot_be_written_is_one_error(bench: Bench, verb: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a folder read-only")
    bench.measure_experiment(EXPERIMENT.format(exchanges=2, replicates=1))
    within = ("unshare", "-m", "sh", "-c", READ_ONLY, str(bench.campaign))
    status, out, words = bench.run(verb, str(bench.campaign), within=within)
    assert (status, out) == (2, ""), words
    assert words.startswith(f"{bench.campaign}: cannot be written: Read-only file system\nhint: "), words
    one_error(words)
    ended(bench)


def _remove(folder: Path) -> None:
    subprocess.run(["rm", "-rf", str(folder)], check=False)


def _remove_journal(folder: Path) -> None:
    (folder / "journal.jsonl").unlink()


def _rename(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


@pytest.mark.parametrize("take", [_rename, nightly(_remove), nightly(_remove_journal)])
def test_a_folder_that_is_taken_away_during_a_run_is_one_error(bench: Bench, take: object) -> None:
    assert callable(take)
    experiment = bench.experiment(EXPERIMENT.format(exchanges=10, replicates=6))
    command = ("run", str(experiment), "--out", str(bench.campaign), "--no-probes", "--jobs", "1")
    process = bench.start(*command)
    until(lambda: finished(bench) >= 3, "three finished trials")
    take(bench.campaign)
    words = words_of(process)
    assert process.returncode == 1, words
    assert "was removed or renamed during the run" in words
    one_error(words)
    ended(bench)
    elsewhere = bench.campaign.with_name("elsewhere")
    if take is _rename:
        shutil.rmtree(bench.campaign, ignore_errors=True)
        elsewhere.rename(bench.campaign)
        before = finished(bench)
        status, _, words = bench.run(*command, timeout_s=int(3 * PATIENCE_S))
        assert status == 0, words
        assert before >= 3
        assert " reused" in words


@pytest.mark.parametrize("verb", ["run", nightly("report")])
def test_a_name_that_is_not_utf8_is_one_error(bench: Bench, verb: str) -> None:
    experiment = bench.experiment(EXPERIMENT.format(exchanges=2, replicates=1))
    out = os.fsdecode(bytes(bench.campaign) + b"\xff")
    arguments = ("run", str(experiment), "--out", out) if verb == "run" else ("report", out)
    status, printed, words = bench.run(*arguments)
    assert (status, printed) == (2, ""), words
    one_error(words)
    ended(bench)
