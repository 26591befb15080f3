"""The machine that a bench ran on, and whether it was quiet."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

QUIET_LOAD = 0.2
"""Load average over the last minute, for each CPU, below which a machine counts as quiet."""


def machine() -> dict[str, Any]:
    """Taken before anything is started."""
    load = os.getloadavg()[0]
    cpus = len(os.sched_getaffinity(0))
    return {
        "cpu": _cpu(),
        "cpus": cpus,
        "kernel": platform.release(),
        "virtual": "hypervisor" in _cpuinfo("flags").split(),
        "clock_source": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "load_before": round(load, 2),
        "quiet": load <= QUIET_LOAD * cpus,
        "root": os.geteuid() == 0,
    }


def words(facts: dict[str, Any]) -> str:
    """One line for people."""
    kind = "virtual machine, " if facts["virtual"] else ""
    quiet = "quiet" if facts["quiet"] else "NOT QUIET: figures of time say little"
    user = "root" if facts["root"] else "no root: nothing with SCHED_FIFO is measured"
    return (
        f"{facts['cpu']}, {facts['cpus']} CPUs, {kind}Linux {facts['kernel']}, clock {facts['clock_source']}, "
        f"load before {facts['load_before']} ({quiet}), {user}"
    )


def _cpu() -> str:
    return _cpuinfo("model name") or platform.machine()


def _cpuinfo(key: str) -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""
