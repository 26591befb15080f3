"""`python -m tests.sampling FOLDER [TRIALS] [SEEDS] [PROTOCOLS]`: enumerates, samples, compares, and prints a table.

The same command continues: both the enumeration and each sample are folders of FOLDER that Wirelab resumes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
from tests.sampling.compared import Compared, compared, faults

from wirelab.schema.exact import EXACT, Exact, read_exact
from wirelab.stats.dataset import Dataset

PROTOCOLS = "coap,http1,h2,h3"
LOSSES = {"1 %": "0.1 %", "2 %": "0.15 %", "5 %": "0.25 %"}
"""With how far apart the bounds may be: less than a third of the interval of 20,000 exchanges."""
TRIALS, SEEDS, EXCHANGES = 200, 5, 100
"""Trials of so many exchanges, for each of so many seeds."""
LINK = ("--link", "20 ms")
BUDGET = "30 min"


def main(arguments: list[str]) -> int:
    """The number of faults."""
    folder, trials, seeds, protocols = _read(arguments)
    record = _enumerated(folder / "exact", protocols)
    found = [each for seed in range(1, seeds + 1) for each in _sampled(folder, seed, trials, protocols, record)]
    for each in found:
        low, high = (100 * end for end in each.bounds)
        first, last = (100 * end for end in each.interval)
        print(
            f"{each.what}: {low:.3f} to {high:.3f} %, sample {first:.2f} to {last:.2f} % of {each.exchanges:,}, width "
            f"{each.width:.2f}, {'inside' if each.inside else 'outside'}"
        )
    wrong = faults(found)
    widest, inside = max(each.width for each in found), sum(each.inside for each in found)
    print(f"{len(found)} comparisons, {inside} inside; bounds are at most {widest:.2f} of the interval")
    print("\n".join(wrong), file=sys.stderr)
    return len(wrong)


def _read(arguments: list[str]) -> tuple[Path, int, int, str]:
    defaults = [str(TRIALS), str(SEEDS), PROTOCOLS]
    folder, trials, seeds, protocols = [*arguments, *defaults[len(arguments) - 1 :]]
    return Path(folder), int(trials), int(seeds), protocols


def _enumerated(folder: Path, protocols: str) -> Exact:
    losses = [word for loss, within in LOSSES.items() for word in ("--loss", f"{loss} within {within}")]
    options = ("--beyond", "200 ms, 1 s", "--budget", BUDGET)
    _wirelab("exact", "--protocols", protocols, *LINK, "--send", "30B", *losses, *options, "--out", str(folder))
    return read_exact(folder / EXACT)


def _sampled(folder: Path, seed: int, trials: int, protocols: str, record: Exact) -> list[Compared]:
    """One sample: a campaign of every protocol at every loss."""
    made = folder / f"sample-{seed}"
    sets = {
        "protocol": protocols, "link.rtt": LINK[1], "link.loss": ",".join(LOSSES), "workload.message": "30 B",
        "workload.exchanges": EXCHANGES, "stop.replicates": trials,
    }  # fmt: skip
    given = [word for key, value in sets.items() for word in ("--set", f"{key}={value}")]
    _wirelab("run", "message", *given, "--seed", str(seed), "--no-probes", "--out", str(made))
    dataset = Dataset.read(made)
    return [
        each
        for scenario in dataset.plan.scenarios
        for each in compared(
            record, str(scenario.levels["link.loss"]), scenario.protocol,
            dataset.exchanges.filter(pl.col("scenario") == scenario.key),
        )
    ]  # fmt: skip


def _wirelab(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "wirelab", *arguments], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
