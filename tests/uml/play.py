"""Probes over several links, as one job: `play.py JOB.json`. Runs in a guest as it runs on the machine itself.

Side by side, each in a lane of its own, or one after the other. Each ends in a folder of `wirelab.runner.probes`. Where
packets got lost outside of the link, because the machine was too slow for them, they are sent again half as fast; what
the link did to them is not looked at.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel

from wirelab.clock.host import AgentHost, RefusedError
from wirelab.runner import cpus
from wirelab.runner.probes import start_probes
from wirelab.schema import LinkSpec, OpenLanes, TrialResult, TrialStatus, is_netem
from wirelab.schema.campaign import RESULT
from wirelab.schema.probe import ProbePlan

GRACE_S = 20.0
ENDS = ("client", "server")
SLOWEST = 4
"""Times as long as the plan says."""


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
        facts = host.open(OpenLanes(lanes=job.at_once, netem=any(is_netem(probing.link) for probing in job.probings)))
        with cpus.away_from(facts.link_cpu):
            for first in range(0, len(job.probings), job.at_once):
                _side_by_side(host, job, job.probings[first : first + job.at_once])
    finally:
        host.close()


def _side_by_side(host: AgentHost, job: Job, probings: Sequence[Probing], slower: int = 1) -> None:
    plans = [_slower(probing.plan, slower) for probing in probings]
    for lane, (probing, plan) in enumerate(zip(probings, plans, strict=True)):
        folder = job.folder / probing.name
        folder.mkdir(exist_ok=True)
        start_probes(host, job.agent, folder, probing.link, probing.seed, plan, lane)
    longest_s = max(plan.duration_ns for plan in plans) / 1e9
    lacking = []
    for result in _results(host, len(probings), longest_s + GRACE_S):
        folder = job.folder / result.trial
        if result.status is not TrialStatus.DONE:
            raise RuntimeError(f"{result.trial}: {result.status.value}, {result.error}")
        (folder / RESULT).write_text(result.model_dump_json(), encoding="utf-8")
        if why := _unaccounted(folder, result):
            lacking.append(f"{result.trial} {slower} times as slow: {why}")
    if lacking:
        print("\n".join(lacking))
        if slower == SLOWEST:
            raise RuntimeError("this machine is too slow even for that")
        _side_by_side(host, job, probings, 2 * slower)


def _slower(plan: ProbePlan, times: int) -> ProbePlan:
    flows = tuple(
        flow.model_copy(update={"begin_ns": flow.begin_ns * times, "every_ns": flow.every_ns * times})
        for flow in plan.flows
    )
    return plan.model_copy(update={"duration_ns": plan.duration_ns * times, "flows": flows})


def _unaccounted(folder: Path, result: TrialResult) -> str | None:
    """What was sent, reached the link, left it and was received, if these do not agree."""
    sent, received = dict.fromkeys(ENDS, 0), dict.fromkeys(ENDS, 0)
    for end in ENDS:
        for line in (folder / f"{end}.txt").read_text().splitlines():
            word, _, number, *_ = line.split()
            if word == "sent":
                sent[end] += int(number)
            else:
                received[end] += 1
    for (near, far), counts in zip((ENDS, ENDS[::-1]), result.link.directions, strict=True):
        path = (sent[near], counts.received, counts.delivered, received[far])
        if path[0] != path[1] or path[2] != path[3] or counts.held or result.link.kernel_drops:
            return f"{path[0]} sent, {path[1]} reached the link, {path[2]} left it, {path[3]} received"
    return None


def _results(host: AgentHost, count: int, timeout_s: float) -> Iterator[TrialResult]:
    deadline = time.monotonic() + timeout_s
    while count:
        over = host.wait(max(deadline - time.monotonic(), 0.0))
        if isinstance(over, RefusedError):
            raise RuntimeError(f"{over.trial}: {over.message}")
        if over is None:
            raise RuntimeError(f"{count} still probing after {timeout_s:.0f} s")
        count -= 1
        yield over


if __name__ == "__main__":
    play(Job.model_validate_json(Path(sys.argv[1]).read_bytes()))
