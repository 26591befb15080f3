"""From a plan to a run campaign: finds the agent, opens the folder and the host, and records the environment."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from wirelab import agent as agents
from wirelab.clock.guest import Hypervisor, memory_folder
from wirelab.clock.host import AgentHost, Host
from wirelab.clock.kernel import Kernel, require_kernel
from wirelab.clock.virtual import VirtualHost
from wirelab.errors import RunError, WirelabError
from wirelab.experiment.duration.guest import guest_wall_ns
from wirelab.experiment.duration.trial import runs_alone
from wirelab.experiment.programs.implementations import Implementation
from wirelab.runner import cpus, facts
from wirelab.runner.budget import Budget
from wirelab.runner.campaign import Campaign, open_campaign
from wirelab.runner.certificates import make_certificates
from wirelab.runner.changes import changed_programs, changed_versions
from wirelab.runner.digest import campaign_digest
from wirelab.runner.endpoints import Endpoints, certificate_kind
from wirelab.runner.entries import needed_programs
from wirelab.runner.jobs import Jobs, default_jobs, start_gap_ns
from wirelab.runner.own_agent import own_agent
from wirelab.runner.pages import make_pages
from wirelab.runner.probes import probe_campaign
from wirelab.runner.progress import Observer, Summary
from wirelab.runner.run import Runner
from wirelab.runner.schedule import Schedule, Stopping
from wirelab.runner.shards import Shard
from wirelab.runner.topology import LaneAddresses, lane_links
from wirelab.schema import Clock, HostFacts, OpenLanes, is_netem
from wirelab.schema.plan import Plan
from wirelab.schema.record import CampaignRecord, RunRecord, read_record
from wirelab.schema.replaced import replace_file
from wirelab.site import Page

MTU = 1500
HOST_LOG = "host.log"


@dataclass(frozen=True)
class Options:
    """The user's options of a run."""

    jobs: int | None = None
    fresh: bool = False
    retry_failed: bool = False
    probes: bool = False
    """Probe each distinct link before the first block."""
    command: tuple[str, ...] = ()
    beside: Path | None = None
    """The experiment's folder, where the user's own `implementations.toml` may be."""
    claims: Path | None = None
    """The file of claims, of which the campaign keeps a copy."""
    own: Mapping[str, Path] = field(default_factory=dict)
    """Files of a radio and a device of the user's own, of which the campaign keeps copies by these names."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Further files of the campaign, by name: the experiment as it was written, and the user's own programs."""
    pages: Mapping[str, Page] = field(default_factory=dict)
    """What its scenarios load, by digest."""
    budget: Budget | None = None
    """No trial is started after it, whatever the plan says. It is time of this machine, and may be shared."""
    shard: Shard | None = None
    """The part of the plan that is run; all of it without one."""


