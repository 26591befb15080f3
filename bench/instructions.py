"""Instructions per packet of each impairment, counted by valgrind: the same on a quiet machine and on a busy one.

    bench/instructions            counts, and compares with the snapshot
    bench/instructions --update   counts, and makes that the snapshot

A count belongs to a compiler, a processor's features and a C library: under others the differences are shown and
nothing is said of them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.build import compiler, example
from bench.results import Cell, table

SNAPSHOT = Path(__file__).with_suffix(".json")
TOLERANCE = 0.02
FEW, MANY = 1000, 5000
"""Packets of the two runs whose difference is divided: what starting takes drops out."""
_TIMEOUT_S = 120.0
_COLLECTED = re.compile(r"Collected : (\d+)")
_CPU_FEATURES = ("sse2", "ssse3", "sse4_2", "avx", "avx2", "bmi2", "asimd")


@dataclass(frozen=True)
class Counts:
    """Instructions per packet, and what they belong to."""

    compiler: str
    cpu_features: str
    """Of those that code may choose by; a generator of random numbers does."""
    instructions_per_packet: dict[str, float]

    def comparable(self, other: Counts) -> bool:
        """True if the same code should make the same counts."""
        return (self.compiler, self.cpu_features) == (other.compiler, other.cpu_features)


def missing() -> str | None:
    """What is not installed; none if counting is possible."""
    return None if shutil.which("valgrind") else "valgrind is not installed: apt install valgrind"


def count() -> Counts:
    """Count every impairment."""
    program = example("instructions")
    names = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    runs = [(name, packets) for name in names for packets in (FEW, MANY)]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        totals = dict(zip(runs, pool.map(lambda run: _instructions(program, *run), runs), strict=True))
    per_packet = {name: round((totals[name, MANY] - totals[name, FEW]) / (MANY - FEW), 1) for name in names}
    return Counts(compiler(), _cpu_features(), per_packet)


def snapshot() -> Counts:
    """What is checked in."""
    return Counts(**json.loads(SNAPSHOT.read_text(encoding="utf-8")))


def changes(counted: Counts, kept: Counts) -> dict[str, float]:
    """By how much each count differs from the snapshot, as a share of it; infinite for what is not there any more."""
    new, old = counted.instructions_per_packet, kept.instructions_per_packet
    return {name: new[name] / old[name] - 1 if name in new else float("inf") for name in old}


def beyond_tolerance(counted: Counts, kept: Counts) -> dict[str, float]:
    """Those changes that are no noise: valgrind's own is far below."""
    return {name: change for name, change in changes(counted, kept).items() if abs(change) > TOLERANCE}


def rows(counted: Counts, kept: Counts | None) -> list[tuple[Cell, ...]]:
    """For a table: impairment, count, in the snapshot, change in percent."""
    change = {} if kept is None else changes(counted, kept)
    old = {} if kept is None else kept.instructions_per_packet
    return [
        (name, number, old.get(name), 100 * change[name] if name in old else None)
        for name, number in counted.instructions_per_packet.items()
    ]


COLUMNS = ("impairment", "instructions/packet", "snapshot", "change/%")


def main() -> int:
    """`bench/instructions`."""
    arguments = argparse.ArgumentParser(description="Instructions per packet of each impairment, by valgrind.")
    arguments.add_argument("--update", action="store_true", help="make what is counted the snapshot")
    update = arguments.parse_args().update
    if (why := missing()) is not None:
        print(why, file=sys.stderr)
        return 1
    kept = snapshot() if SNAPSHOT.exists() else None
    counted = count()
    print(f"{counted.compiler}; {counted.cpu_features}")
    print(table(COLUMNS, rows(counted, kept)))
    if update:
        SNAPSHOT.write_text(json.dumps(asdict(counted), indent=1) + "\n", encoding="utf-8")
    elif kept is not None and not counted.comparable(kept):
        print(f"the snapshot belongs to {kept.compiler}; {kept.cpu_features}")
    elif kept is None or beyond_tolerance(counted, kept):
        print(
            f"beyond the tolerance of {TOLERANCE:.0%}: bench/instructions --update, if that was meant", file=sys.stderr
        )
        return 1
    return 0


def _instructions(program: Path, name: str, packets: int) -> int:
    words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program), name, str(packets)]
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=_TIMEOUT_S)
    found = _COLLECTED.search(done.stderr)
    assert found is not None, done.stderr
    return int(found[1])


def _cpu_features() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in {"flags", "Features"}:
            present = value.split()
            return " ".join(name for name in _CPU_FEATURES if name in present)
    return ""


if __name__ == "__main__":
    raise SystemExit(main())
