"""`python -m tests.scale FOLDER [PART...]`: time and memory of planning, measuring, analyzing, reporting and merging.

FOLDER must not be there. It keeps what was made, some 4 GB, until it is deleted.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.scale.made import Small, add, begin, make, small_variants

from wirelab.cli.arguments import load
from wirelab.plan import make_plan
from wirelab.runner.shards import Shard
from wirelab.schema.campaign import read_plan

EXPERIMENT = """\
title = "A large experiment"
metric = "end-to-end-delay"
clock = "virtual"

[factors]
protocol = ["http1", "coap"]
"link.rtt" = [{rtts}]

[workload]
kind = "telemetry"
message = "30 B"
exchanges = {exchanges}

[stop]
replicates = {replicates}
"""
TRIALS = 100_000
EXCHANGES, OF_A_TRIAL = 10_000_000, 10_000
SCENARIOS = 1_000
SHARDS = 1_000
GIB = 2**30


@dataclass(frozen=True)
class Took:
    """What a command took."""

    seconds: float
    bytes: int
    """Its largest resident set."""


@dataclass(frozen=True)
class Line:
    """A line of the table: what was measured and what it may be, each in words, and whether it is."""

    what: str
    found: str
    most: str
    reached: bool


def took(*words: str) -> Took:
    """Run Wirelab. Raises `RuntimeError` if it fails."""
    began = time.monotonic()
    command = [sys.executable, "-m", "wirelab", *words]
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(command[0], command, os.environ, file_actions=silent)
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"failed: {' '.join(words)}")
    return Took(time.monotonic() - began, usage.ru_maxrss * 1024)


def _experiment(folder: Path, name: str, *, scenarios: int, exchanges: int, replicates: int) -> Path:
    path = folder / f"{name}.toml"
    rtts = ", ".join(f'"{20 + number / 10} ms"' for number in range(scenarios // 2))
    path.write_text(EXPERIMENT.format(rtts=rtts, exchanges=exchanges, replicates=replicates))
    return path


def _plan(folder: Path, _: Small) -> list[Line]:
    file = _experiment(folder, "plan", scenarios=10, exchanges=10, replicates=TRIALS // 10)
    began = time.monotonic()
    plan = make_plan(load(str(file), ()))
    text = f"{plan.trials:,} trials planned"
    seconds = time.monotonic() - began
    command = took("plan", str(file))
    return [
        Line(text, f"{seconds:.1f} s", "10 s", seconds < 10),
        Line(f"`plan` of {plan.trials:,} trials", f"{command.seconds:.1f} s", "10 s", command.seconds < 10),
    ]


def _analyze(folder: Path, small: Small) -> list[Line]:
    replicates = EXCHANGES // OF_A_TRIAL // 10
    file = _experiment(folder, "many", scenarios=10, exchanges=OF_A_TRIAL, replicates=replicates)
    make(small, file, folder / "many", OF_A_TRIAL)
    steps = [took(verb, str(folder / "many")) for verb in ("measure", "analyze")]
    each, seconds = (f"{step.seconds:.0f} s" for step in steps), sum(step.seconds for step in steps)
    memory = max(step.bytes for step in steps)
    return [
        Line(f"{EXCHANGES:,} exchanges measured and analyzed", " and ".join(each), "60 s together", seconds < 60),
        Line("their memory", f"{memory / GIB:.1f} GiB", "4 GiB", memory < 4 * GIB),
    ]


def _report(folder: Path, small: Small) -> list[Line]:
    file = _experiment(folder, "wide", scenarios=SCENARIOS, exchanges=10, replicates=3)
    campaign = folder / "wide"
    make(small, file, campaign, 10)
    took("measure", str(campaign))
    took("analyze", str(campaign))
    reported = took("report", str(campaign))
    size = (campaign / "report.html").stat().st_size / 1e6
    return [
        Line(f"report of {SCENARIOS:,} scenarios", f"{reported.seconds:.1f} s", "20 s", reported.seconds < 20),
        Line("its size", f"{size:.1f} MB", "10 MB", size < 10),
    ]


def _merge(folder: Path, small: Small) -> list[Line]:
    file = _experiment(folder, "parted", scenarios=10, exchanges=10, replicates=SHARDS // 5)
    plan = make_plan(load(str(file), ()))
    variants = small_variants(small, folder / "parts", 10)
    parts = []
    for number in range(1, SHARDS + 1):
        parts.append(folder / "parts" / f"{number:04d}")
        begin(small, file, plan, parts[-1])
        add(small, plan, parts[-1], variants, Shard(number, SHARDS).trials(plan))
    merged = took("merge", *map(str, parts), "--out", str(folder / "merged"))
    assert read_plan(folder / "merged").trials == plan.trials
    return [Line(f"{SHARDS:,} shards merged", f"{merged.seconds:.1f} s", "60 s", merged.seconds < 60)]


PARTS: Mapping[str, Callable[[Path, Small], list[Line]]] = {
    "plan": _plan, "analyze": _analyze, "report": _report, "merge": _merge,
}  # fmt: skip


def shown(line: Line) -> str:
    """In words."""
    return f"{line.what}: {line.found} (at most {line.most}){'' if line.reached else ', missed'}"


def main(arguments: Sequence[str]) -> int:
    """The number of lines that are not reached."""
    folder, names = Path(arguments[0]), arguments[1:] or [*PARTS]
    folder.mkdir(parents=True)
    file = _experiment(folder, "small", scenarios=2, exchanges=100, replicates=1)
    took("run", str(file), "--out", str(folder / "small"))
    small = Small.read(folder / "small")
    lines = [line for name in names for line in PARTS[name](folder, small)]
    for line in lines:
        print(shown(line))
    return sum(not line.reached for line in lines)


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1:])))
