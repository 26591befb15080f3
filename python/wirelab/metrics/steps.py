"""Which command a campaign needs next: printed wherever a step finds that the one before it was not done."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from wirelab.launcher import launched
from wirelab.schema.campaign import PLAN
from wirelab.schema.exact import EXACT, PATTERNS
from wirelab.schema.record import FACTS

DATASET = ("exchanges.parquet", "trials.parquet")
ESTIMATES = "estimates.json"
_ANEW = "--fresh"
"""The option that would archive the campaign if the command were repeated."""


def next_command(campaign: Path) -> str:
    """The command that comes next: the run itself as long as it did not end."""
    folder = shlex.quote(str(campaign))
    if (campaign / EXACT).exists():
        return launched(f"show {folder} --cost")
    if not _ended(campaign):
        return run_again(campaign)
    if not all((campaign / name).exists() for name in DATASET):
        return launched(f"measure {folder}")
    return launched(f"{'report' if (campaign / ESTIMATES).exists() else 'analyze'} {folder}")


def run_again(campaign: Path) -> str:
    """The command that continues a stopped campaign: that of its last run."""
    words = _read(campaign / FACTS, "command")
    if isinstance(words, list) and words[1:2] in (["run"], ["explain"]):
        return launched(" ".join(_quoted(str(word)) for word in words[1:] if word != _ANEW))
    file, name = (str(_read(campaign / PLAN, "experiment", key) or "FILE") for key in ("file", "name"))
    verb = "exact" if (campaign / PATTERNS).exists() else "run"
    return launched(f"{verb} {_quoted(file if Path(file).exists() else name)} --out {_quoted(str(campaign))}")


def _ended(campaign: Path) -> bool:
    return bool(_read(campaign / FACTS, "runs", -1, "ended"))


def _read(path: Path, *keys: str | int) -> Any:
    """The value at some keys; None where the file, which may be damaged, has none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        for key in keys:
            value = value[key]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return value


def _quoted(word: str) -> str:
    """A word for a shell, which still knows the home folder."""
    return f"~/{shlex.quote(word[2:])}" if word.startswith("~/") else shlex.quote(word)
