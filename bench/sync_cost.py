"""What it costs that records are on the disk before the journal says so: trials with and without fsync, in one run.

`python -m bench.sync_cost [FOLDER [PAIRS]]` runs a small campaign in FOLDER so many times each way, in turn.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wirelab.cli.arguments import load
from wirelab.plan import make_plan
from wirelab.runner.progress import Progress
from wirelab.runner.start import Options, run_plan
from wirelab.schema.plan import Plan

EXPERIMENT = """
title = "sync cost"
[factors]
protocol = ["http1"]
[link]
rtt = "2 ms"
[workload]
kind = "request-response"
upload = "30 B"
connection = "new"
exchanges = 10
[stop]
replicates = 10
"""
PAIRS = 30


class Quiet:
    """Watches nothing."""

    def update(self, progress: Progress) -> None:
        """Where the run stands."""

    def say(self, words: str) -> None:
        """What the user should know."""


@contextmanager
def syncs(*, real: bool) -> Iterator[list[float]]:
    """Seconds of each sync of this process, which does nothing if it is not real."""
    took: list[float] = []
    originals = os.fsync, os.fdatasync

    def timed(original: object) -> object:
        def sync(descriptor: int) -> None:
            began = time.perf_counter()
            if real:
                assert callable(original)
                original(descriptor)
            took.append(time.perf_counter() - began)

        return sync

    os.fsync, os.fdatasync = map(timed, originals)  # type: ignore[assignment]
    try:
        yield took
    finally:
        os.fsync, os.fdatasync = originals


def run(plan: Plan, folder: Path, *, real: bool) -> tuple[float, float, int]:
    """Milliseconds of a trial, those of its syncs among them, and syncs of a trial."""
    with syncs(real=real) as took:
        summary = run_plan(plan, folder, Options(jobs=1), None, Quiet())
    trials = summary.run + summary.discarded
    return 1e3 * summary.elapsed_s / trials, 1e3 * sum(took) / trials, len(took) // trials


def interval(pairs: NDArray[np.float64]) -> tuple[float, float, float]:
    """The ratio of medians of pairs, with a 95 % bootstrap interval over pairs."""
    drawn = np.random.default_rng(1).integers(len(pairs), size=(10_000, len(pairs)))
    ratios = np.median(pairs[drawn, 0], axis=1) / np.median(pairs[drawn, 1], axis=1)
    low, high = np.quantile(ratios, (0.025, 0.975))
    return float(np.median(pairs[:, 0]) / np.median(pairs[:, 1])), float(low), float(high)


def main() -> None:
    """Print medians, their ratio and the share of syncs."""
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    count = int(sys.argv[2]) if len(sys.argv) > 2 else PAIRS
    with tempfile.TemporaryDirectory(dir=where) as folder:
        file = Path(folder) / "sync.toml"
        file.write_text(EXPERIMENT, encoding="utf-8")
        plan = make_plan(load(str(file), []))
        rows = []
        for number in range(count):
            order = (True, False) if number % 2 else (False, True)
            found = {real: run(plan, Path(folder) / f"{number}-{real}", real=real) for real in order}
            rows.append((found[True][0], found[False][0], found[True][1], found[True][2]))
    table = np.array(rows)
    ratio, low, high = interval(table[:, :2])
    synced, plain, in_sync, number_of = np.median(table, axis=0)
    print(f"n = {count} pairs of 10 trials each, one at a time")
    print(
        f"trial with sync {synced:.1f} ms, without {plain:.1f} ms, ratio of medians {ratio:.3f} [{low:.3f}, {high:.3f}]"
    )
    print(f"{number_of:.0f} syncs a trial take {in_sync:.2f} ms, {in_sync / synced:.1%} of it")


if __name__ == "__main__":
    main()
