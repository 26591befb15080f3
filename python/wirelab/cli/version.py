"""What `--version` prints: the version, the commit that it was made of, and the agent that would measure."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from wirelab import __version__, agent
from wirelab.errors import WirelabError

COMMIT = "commit.txt"
"""In the data of an installed package: the commit that it was built from."""
DIGITS = 12
ROOT = Path(__file__).resolve().parents[3]


def version_lines() -> Iterator[str]:
    """`wirelab 0.1.0`, then the commit if it is known, and the agent."""
    yield f"wirelab {__version__}"
    if (commit := _commit()) is not None:
        yield f"commit  {commit}"
    try:
        found = agent.find_agent()
    except WirelabError as error:
        yield f"agent   none: {error.what}"
        return
    yield f"agent   SHA-256 {agent.digest(found)[:DIGITS]}"


def _commit() -> str | None:
    """Of this checkout, with a word if files differ from it; else that of the installed package."""
    if (ROOT / ".git").exists():
        return _of_checkout()
    kept = resources.files("wirelab.data") / COMMIT
    return kept.read_text(encoding="ascii").strip() if kept.is_file() else None


def _of_checkout() -> str | None:
    try:
        commit = _git("rev-parse", f"--short={DIGITS}", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{commit}, with changes" if changed else commit


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True, timeout=10
    )  # fmt: skip
    return done.stdout.strip()
