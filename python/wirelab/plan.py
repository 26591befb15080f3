"""Experiment and seed to a plan: scenarios with their keys, and blocks of trials with their seeds. Pure.

Every seed is a hash of what it belongs to, never of a position: adding a level changes no key, no seed and no order
among what was there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from math import ceil, sqrt
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from wirelab.experiment.duration.connections import connections
from wirelab.experiment.duration.exchange import expected_exchange_ns
from wirelab.experiment.duration.first_timer import short_timer
from wirelab.experiment.duration.traffic import background_packets_per_s
from wirelab.experiment.duration.trial import expected_trial_ns, runs_alone
from wirelab.experiment.experiment import Experiment
from wirelab.experiment.grid.scenario import IDENTITY_VERSION, link_identity, shorten
from wirelab.experiment.grid.scenario import Scenario as ResolvedScenario
from wirelab.schema import SCHEMA_VERSION, Clock, LinkFacts, LinkSpec, Role, canonical_json, link_key, round_trip_ns
from wirelab.schema.plan import (
    Block,
    ExperimentRecord,
    Implementations,
    Interval,
    Plan,
    Preview,
    Scenario,
    Stop,
    Trial,
)
from wirelab.schema.workload import NewConnection, RequestResponse, Telemetry

if TYPE_CHECKING:
    from hashlib import _Hash as Digest

FEW_OF_A_CONNECTION = 10
"""So many exchanges a preview leaves to a connection that is kept or resumed."""
STALL_NS = 25_000_000
"""The shortest time that a retransmission timer of the stacks waits beyond the round trip.

QUIC's probe time-out allows for `max_ack_delay`, 25 ms by default (RFC 9002 section 6.2.1, RFC 9000 section 18.2).
Linux adds 200 ms to TCP's time-out, and CoAP waits 2 s (RFC 7252 section 4.8). TCP's tail loss probe may fire earlier
if the round trip is below 17 ms: it sends one segment again, and delays nothing.
"""
LEAST_STALL_NS = 1_000_000
"""A timer that is no longer than the round trip fires in any case."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def make_plan(
    experiment: Experiment, *, budget_ns: int | None = None, jobs: int = 1, unsupported: Collection[str] = ()
) -> Plan:
    """The plan of an experiment; with a budget a quick run of the whole grid that fits it in so many jobs, or the plan
    itself, bounded by the budget, where nothing has to be cut. Scenarios of the plan whose keys are `unsupported` take
    none of the budget.
    """
    if budget_ns is not None:
        return _preview(experiment, budget_ns, jobs, unsupported)
    return _plan(experiment, Stop(**_stop(experiment)), None)


