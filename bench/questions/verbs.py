"""How much CPU time do the verbs take that start nothing? Measures no run.

`python -m bench.questions.verbs` asks it alone.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

from bench.results import Answer, Target
from bench.setup import Setup

RUNS = 10
TARGET_S = 0.5
VERBS = (
    "check quickstart", "check fischer2021", "plan quickstart", "plan milosevic2021", "plan h2window2017", "list",
    "list protocols", "list links", "list metrics", "list pages", "describe protocol h2", "describe link nb-iot",
    "describe page h2window2017", "describe metric goodput", "describe experiment fischer2021",
    "describe radio nrf9160-nbiot", "describe implementation nginx",
)  # fmt: skip


def answer(_setup: Setup | None = None) -> Answer:
    """User and system time of the whole process, after a run that does not count: it writes the bytecode."""
    found = Answer("verbs", "verbs that start nothing, CPU seconds", ("verb", "minimum", "median", "maximum", "runs"))
    for verb in VERBS:
        seconds = [_cpu_s(verb.split()) for _ in range(RUNS + 1)][1:]
        found.rows.append((verb, min(seconds), statistics.median(seconds), max(seconds), RUNS))
        found.targets.append(Target(verb, "s", statistics.median(seconds), "<=", TARGET_S))
    return found


def _cpu_s(arguments: list[str]) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [sys.executable, "-m", "wirelab", *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
    )  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    print(answer().text())
