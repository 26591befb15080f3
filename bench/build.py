"""What the bench measures, built as it is shipped, and what it measures with."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def agent() -> Path:
    """The agent, in its release build."""
    _cargo("--package", "wirelab-agent")
    return _release() / "wirelab-agent"


def instruments() -> Path:
    """The bench's own program, in its release build."""
    _cargo("--package", "wirelab-bench")
    return _release() / "wirelab-bench"


def example(name: str) -> Path:
    """An example of the link emulator, in its release build."""
    _cargo("--package", "wirelab-link", "--example", name)
    return _release() / "examples" / name


def compiler() -> str:
    """Its version and what it builds for: another one makes other instructions."""
    words = subprocess.run(["rustc", "-vV"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    host = next(line.removeprefix("host: ") for line in words if line.startswith("host: "))
    return f"{words[0]}, {host}"


def target() -> Path:
    """Where cargo puts what it builds."""
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()


def _release() -> Path:
    return target() / "release"


def _cargo(*arguments: str) -> None:
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", *arguments], cwd=ROOT, check=True)
