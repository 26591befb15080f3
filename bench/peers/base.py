"""What a path is asked for, and what every kind of path answers."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Protocol

from bench.process import FailedError, Place, User, run

SERVER = "{server}"
"""Stands for the server's address in the words of both ends."""
CONGESTION_CONTROL = "reno"
"""Of every TCP connection, where the path lets it be set; Wirelab's meter has the same."""
_STARTUP_S = 30.0


@dataclass(frozen=True)
class Stages:
    """A path's one way, from client to server; the other way is as short as it can be."""

    delay_ms: float
    rate_bps: int | None = None
    loss: float = 0.0

    def configured_ms(self, ip_bytes: int, more_bytes: int = 0) -> float:
        """How long it takes a packet of this size that waits for no other, if more bytes of it count at the rate."""
        sending = 0.0 if self.rate_bps is None else 8e3 * (ip_bytes + more_bytes) / self.rate_bps
        return self.delay_ms + sending


@dataclass(frozen=True)
class Ends:
    """The two programs, and where the server listens."""

    server: tuple[str, ...]
    client: tuple[str, ...]
    port: int
    seconds: float
    """How long they take at most once they have been started."""
    transport: str = "udp"
    lasting: bool = False
    """The server runs until it gets the signal to end."""

    @property
    def ready(self) -> str:
        """How it learns that the server listens."""
        return f"{self.transport}:{self.port}"


class Peer(Protocol):
    """A kind of path between two programs on this machine."""

    @property
    def name(self) -> str:
        """As in the tables."""

    def missing(self) -> str | None:
        """Why it is not here and how to get it; none if it is here."""

    def refuses(self, stages: Stages, user: User) -> str | None:
        """Why it cannot be such a path for such a user; none if it can."""

    def configured_ms(self, stages: Stages, ip_bytes: int) -> float:
        """How long it should take a packet of this size."""

    def play(self, stages: Stages, ends: Ends, place: Place) -> str:
        """Run both ends over it; returns what the server printed. Raises `FailedError`."""


def play_in_namespaces(setup: str, client: str, ends: Ends, place: Place) -> str:
    """Run a shell script's worth of network in namespaces of its own, which end with it; the server in the one that is
    entered by `$in_server`, which `setup` says, then `client`.

    Named namespaces are on a /run of their own, so none is left behind.
    """
    output = place.folder / "server.txt"
    server = shlex.join(ends.server).replace(SERVER, "0.0.0.0")
    script = f"""
set -eu
export PATH="$PATH:/usr/sbin:/sbin"
mount -t tmpfs tmpfs /run
in_server=
ip link set lo up
{setup}
$in_server {server} > {shlex.quote(str(output))} &
server=$!
attempts=200
until $in_server grep -qs ':{ends.port:04X} ' /proc/net/{ends.transport}; do
    attempts=$((attempts - 1))
    [ $attempts -gt 0 ] || {{ echo "the server does not listen" >&2; exit 1; }}
    sleep 0.05
done
{client}
{"kill $server; wait $server || :" if ends.lasting else "wait $server"}
"""
    namespaces = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if not place.user.is_root:
        namespaces += ["--user", "--map-root-user"]
    run([*namespaces, "sh", "-c", script], place, ends.seconds + _STARTUP_S)
    try:
        return output.read_text(encoding="utf-8")
    except OSError as error:
        raise FailedError(f"the server wrote nothing: {error}") from None


def shell(words: tuple[str, ...], server: str) -> str:
    """The client's words for a shell, with the server's address, which the shell may expand."""
    return " ".join(shlex.quote(word).replace(SERVER, f"'\"{server}\"'") for word in words)