def run_plan(
    plan: Plan, folder: Path, options: Options, enough: Callable[[str], bool] | None, observer: Observer
) -> Summary:
    """Run the trials of the plan that the campaign still lacks.

    Raises `RunError`. All processes that it started are ended in any case.
    """
    found = agents.find_agent()
    digest = agents.digest(found)
    folder = folder.resolve()
    live = plan.clock is Clock.LIVE
    jobs = options.jobs or planned_jobs(plan).number
    guests = None if live else (require_kernel(), memory_folder(jobs))
    implementations = needed_programs(plan, options.beside)
    changed = [] if options.fresh else changed_programs(folder, plan)
    part = plan if options.shard is None else options.shard.part(plan)
    mine = [each.trial for block in part.blocks for each in block.trials]
    opening = open_campaign(
        folder, plan, digest, fresh=options.fresh, retry_failed=mine if options.retry_failed else ()
    )
    with opening as campaign, own_agent(folder, found, virtual=not live) as agent:
        if agents.digest(agent) != digest:
            raise RunError(f"{found} was replaced while the campaign was opened", hint="run the same command again")
        recorded = read_record(folder)
        if guests is not None:
            _check_kernel(folder, campaign, recorded, guests[0])
        claims = _keep_claims(folder, options.claims)
        shard = None if options.shard is None else (options.shard.number, options.shard.of)
        this_run = RunRecord(began=facts.now(), ended=None, claims_sha256=claims, shard=shard)
        for name, path in options.own.items():
            replace_file(folder / name, path.read_text(encoding="utf-8"))
        for name, text in options.texts.items():
            replace_file(folder / name, text)
        gap_s = start_gap_ns(cpus.count(), real_time=cpus.real_time()) / 1e9 if live else 0.0
        programs = Programs(agent, implementations, options.pages, guests)
        with opened_lanes(plan, folder, jobs, programs) as lanes:
            written = facts.collect(agent, lanes.facts, implementations, options.command, lanes.kernel)
            earlier = () if recorded is None else recorded.runs
            _report_changed_claims(earlier, this_run, observer)
            for words in (*campaign.lost, *changed, *changed_versions(recorded, written)):
                observer.say(words)
            facts.write(folder, written, [*earlier, this_run])
            with cpus.away_from(lanes.facts.link_cpu):
                if options.probes:
                    probe_campaign(lanes.host, agent, plan, folder, observer.say)
                runner = Runner(campaign, lanes.host, lanes.endpoints, observer)
                summary = run_campaign(runner, part, jobs, enough, gap_s, budget=options.budget)
            if not live:
                summary = replace(summary, digest=campaign_digest(folder, campaign.finished()))
        facts.write(folder, written, [*earlier, this_run.model_copy(update={"ended": facts.now(), **asdict(summary)})])
        return summary


@dataclass(frozen=True)
class Programs:
    """What runs: the agent, third-party programs, the pages that they load, and under the virtual clock its kernel and
    where guests have their memory.
    """

    agent: Path
    implementations: Mapping[str, Implementation]
    pages: Mapping[str, Page]
    guests: tuple[Kernel, Path] | None


@dataclass(frozen=True)
class Lanes:
    """A host with its lanes, and what all trials in them share."""

    host: Host
    facts: HostFacts
    endpoints: Endpoints
    kernel: Kernel | None


@contextmanager
def opened_lanes(plan: Plan, folder: Path, jobs: int, programs: Programs) -> Iterator[Lanes]:
    """A host for so many parallel trials of a plan, with its certificates and pages in the folder; all that it started
    is ended afterwards.
    """
    agent = programs.agent
    kinds = {certificate_kind(s.settings) for s in plan.scenarios if _is_secure(plan, s.protocol)}
    made = make_pages(folder, plan, programs.pages)
    host: Host
    if programs.guests is None:
        kernel, host = None, AgentHost(agent, folder / HOST_LOG)
    else:
        kernel, memory = programs.guests
        hypervisor, log = Hypervisor(agent, kernel, memory), folder / HOST_LOG
        host = VirtualHost(hypervisor, folder, cpus.mine(), log, partial(_guest_s, plan))
    try:
        certificates = make_certificates(folder, kinds, host, plan.seed)
        opened = host.open(
            OpenLanes(
                lanes=jobs,
                mtu=MTU,
                offloads=any(scenario.offloads for scenario in plan.scenarios),
                netem=any(is_netem(link) for scenario in plan.scenarios for link in scenario.links),
                cpu_quota=any(scenario.cpu for scenario in plan.scenarios),
                links=lane_links(plan),
            )
        )
        quota = opened.settings.get("trial.cpu_quota", "none")
        addresses = LaneAddresses(opened.links)
        endpoints = Endpoints(agent, programs.implementations, certificates, addresses, plan.known, quota, made)
        yield Lanes(host, opened, endpoints, kernel)
    finally:
        host.close()