def expected_ns(plan: Plan, jobs: int) -> int:
    """Roughly how long the plan's trials take, up to its ceiling, with so many of them in parallel.

    A stopping rule is asked when the blocks that the jobs hold are over: each such step takes as long as its longest
    trial at least. What runs alone takes its time by itself.
    """
    alone = sum(scenario.expected_lane_ns for scenario in plan.scenarios if runs_alone(scenario))
    beside = [scenario.expected_lane_ns for scenario in plan.scenarios if not runs_alone(scenario)]
    stop, blocks = plan.experiment.stop, len(plan.blocks)

    def step(blocks: int) -> int:
        return alone * blocks + max(sum(beside) * blocks // jobs, max(beside, default=0)) if blocks else 0

    if stop.interval is None:
        total = step(blocks)
        least = total * stop.replicates[0] // stop.replicates[1]
    else:
        at_once = max(1, jobs // max(len(plan.scenarios), 1))
        first = min(max(stop.replicates[0], 1), blocks)
        steps, rest = divmod(blocks - first, at_once)
        least = step(first)
        total = least + steps * step(at_once) + step(rest)
    return total if stop.budget_ns is None else min(total, max(stop.budget_ns, least))


def stable_hash(*parts: Any) -> int:
    """63 bits that depend on the parts alone, on every machine."""
    return _to_int(hashlib.sha256(canonical_json(list(parts)).encode()))


def _plan(experiment: Experiment, stop: Stop, preview: Preview | None) -> Plan:
    programs = experiment.program_digests()
    scenarios = tuple(_scenario(scenario, experiment, programs) for scenario in experiment.scenarios)
    record = ExperimentRecord(
        name=experiment.name,
        title=experiment.title,
        metric=experiment.metric,
        statistic=experiment.statistic,
        doi=experiment.doi,
        claims=None if experiment.claims is None else experiment.claims.name,
        file=PurePath(experiment.file).name,
        factors=dict(experiment.factors),
        choices=_around(experiment),
        vary_choices=experiment.vary_choices,
        interpretations={
            name: {path: shorten(level) for path, level in levels.items()}
            for name, levels in experiment.interpretations.items()
        },
        sets=dict(experiment.sets),
        stop=stop,
        expect=experiment.expect,
        preview=preview,
        energy=None if experiment.energy is None else experiment.energy.record(),
    )
    begun = {scenario.key: _begun(experiment.seed, scenario.link) for scenario in scenarios}
    blocks = tuple(_block(scenarios, begun, experiment.seed, replicate) for replicate in range(stop.replicates[1]))
    own = tuple(protocol for protocol in experiment.known.protocols if not protocol.builtin)
    return Plan(
        experiment=record,
        identity_version=IDENTITY_VERSION,
        seed=experiment.seed,
        protocols=own,
        programs=programs,
        link_facts=_link_facts(experiment.scenarios),
        stall_ns=min((_stall_ns(each, experiment) for each in experiment.scenarios), default=STALL_NS),
        scenarios=scenarios,
        blocks=blocks,
    )


def _around(experiment: Experiment) -> dict[str, tuple[Any, ...]]:
    """Levels of every path that choices or interpretations vary."""
    found = {path: list(levels) for path, levels in experiment.choices.items()}
    for interpretation in experiment.interpretations.values():
        for path, level in interpretation.items():
            levels = found.setdefault(path, [])
            if level not in levels and (level,) != experiment.factors.get(path):
                levels.append(level)
    return {path: tuple(levels) for path, levels in found.items() if levels}


def _stall_ns(scenario: ResolvedScenario, experiment: Experiment) -> int:
    """The bound of a scenario whose protocol has a timer that a setting shortens: that minus the round trip."""
    protocol = experiment.known.protocol(scenario.protocol)
    timer_ms = None if protocol is None else scenario.settings.get(protocol.timing.timer_setting or "")
    if timer_ms is None:
        return STALL_NS
    return min(STALL_NS, max(LEAST_STALL_NS, int(timer_ms) * 10**6 - round_trip_ns(scenario.facts[0])))


def _link_facts(scenarios: Iterable[ResolvedScenario]) -> dict[str, LinkFacts]:
    """Facts of every distinct link."""
    found = {id(facts): (link, facts) for each in scenarios for link, facts in zip(each.links, each.facts, strict=True)}
    return {link_key(link): facts for link, facts in found.values()}


def _scenario(scenario: ResolvedScenario, experiment: Experiment, programs: Mapping[str, str]) -> Scenario:
    protocol = experiment.known.protocol(scenario.protocol)
    if protocol is None:
        raise AssertionError(scenario.protocol)
    exchange_ns = expected_exchange_ns(scenario, protocol)
    trial_ns = expected_trial_ns(exchange_ns + experiment.each_takes_ns(scenario), scenario)
    identity = scenario.digest()
    content: dict[str, Any] = {"identity": identity, "seed": experiment.seed, "schema_version": SCHEMA_VERSION}
    if used := {role: programs[name] for role, name in scenario.implementation.items() if name in programs}:
        content["programs"] = used
    if not protocol.builtin:
        # What a built-in one is, the agent's digest says.
        content["own_protocol"] = [protocol.transport, protocol.default_port, protocol.secure]
    if experiment.clock is not Clock.LIVE:
        content["clock"] = experiment.clock.value
    if experiment.capture:
        # Endpoints then also write their secrets, so trials with captures never count together with those without.
        content["capture"] = True
    if experiment.offloads:
        content["offloads"] = True
    return Scenario(
        key=hashlib.sha256(canonical_json(content).encode()).hexdigest(),
        identity=identity,
        name=scenario.name,
        levels=dict(scenario.levels),
        points=scenario.points,
        protocol=scenario.protocol,
        settings=dict(scenario.settings),
        implementation=Implementations(**scenario.implementation),
        link=scenario.link,
        link_name=scenario.link_name,
        workload=scenario.workload,
        congestion_control=scenario.congestion_control,
        clock=experiment.clock,
        capture=experiment.capture,
        offloads=experiment.offloads,
        topology=scenario.topology,
        traffic=scenario.traffic,
        origin=scenario.origin,
        cpu=dict(scenario.cpu),
        program_settings={name: dict(each) for name, each in scenario.program_settings.items()},
        restart=scenario.restart,
        background_packets_per_s=background_packets_per_s(scenario),
        connections=connections(scenario, protocol),
        short_timer=short_timer(scenario, protocol),
        expected_exchange_ns=exchange_ns,
        expected_trial_ns=trial_ns + experiment.starts_in_ns(scenario, Role.CLIENT),
        server_starts_in_ns=experiment.starts_in_ns(scenario, Role.SERVER),
        client_cpu_ns=experiment.client_cpu_ns(scenario),
    )


def _block(scenarios: tuple[Scenario, ...], begun: Mapping[str, Digest], seed: int, replicate: int) -> Block:
    """The block's trials in the order of a hash, so that another scenario finds its place without moving the rest."""
    ordered = sorted(scenarios, key=lambda scenario: stable_hash(seed, "order", replicate, scenario.identity))
    return Block(block=replicate, trials=tuple(_trial(each, begun[each.key], replicate) for each in ordered))


def _trial(scenario: Scenario, begun: Digest, replicate: int) -> Trial:
    protocol = _UNSAFE.sub("-", scenario.protocol)
    return Trial(
        trial=f"{protocol}-{scenario.key[:12]}-{replicate:04d}",
        scenario=scenario.key,
        replicate=replicate,
        link_seed=_ended(begun, f'{replicate},"link"]'),
        endpoint_seed=_ended(begun, f'{replicate},"endpoint"]'),
    )


def _begun(seed: int, link: LinkSpec) -> Digest:
    """The beginning of `stable_hash(version, seed, link, replicate, what)`: a link with a trace in it is long."""
    return hashlib.sha256(f"[{IDENTITY_VERSION},{seed},{canonical_json(link_identity(link))},".encode())


def _ended(begun: Digest, rest: str) -> int:
    digest = begun.copy()
    digest.update(rest.encode())
    return _to_int(digest)


def _to_int(digest: Digest) -> int:
    return int.from_bytes(digest.digest()[:8], "big") >> 1


def _stop(experiment: Experiment) -> dict[str, Any]:
    stop = experiment.stop
    return {
        "replicates": stop.replicates,
        "interval": None
        if stop.interval is None
        else Interval(relative=stop.interval.relative, of=experiment.statistic),
        "budget_ns": stop.budget,
    }


def _preview(experiment: Experiment, budget_ns: int, jobs: int, unsupported: Collection[str]) -> Plan:
    """Replicates and exchanges scaled by the same factor, down to two replicates of one exchange. A connection that is
    kept or resumed has some exchanges at least: one alone would be as with a new connection.
    """
    own = Stop(**_stop(experiment))
    whole = _plan(experiment, own, None)
    bounded = _stopping(whole, own.model_copy(update={"budget_ns": min(budget_ns, own.budget_ns or budget_ns)}))
    # By their places: another number of exchanges makes another key.
    idle = [at for at, scenario in enumerate(whole.scenarios) if scenario.key in unsupported]

    def takes_ns(plan: Plan) -> int:
        return expected_ns(plan.without({plan.scenarios[at].key for at in idle}), jobs)

    if takes_ns(whole) <= budget_ns:
        return bounded
    full = _stopping(whole, own.model_copy(update={"budget_ns": None}))
    most = experiment.stop.replicates[1]
    exchanges = max(scenario.workload.rows for scenario in experiment.scenarios)
    reused = any(_keeps_connections(scenario) for scenario in experiment.scenarios)
    least = min(exchanges, FEW_OF_A_CONNECTION) if reused else 1
    factor = min(1.0, sqrt(budget_ns / max(takes_ns(full), 1)))
    replicates = min(most, max(2, round(most * factor)))
    while True:
        scaled = replace(
            experiment, scenarios=tuple(_with_exchanges(scenario, factor, least) for scenario in experiment.scenarios)
        )
        stop = Stop(replicates=(replicates, replicates), interval=None, budget_ns=budget_ns)
        preview = Preview(
            budget_ns=budget_ns,
            replicates=(most, replicates),
            exchanges=(exchanges, max(scenario.workload.rows for scenario in scaled.scenarios)),
        )
        if preview.replicates[1] == most and preview.exchanges[1] == exchanges:
            return bounded
        plan = _plan(scaled, stop, preview)
        over = takes_ns(plan) / budget_ns
        if over <= 1 or (preview.exchanges[1] <= least and replicates <= 2):
            return plan
        if preview.exchanges[1] > least:
            factor /= max(over, 1.1)
        else:
            replicates = max(2, replicates - ceil(replicates / 10))


def _stopping(plan: Plan, stop: Stop) -> Plan:
    return plan.model_copy(update={"experiment": plan.experiment.model_copy(update={"stop": stop})})


def _with_exchanges(scenario: ResolvedScenario, factor: float, least: int) -> ResolvedScenario:
    enough = max(factor, min(1.0, least / scenario.workload.rows))
    return replace(scenario, workload=scenario.workload.scaled(enough))


def _keeps_connections(scenario: ResolvedScenario) -> bool:
    workload = scenario.workload
    return isinstance(workload, RequestResponse | Telemetry) and not isinstance(workload.connection, NewConnection)
