"""Wireshark's own dissectors, asked by its command line."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from wirelab.runner.implementations import find_program


def tshark(capture: Path, query: str, *fields: str) -> list[tuple[str, ...]]:
    """The fields of each packet for which a display filter holds."""
    program = find_program("tshark")
    assert program is not None
    # Checksums are looked at, and a home of its own keeps the user's settings away. Wireshark does not know UDP port
    # 8443 and goes by the other end's, which may be another protocol's (17756 is IEEE 802.15.4's).
    done = subprocess.run(
        [program, "-r", str(capture), "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
         "-d", "udp.port==8443,quic", "-Y", query,
         "-T", "fields", *(word for field in fields for word in ("-e", field))],
        capture_output=True, text=True, check=True, env={"HOME": str(capture.parent), "PATH": os.defpath},
    )  # fmt: skip
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]
