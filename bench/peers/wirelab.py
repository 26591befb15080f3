"""Wirelab's own link, as `wirelab link` starts it, with the packet log on."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from bench.peers.base import Ends, Stages
from bench.process import Place, User, run
from wirelab.schema import Delay, DropTail, ImpairmentSpec, LinkSpec, Loss, Rate

LOG = "packets.wlpl"
_QUEUE_BYTES = 1_000_000_000
"""A queue large enough that only configured losses occur."""
_STARTUP_S = 30.0


class Wirelab:
    """`wirelab-agent link-command`."""

    name = "wirelab"

    def __init__(self, agent: Path) -> None:
        self._agent = agent

    def missing(self) -> str | None:
        """It was built for the bench."""
        return None

    def refuses(self, stages: Stages, user: User) -> str | None:  # noqa: ARG002
        """Anybody may have any."""
        return None

    def configured_ms(self, stages: Stages, ip_bytes: int) -> float:
        """Its rate counts IP bytes."""
        return stages.configured_ms(ip_bytes)

    def play(self, stages: Stages, ends: Ends, place: Place) -> str:
        """Run both ends."""
        output = place.folder / "server.txt"
        with _as_file(link(stages)) as descriptor:
            words = [
                str(self._agent), "link-command", "--quiet", "--seed=1", f"--link-fd={descriptor}",
                f"--server={json.dumps(ends.server)}", f"--server-log={output}", f"--log={place.folder / LOG}",
                "--server-ready=" + ends.ready, "--", *ends.client,
            ]  # fmt: skip
            run(words, place, ends.seconds + _STARTUP_S, [descriptor])
        return output.read_text(encoding="utf-8")


def link(stages: Stages) -> LinkSpec:
    """Loss first, so that what a receiver gets is all that took time at the rate."""
    uplink: list[ImpairmentSpec] = []
    if stages.loss:
        uplink.append(Loss(probability=stages.loss))
    if stages.rate_bps is not None:
        uplink.append(Rate(rate_bps=stages.rate_bps, queue=DropTail(bytes=_QUEUE_BYTES)))
    uplink.append(Delay(delay_ns=round(1e6 * stages.delay_ms)))
    return LinkSpec(uplink=tuple(uplink), downlink=())


@contextlib.contextmanager
def _as_file(spec: LinkSpec) -> Iterator[int]:
    """An unnamed file, so that nothing has to be removed."""
    descriptor = os.memfd_create("link")
    try:
        os.write(descriptor, json.dumps(spec.to_json()).encode())
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)
