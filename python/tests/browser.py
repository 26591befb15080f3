"""Headless Chromium, for tests that carry the mark `chromium`, with the flags of the endpoint that drives it."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path
from types import ModuleType

import pytest


def shipped(name: str) -> ModuleType:
    """A module next to the shipped scripts, without leaving compiled files there."""
    before = sys.dont_write_bytecode
    folder = str(resources.files("wirelab.data").joinpath("clients"))
    sys.path.append(folder)
    sys.dont_write_bytecode = True
    try:
        return importlib.import_module(name)
    finally:
        sys.dont_write_bytecode = before
        sys.path.remove(folder)


_PROCESS = shipped("chromium_process")
CHROMIUM: str | None = _PROCESS.find_chromium()
FLAGS: tuple[str, ...] = (*_PROCESS.FLAGS, "--enable-logging=stderr")


def require() -> None:
    """Skip where there is none, unless everything is required."""
    if CHROMIUM is None:
        assert not os.environ.get("WIRELAB_REQUIRE_ALL"), f"chromium is required: {_PROCESS.HINT}"
        pytest.skip(f"no chromium: {_PROCESS.HINT}")


def browse(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One visit with a fresh profile in the folder."""
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder / 'profile'}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
