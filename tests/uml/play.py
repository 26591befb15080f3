"""Probes over several links, as one job: `play.py JOB.json`. Runs in a guest as it runs on the machine itself.

Side by side, each in a lane of its own, or one after the other. Each ends in a folder of `wirelab.runner.probes`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel

from wirelab.runner import cpus
from wirelab.runner.host import AgentHost, RefusedError
from wirelab.runner.probes import start_probes
from wirelab.schema import LinkSpec, OpenLanes, TrialResult, TrialStatus
from wirelab.schema.campaign import RESULT
from wirelab.schema.probe import ProbePlan

GRACE_S = 20.0


class Probing(BaseModel):
    """One link, and what is sent over it."""

    name: str
    link: LinkSpec
    seed: int
    plan: ProbePlan


class Job(BaseModel):
    """What to play, and where."""

    agent: Path
    folder: Path
    at_once: int
    probings: tuple[Probing, ...]


def play(job: Job) -> None:
    """Raises at the first that does not end well."""
    job.folder.mkdir(parents=True, exist_ok=True)
    host = AgentHost(job.agent, job.folder / "host.log")
    try:
        facts = host.open(OpenLanes(lanes=job.at_once, netem=any(probing.link.netem for probing in job.probings)))
        with cpus.away_from(facts.link_cpu):
            for first in range(0, len(job.probings), job.at_once):
                _side_by_side(host, job, job.probings[first : first + job.at_once])
    finally:
        host.close()


def _side_by_side(host: AgentHost, job: Job, probings: Sequence[Probing]) -> None:
    for lane, probing in enumerate(probings):
        folder = job.folder / probing.name
        folder.mkdir()
        start_probes(host, job.agent, folder, probing.link, probing.seed, probing.plan, lane)
    longest_s = max(probing.plan.duration_ns for probing in probings) / 1e9
    for result in _results(host, len(probings), longest_s + GRACE_S):
        (job.folder / result.trial / RESULT).write_text(result.model_dump_json(), encoding="utf-8")
        if result.status is not TrialStatus.DONE:
            raise RuntimeError(f"{result.trial}: {result.status.value}, {result.error}")


def _results(host: AgentHost, count: int, timeout_s: float) -> Iterator[TrialResult]:
    deadline = time.monotonic() + timeout_s
    while count:
        over = host.wait(deadline - time.monotonic())
        if isinstance(over, RefusedError):
            raise RuntimeError(f"{over.trial}: {over.message}")
        if over is None:
            raise RuntimeError(f"{count} still probing after {timeout_s:.0f} s")
        count -= 1
        yield over


if __name__ == "__main__":
    play(Job.model_validate_json(Path(sys.argv[1]).read_bytes()))
