"""A run as it goes."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from wirelab.cli.progress import LiveProgress, bar, fitted, words
from wirelab.runner.progress import Progress, jobs_words


def calm() -> None:
    """Nobody interrupts."""


def at(over: int, elapsed_s: float, **given: int) -> Progress:
    fields = {"total": 100, "reused": 0, "failed": 0, "running": 4, "jobs": 4, "discarded": 0} | given
    return Progress(over=over, elapsed_s=elapsed_s, **fields)


def test_progress_shows_trials_jobs_failures_rate_and_time_left() -> None:
    assert words(at(50, 25.0)) == "50/100  4 at a time  0 failed  2.0 trials/s  about 25 s left"


def test_progress_leaves_out_unknown_and_zero_values() -> None:
    assert words(at(0, 3.0, jobs=1)) == "0/100  1 at a time  0 failed"
    assert words(at(100, 50.0, failed=2, discarded=8)) == "100/100  4 at a time  2 failed  8 repeated  2.0 trials/s"


def test_reused_trials_do_not_count_for_the_rate() -> None:
    assert words(at(60, 10.0, reused=40)) == "60/100  4 at a time  0 failed  40 reused  2.0 trials/s  about 20 s left"


def test_the_bar_is_full_at_the_end() -> None:
    assert bar(0.0) == f"[{'-' * 24}]"
    assert bar(0.5) == f"[{'#' * 12}{'-' * 12}]"
    assert bar(1.0) == f"[{'#' * 24}]"


def test_without_a_terminal_there_is_a_line_every_ten_seconds_and_one_at_the_end() -> None:
    out = io.StringIO()
    with LiveProgress(Console(file=out, width=100), calm) as progress:
        for second in range(26):
            progress.update(at(second, float(second)))
        progress.say("block 1: late")
    lines = out.getvalue().splitlines()
    assert [line.split("  ")[0] for line in lines] == ["0/100", "10/100", "20/100", "block 1: late", "25/100"]


def test_on_a_terminal_one_line_is_redrawn() -> None:
    out = io.StringIO()
    with LiveProgress(Console(file=out, width=100, force_terminal=True), calm) as progress:
        progress.update(at(50, 25.0))
        progress.update(at(100, 50.0))
    assert "[########################] 100/100" in out.getvalue()
    assert "\x1b[" in out.getvalue()


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 120])
def test_a_line_is_no_longer_than_its_terminal(columns: int) -> None:
    out = io.StringIO()
    console = Console(file=out, width=columns, force_terminal=True, color_system=None)
    with LiveProgress(console, calm) as progress:
        progress.update(at(50, 125.0, jobs=16, reused=12, discarded=8, failed=3))
    drawn = [line for line in re.split(r"\x1b\[[?0-9]*[A-Za-z]|[\r\n]", out.getvalue()) if line]
    assert drawn
    assert all(len(line) <= columns for line in drawn)
    assert drawn[0].startswith("50/100" if columns <= 80 else "[###")


def test_the_bar_shrinks_for_the_text() -> None:
    assert str(fitted(0.5, "34/160  16 at a time", 33)) == "[#####-----] 34/160  16 at a time"
    assert str(fitted(0.5, "34/160  16 at a time", 20)) == "34/160  16 at a time"


def test_one_job_is_not_mentioned() -> None:
    assert [jobs_words(jobs) for jobs in (1, 2)] == ["1 trial at a time", "2 trials at a time"]
