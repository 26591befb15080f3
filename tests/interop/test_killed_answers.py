"""`exact` and `explain` killed in mid-run: nothing is left behind, and the same command resumes."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.interop.test_faults import until, words_of
from tests.interop.test_virtual import kernels

from wirelab.clock.guest import memory_folder
from wirelab.schema.campaign import EntryStatus, read_journal

if TYPE_CHECKING:
    from conftest import Bench

pytestmark = pytest.mark.guest

KILLS = 3
EXACT = (
    "exact", "--protocols", "coap,http1", "--link", "20 ms", "--send", "30B", "--loss", "1 %", "--budget", "15 min",
    "--jobs", "2",
)  # fmt: skip
EXPLAIN = (
    "explain", "coap", "http1", "--link", "20 ms", "--set", "stop.replicates=3", "--set", "workload.exchanges=5",
    "--jobs", "2",
)  # fmt: skip


def lines(path: Path) -> list[str]:
    """The whole lines of a journal; a last one that was not finished does not count."""
    return path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []


def killed(bench: Bench, command: tuple[str, ...], journal: Path, pause_s: float) -> None:
    """Start it, and kill it while guests run, some time after it has finished one more run."""
    before, process = len(lines(journal)), bench.start(*command, "--out", str(bench.campaign))
    until(
        lambda: (len(lines(journal)) > before + 1 and kernels(bench.campaign)) or process.poll() is not None,
        "another run and a guest",
    )
    time.sleep(pause_s)
    assert process.poll() is None, "it ended before it could be killed"
    process.kill()
    words = words_of(process)
    assert process.returncode == -signal.SIGKILL, words
    until(lambda: not kernels(bench.campaign) and not bench.processes(), "the end of every guest")
    bench.assert_nothing_left()
    # Those of other tests' guests have an owner.
    folders = [each for each in memory_folder().iterdir() if each.name.startswith("wirelab-guest-")]
    assert [each for each in folders if not Path("/proc", each.name.rpartition("-")[2]).exists()] == []


def test_a_killed_exact_leaves_nothing_and_resumes_to_the_same_runs(bench: Bench) -> None:
    journal = bench.campaign / "patterns.jsonl"
    known: list[str] = []
    for nth in range(KILLS):
        killed(bench, EXACT, journal, 0.1 * nth)
        now = lines(journal)
        assert now[: len(known)] == known
        assert len(now) > len(known)
        known = now
    code, _, words = bench.run(*EXACT, "--out", str(bench.campaign), timeout_s=600)
    assert code == 0, words
    assert lines(journal)[: len(known)] == known
    bench.assert_nothing_left()
    whole = bench.campaign.with_name("whole")
    code, _, words = bench.run(*EXACT, "--out", str(whole), timeout_s=600)
    assert code == 0, words

    def runs(folder: Path) -> dict[tuple[str, str], str]:
        rows = [json.loads(line) for line in lines(folder / "patterns.jsonl")[1:]]
        return {(row["trial"], row["name"]): json.dumps(row, sort_keys=True) for row in rows}

    resumed, uninterrupted = runs(bench.campaign), runs(whole)
    common = resumed.keys() & uninterrupted.keys()
    assert len(common) > 20
    assert all(resumed[each] == uninterrupted[each] for each in common)


def test_a_killed_explain_leaves_nothing_and_resumes_to_the_same_shares(bench: Bench) -> None:
    journal = bench.campaign / "journal.jsonl"

    def done() -> set[str]:
        return {entry.trial for entry in read_journal(journal)[0] if entry.status is EntryStatus.DONE}

    known: set[str] = set()
    for nth in range(KILLS):
        killed(bench, EXPLAIN, journal, 0.1 * nth)
        assert known < done()
        known = done()
    code, _, words = bench.run(*EXPLAIN, "--out", str(bench.campaign), timeout_s=600)
    assert code == 0, words
    bench.assert_nothing_left()
    # No trial that had ended is run again.
    ends = [entry.trial for entry in read_journal(journal)[0] if entry.status is EntryStatus.DONE]
    assert len(ends) == len(set(ends))
    whole = bench.campaign.with_name("whole")
    code, _, words = bench.run(*EXPLAIN, "--out", str(whole), timeout_s=600)
    assert code == 0, words
    shares = [json.loads((folder / "explain.json").read_text())["shares"] for folder in (bench.campaign, whole)]
    assert shares[0] == shares[1]
