"""Names of TCP's congestion controls: those of Linux, and what else this machine's kernel offers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wirelab.errors import did_you_mean
from wirelab.units import UnitError

OF_LINUX = (
    "bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "reno", "scalable",
    "vegas", "veno", "westwood", "yeah",
)  # fmt: skip
"""`net/ipv4/Kconfig` of Linux 6.18. A module that is not loaded yet is not in the kernel's list."""
_OFFERED = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def congestion_controls() -> Sequence[str]:
    """Every name that an experiment may use."""
    try:
        offered = _OFFERED.read_text("ascii").split()
    except (OSError, ValueError):
        offered = []
    return sorted({*OF_LINUX, *offered})


def read_congestion_control(name: str) -> str:
    """The name of a congestion control."""
    if name not in (known := congestion_controls()):
        raise UnitError("is not a congestion control of Linux", hint=did_you_mean(name, known))
    return name
