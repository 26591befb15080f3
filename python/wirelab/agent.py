"""The data plane's one binary: where it is, and what it is asked outside a campaign."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path

from wirelab.errors import RunError, WirelabError

NAME = "wirelab-agent"
VARIABLE = "WIRELAB_AGENT"


def find_agent() -> Path:
    """The agent: `WIRELAB_AGENT`, then next to this Python, then the checkout's release build, then PATH."""
    if named := os.environ.get(VARIABLE):
        path = Path(named)
        if not os.access(path, os.X_OK):
            raise RunError(f"{VARIABLE} is '{named}', which is not an executable file", hint=f"unset {VARIABLE}")
        return path.resolve()
    for candidate in _candidates():
        if os.access(candidate, os.X_OK):
            return candidate.resolve()
    raise RunError(
        f"no {NAME} next to {sys.executable}, in a checkout or on PATH",
        hint="in a checkout: cargo build --release; otherwise install the wheel for this platform",
    )


def digest(agent: Path) -> str:
    """SHA-256 of the binary: results of another build are other results."""
    with agent.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def ask(  # noqa: PLR0913 (what runs it, and what it is given)
    agent: Path,
    arguments: Sequence[str],
    allowed: frozenset[int] = frozenset({0}),
    timeout_s: float | None = None,
    heard: Callable[[str], None] | None = None,
    *,
    files: Sequence[str] = (),
) -> str:
    """What the agent prints on stdout for these arguments and files; any exit code that is not allowed is an error:
    one of its input, if it was given files.

    `heard` gets its words for people, if it has any though it did what it was asked for.
    """
    command = [str(agent), *arguments, *(["--", *files] if files else [])]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise RunError(f"{NAME} {arguments[0]} did not end within {timeout_s:g} s") from None
    if done.returncode not in allowed:
        words = done.stderr.decode(errors="replace").strip() or f"exit code {done.returncode}"
        raise (WirelabError if files else RunError)(f"{NAME} {arguments[0]}: {words.removeprefix('error: ')}")
    if heard is not None and done.stderr:
        heard(done.stderr.decode(errors="replace").strip())
    return done.stdout.decode()


def _candidates() -> list[Path]:
    checkout = Path(__file__).resolve().parents[2]
    target = Path(os.environ.get("CARGO_TARGET_DIR", checkout / "target"))
    on_path = shutil.which(NAME)
    return [
        Path(sysconfig.get_path("scripts")) / NAME,
        Path(sys.executable).parent / NAME,
        target / "release" / NAME,
        *([Path(on_path)] if on_path else []),
    ]
