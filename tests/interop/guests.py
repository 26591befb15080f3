"""Guests of the virtual clock's kernel for tests, and the reason where none can be started."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from wirelab.clock.guest import Command, Hypervisor, memory_folder, run_command
from wirelab.clock.kernel import find_kernel, require_kernel
from wirelab.errors import WirelabError
from wirelab.launcher import launched


def missing() -> str | None:
    """What is not built; none if guests can be started."""
    return None if find_kernel() else f"the virtual clock's kernel is not built: {launched('clock build')}"


@cache
def cannot_boot(agent: Path) -> str | None:
    """Why a guest of the built kernel does not come up on this machine, in one line; none if it does."""
    try:
        ran = run_command(made_hypervisor(agent), Command(("true",)), [], 0, {})
    except WirelabError as error:
        return f"a guest cannot boot here: {' '.join(error.what.split())}"
    return None if ran.exit_code == 0 else f"`true` ends with {ran.exit_code} in a guest"


def made_hypervisor(agent: Path) -> Hypervisor:
    """What starts guests with this agent. Raises `WirelabError` with what is missing."""
    return Hypervisor(agent, require_kernel(), memory_folder())
