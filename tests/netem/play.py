"""Probes over several links, each in a guest of its own, some of them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wirelab.clock.guest import Hypervisor
from wirelab.clock.host import RefusedError
from wirelab.clock.virtual import VirtualHost
from wirelab.runner import cpus
from wirelab.runner.probes import start_probes
from wirelab.schema import Clock, LinkSpec, OpenLanes, TrialResult, TrialStatus
from wirelab.schema.campaign import RESULT
from wirelab.schema.probe import ProbePlan

ENDS = ("client", "server")
TIMEOUT_S = 120


@dataclass(frozen=True)
class Probing:
    """One link, what is sent over it, and the folder of `wirelab.runner.probes` in which that ends."""

    folder: Path
    link: LinkSpec
    seed: int
    plan: ProbePlan


def play(hypervisor: Hypervisor, folder: Path, probings: Sequence[Probing]) -> None:
    """Guests write in `folder`, in which the folders of the probings are. Fails at the first that does not end well."""
    mine = cpus.mine()
    host = VirtualHost(hypervisor, folder, mine, folder / "host.log")
    try:
        host.open(OpenLanes(lanes=1, netem=True, clock=Clock.VIRTUAL))
        for first in range(0, len(probings), len(mine)):
            together = {probing.folder.name: probing for probing in probings[first : first + len(mine)]}
            for probing in together.values():
                probing.folder.mkdir(parents=True)
                start_probes(host, hypervisor.agent, probing.folder, probing.link, probing.seed, probing.plan)
            for _ in together:
                result = host.wait(TIMEOUT_S)
                assert result is not None, f"still probing after {TIMEOUT_S} s"
                assert not isinstance(result, RefusedError), f"{result.trial}: {result.message}"
                assert result.status is TrialStatus.DONE, f"{result.trial}: {result.status.value}, {result.error}"
                place = together[result.trial].folder
                (place / RESULT).write_text(result.model_dump_json(), encoding="utf-8")
                _assert_accounted(place, result)
    finally:
        host.close()


def _assert_accounted(folder: Path, result: TrialResult) -> None:
    """What was sent, reached the link, and what left it was received."""
    sent, received = dict.fromkeys(ENDS, 0), dict.fromkeys(ENDS, 0)
    for end in ENDS:
        for line in (folder / f"{end}.txt").read_text().splitlines():
            word, _, number, *_ = line.split()
            if word == "sent":
                sent[end] += int(number)
            else:
                received[end] += 1
    assert result.link is not None
    assert result.link.kernel_drops == 0
    for (near, far), counts in zip((ENDS, ENDS[::-1]), result.link.directions, strict=True):
        assert (counts.received, counts.delivered, counts.held) == (sent[near], received[far], 0), (result.trial, near)
