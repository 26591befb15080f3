"""The pages of `docs/answers/`: questions that users asked in public, each with a command and the table of its results.

`python -m scripts.answers [PAGE...]` runs the command that stands on each page, or on those that are named, and writes
its table there, as `make answers` does. All other text of a page is written by hand.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from scripts.answers.tables import replayed, runs_on, table_of

from wirelab.errors import WirelabError

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "answers"
INDEX = "README.md"
BEGIN, END = "<!-- table: written by make answers -->", "<!-- end -->"
_COMMAND = re.compile(r"^```\n(wirelab .*?)\n```$", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(f"{re.escape(BEGIN)}\n.*?{re.escape(END)}", re.DOTALL)
_DIGEST = re.compile(r"^Digest +([0-9a-f]{64})$", re.MULTILINE)
_LINK = re.compile(r"^link +(.+)$", re.MULTILINE)


def pages() -> list[Path]:
    """Every page but the index."""
    return sorted(path for path in FOLDER.glob("*.md") if path.name != INDEX)


def arguments(page: str) -> list[str]:
    """The arguments of `wirelab` in the first block of code that is a call of it; a backslash continues a line."""
    found = _COMMAND.search(page)
    if found is None:
        raise WirelabError("a page without a command", hint="write it as a block of code that begins with 'wirelab '")
    return shlex.split(found[1].replace("\\\n", " "))[1:]


def written(page: str, results: Path) -> str:
    """The page with the table of its command, which runs with `results` as the folder of its results."""
    given = arguments(page)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "wirelab", *given, "--out", str(results)], capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - began
    if done.returncode:
        raise WirelabError(f"{shlex.join(['wirelab', *given])}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return with_table(page, f"{table_of(given[0], results)}\n\n{_ran(done, results, seconds)}")


def with_table(page: str, block: str) -> str:
    """The page with this text between its markers."""
    if len(_BLOCK.findall(page)) != 1:
        raise WirelabError(f"a page needs one block from '{BEGIN}' to '{END}'")
    return _BLOCK.sub(lambda _: f"{BEGIN}\n{block}\n{END}", page)


def _ran(done: subprocess.CompletedProcess[str], results: Path, seconds: float) -> str:
    """When, by what and for how long it ran, and what the output says of its link and its records."""
    now = datetime.now(UTC)
    lines = [
        f"Written on {now.day} {now:%B %Y} by {runs_on(results)}.",
        f"The command took {seconds:.0f} s on {os.cpu_count()} CPUs.",
    ]
    if link := _LINK.search(done.stdout):
        lines.append(f"Link: `{' '.join(link[1].split())}`.")
    if (results / "estimates.json").exists():
        lines.append(replayed(results))
    if digest := _DIGEST.search(done.stderr):
        lines.append(f"Digest of the records: `{digest[1]}`.")
    return "\n".join(lines)