def run_campaign(  # noqa: PLR0913 (what is run, and what ends it)
    runner: Runner, plan: Plan, jobs: int, enough: Callable[[str], bool] | None, gap_s: float = 0.0,
    *, budget: Budget | None = None,
) -> Summary:  # fmt: skip
    """Run what the plan's stopping rule needs, with so many parallel trials at first, and start none after `budget`."""
    stop, live = plan.experiment.stop, plan.clock is Clock.LIVE
    blocks = [block.trials for block in plan.blocks]

    def elapsed_ns() -> float:
        """A budget is time of the clock under which the trials run. Virtual time is that of a machine on which the
        trials of a block run side by side, so that it depends neither on this machine nor on the jobs.
        """
        if live:
            return runner.elapsed_s * 1e9
        lasted = runner.lasted_ns()
        return sum(max((lasted.get(trial.trial, 0) for trial in block), default=0) for block in blocks)

    stopping = Stopping(
        # A fixed number of blocks is cut short only by its budget, and never by what was measured.
        minimum=1 if stop.interval is None and stop.budget_ns is not None else stop.replicates[0],
        enough=enough if stop.interval is not None else None,
        time_is_up=lambda: stop.budget_ns is not None and elapsed_ns() > stop.budget_ns,
        step_jobs=None if live else 1,
        starts_end=lambda: budget is not None and budget.left_s <= 0,
    )
    # Where computing takes no time, no trial disturbs another.
    alone = frozenset(scenario.key for scenario in plan.scenarios if live and runs_alone(scenario))
    return runner.run(Schedule(blocks, jobs, stopping, runner.finished, alone), gap_s)


def _check_kernel(folder: Path, campaign: Campaign, recorded: CampaignRecord | None, kernel: Kernel) -> None:
    """Refuse to add trials of another kernel to those that there are."""
    if recorded is None or recorded.kernel is None or not campaign.finished():
        return
    if recorded.kernel.recipe != kernel.recipe:
        raise WirelabError(
            f"{folder} was measured with another kernel of the virtual clock: recipe {recorded.kernel.recipe}, Linux "
            f"{recorded.kernel.version}",
            hint="name another folder with --out, or archive the old one with --fresh",
        )


def require_clock(clock: Clock) -> None:
    """Refuse a clock that this machine lacks, before anything that takes time. Raises `WirelabError` with the cure."""
    if clock is Clock.VIRTUAL:
        require_kernel()


def planned_jobs(plan: Plan) -> Jobs:
    """How many parallel trials for this plan on this machine."""
    if plan.clock is Clock.VIRTUAL:
        return virtual_jobs(plan)
    return default_jobs(plan.scenarios, plan.trials, cpus.count(), real_time=cpus.real_time())


def _guest_s(plan: Plan, trial: str) -> float:
    """How long a trial is expected to take of this machine's time."""
    scenario = plan.scenario_of(trial)
    return 0.0 if scenario is None else guest_wall_ns(scenario, plan.known) / 1e9


def virtual_jobs(plan: Plan) -> Jobs:
    """How many guests at a time."""
    return Jobs(min(cpus.count(), max(plan.trials, 1)), "each trial's guest keeps to one CPU")


def _keep_claims(folder: Path, claims: Path | None) -> str | None:
    """Copy the claims into the campaign, which may be judged on another machine. Gives their digest."""
    if claims is None:
        return None
    text = claims.read_text(encoding="utf-8")
    replace_file(folder / claims.name, text)
    return hashlib.sha256(text.encode()).hexdigest()


def _report_changed_claims(earlier: Sequence[RunRecord], this_run: RunRecord, observer: Observer) -> None:
    """Claims are written before the run that judges them."""
    if any(run.claims_sha256 != this_run.claims_sha256 for run in earlier):
        observer.say(
            "the claims were changed after this campaign started: its verdicts are not on claims set before it"
        )


def _is_secure(plan: Plan, protocol: str) -> bool:
    described = plan.known.protocol(protocol)
    return described is not None and described.secure
