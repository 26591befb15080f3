"""rattan (https://github.com/protocol-rs/rattan): user space, AF_PACKET on veth, as Wirelab's own link.

`rattan link` runs a command behind the path; its other end is where rattan was started, and so is the server here.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from bench.peers.base import CONGESTION_CONTROL, Ends, Stages, play_in_namespaces, shell
from bench.process import Place, User

VERSION = "0.1.1"


class Rattan:
    """`rattan link`."""

    name = "rattan"

    def missing(self) -> str | None:
        """It is installed by cargo."""
        return None if self._program() is not None else f"cargo install --locked rattan@{VERSION}"

    def refuses(self, stages: Stages, user: User) -> str | None:  # noqa: ARG002
        """It names its namespaces, which only root may."""
        return None if user.is_root else "rattan needs root"

    def configured_ms(self, stages: Stages, ip_bytes: int) -> float:
        """Its rate counts IP bytes."""
        return stages.configured_ms(ip_bytes)

    def play(self, stages: Stages, ends: Ends, place: Place) -> str:
        """Run both ends."""
        words = [str(self._program()), "link", "--packet-log", str(place.folder / "rattan.log")]
        words += ["--uplink-delay", f"{round(1000 * stages.delay_ms)}us"]
        if stages.rate_bps is not None:
            words += ["--uplink-bandwidth", f"{stages.rate_bps}bps"]
        if stages.loss:
            words += ["--uplink-loss", f"{stages.loss:g}"]
        # Its namespaces begin with the machine's congestion control; the others have this one.
        pin = f"echo {CONGESTION_CONTROL} > /proc/sys/net/ipv4/tcp_congestion_control"
        inner = f"{pin} && exec {shell(ends.client, '$RATTAN_BASE')}"
        return play_in_namespaces("", shlex.join([*words, "--", "sh", "-c", inner]), ends, place)

    def _program(self) -> Path | None:
        home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
        found = shutil.which("rattan", path=f"{os.environ.get('PATH', '')}:{home / 'bin'}")
        return Path(found) if found else None
