"""From a plan to a run campaign: finds the agent, opens the folder and the host, and writes down what ran it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from wirelab import agent as agents
from wirelab.plan import Plan
from wirelab.runner import facts
from wirelab.runner.campaign import open_campaign
from wirelab.runner.certificates import make_certificates
from wirelab.runner.endpoints import Endpoints, certificate_kind
from wirelab.runner.host import AgentHost
from wirelab.runner.implementations import BUILTIN, Implementation, load
from wirelab.runner.lanes import default_lanes
from wirelab.runner.progress import Observer, Summary
from wirelab.runner.run import Runner
from wirelab.runner.schedule import Schedule, Stopping
from wirelab.schema import OpenLanes, registered

MTU = 1500
HOST_LOG = "host.log"


@dataclass(frozen=True)
class Options:
    """What the user chose of a run."""

    lanes: int | None = None
    fresh: bool = False
    retry_failed: bool = False
    command: tuple[str, ...] = ()


def run_plan(
    plan: Plan, folder: Path, options: Options, enough: Callable[[str], bool] | None, observer: Observer
) -> Summary:
    """Run what the campaign still lacks of the plan.

    Raises `RunError`; whatever happens, nothing that it started stays.
    """
    agent = agents.find_agent()
    folder = folder.resolve()
    implementations = _needed(plan)
    with open_campaign(
        folder, plan, agents.digest(agent), fresh=options.fresh, retry_failed=options.retry_failed
    ) as campaign:
        kinds = {certificate_kind(s.settings) for s in plan.scenarios if _is_secure(s.stack)}
        certificates = make_certificates(folder, kinds, agent)
        lanes = options.lanes or planned_lanes(plan)
        host = AgentHost(agent, folder / HOST_LOG)
        try:
            opened = host.open(OpenLanes(lanes=lanes, mtu=MTU))
            endpoints = Endpoints(agent, implementations, certificates, opened.server_address)
            written = facts.collect(agent, opened, implementations, options.command)
            earlier = facts.read_runs(folder)
            this_run = {"began": facts.now(), "ended": None}
            facts.write(folder, written, [*earlier, this_run])
            summary = run_campaign(Runner(campaign, host, endpoints, observer), plan, lanes, enough)
        finally:
            host.close()
        facts.write(folder, written, [*earlier, {**this_run, "ended": facts.now(), **asdict(summary)}])
        return summary


def run_campaign(runner: Runner, plan: Plan, lanes: int, enough: Callable[[str], bool] | None) -> Summary:
    """Run what the plan's stop rule asks for, in so many lanes at first."""
    stop = plan.experiment.stop
    stopping = Stopping(
        # A fixed number of blocks is cut short by its budget alone, and by nothing that was measured.
        minimum=1 if stop.interval is None and stop.budget_ns is not None else stop.replicates[0],
        enough=enough if stop.interval is not None else None,
        time_is_up=lambda: stop.budget_ns is not None and runner.elapsed_s * 1e9 > stop.budget_ns,
    )
    return runner.run(Schedule([block.trials for block in plan.blocks], lanes, stopping, runner.finished))


def planned_lanes(plan: Plan) -> int:
    """Lanes for this plan on this machine."""
    cpus = len(os.sched_getaffinity(0))
    return default_lanes([scenario.expected_exchange_ns for scenario in plan.scenarios], plan.trials, cpus)


def _needed(plan: Plan) -> dict[str, Implementation]:
    """Programs that the plan names."""
    names = {name for s in plan.scenarios for name in (s.implementation.client, s.implementation.server)} - {BUILTIN}
    known = load(Path(plan.experiment.file)) if names else {}
    return {name: known[name] for name in sorted(names) if name in known}


def _is_secure(stack: str) -> bool:
    described = registered().stack(stack)
    return described is not None and described.secure
