"""`bench/run`: asks every question, prints a table for each, and keeps the figures."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from bench import build, results
from bench.machine import machine, words
from bench.process import FailedError
from bench.questions import QUESTIONS
from bench.results import Answer, Target
from bench.setup import Setup, make_setup

INTERRUPTED = 130


def main() -> int:
    """0 whatever the figures are."""
    signal.signal(signal.SIGTERM, _stop)
    arguments = _arguments()
    facts = machine()
    print(words(facts), flush=True)
    folder = arguments.out or Path("results") / "bench" / datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    answers: list[Answer] = []
    code = 0
    try:
        agent, instruments = _program("WIRELAB_AGENT", build.agent), _program("WIRELAB_BENCH", build.instruments)
        with make_setup(agent, instruments, quick=arguments.quick) as setup:
            for line in setup.absent:
                print(f"not here: {line}", flush=True)
            for name in arguments.questions or QUESTIONS:
                answers.append(_ask(name, setup))
                print(f"\n{answers[-1].text()}", flush=True)
    except KeyboardInterrupt:
        print("\ninterrupted; what was measured before is kept", flush=True)
        code = INTERRUPTED
    except subprocess.CalledProcessError as error:
        print(f"bench: {shlex.join(error.cmd)} failed", file=sys.stderr)
        return 1
    results.write(folder, {**facts, "quick": arguments.quick}, answers)
    print(f"\n{results.summary(answers)}\nfigures: {folder}")
    return code


def _program(variable: str, make: Callable[[], Path]) -> Path:
    """The program that a variable names, or else a new build."""
    return Path(named).resolve() if (named := os.environ.get(variable)) else make()


def _ask(name: str, setup: Setup) -> Answer:
    began = time.monotonic()
    try:
        answer = QUESTIONS[name](setup)
    except Exception as error:
        # Whatever it is, the other questions are worth their answers.
        why = str(error) if isinstance(error, FailedError) else repr(error)
        # Its targets are not known now: one stands for them, so that they are not taken for met.
        unknown = Target(f"{name}: all of its targets", "", None, ">=", 1)
        answer = Answer(name, name, (), targets=[unknown], notes=[f"not answered: {why}"])
    answer.seconds = time.monotonic() - began
    return answer


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run", description="Wirelab's link beside plain veth and other emulators."
    )
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help=f"{', '.join(QUESTIONS)}; all without any")
    parser.add_argument("--out", type=Path, help="folder for the figures [results/bench/TIME]")
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the work: to see that it works, not what it gives"
    )
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.questions if name not in QUESTIONS]:
        parser.error(f"no such question: {unknown[0]} (there are {', '.join(QUESTIONS)})")
    return arguments


def _stop(_signal: int, _frame: FrameType | None) -> None:
    """End a terminated bench as Ctrl-C does."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    raise SystemExit(main())
