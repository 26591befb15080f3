"""How long does `wirelab --help` take, installed?"""

from __future__ import annotations

import shutil
import statistics
import sysconfig
import time

from bench.process import run
from bench.results import Answer
from bench.setup import Setup

RUNS = 11
_TIMEOUT_S = 30.0


def answer(setup: Setup) -> Answer:
    """After one run that does not count."""
    found = Answer("startup", "`wirelab --help`, seconds", ("minimum", "median", "maximum", "runs"))
    command = shutil.which("wirelab", path=sysconfig.get_path("scripts"))
    if command is None:
        found.notes.append("wirelab is not installed beside this Python")
        return found
    seconds = []
    with setup.place(setup.users[0]) as place:
        for _ in range(RUNS + 1):
            start = time.perf_counter()
            run([command, "--help"], place, _TIMEOUT_S)
            seconds.append(time.perf_counter() - start)
    counted = seconds[1:]
    found.rows.append((min(counted), statistics.median(counted), max(counted), RUNS))
    return found
