"""Reasons why programs or links cannot run scenarios, known before anything is started."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from wirelab.experiment.duration.opening import cannot_open
from wirelab.experiment.library import BUILTIN
from wirelab.experiment.programs.implementations import Implementation
from wirelab.runner.implementations import missing
from wirelab.schema import Description, ProtocolDescription, Resumed, Role, link_key
from wirelab.schema.campaign import EntryStatus
from wirelab.schema.endpoint import SettingValue
from wirelab.schema.plan import Plan, Scenario
from wirelab.schema.waits import Refusal, lacks_wait

RESUMPTION = "resumption"
"""The setting of every built-in protocol that has sessions."""
OTHER_PROGRAMS = "choose other programs, or none"
NAMED = 3
"""So many scenarios are named in a line."""


@dataclass(frozen=True)
class Barrier:
    """Why a scenario cannot run here at all."""

    status: EntryStatus
    error: str
    hint: str | None = field(default=None, compare=False)
    """What would run instead, if the error does not say it."""


def program_barrier(
    scenario: Scenario, implementations: Mapping[str, Implementation], known: Description
) -> Barrier | None:
    """Missing programs are failures with a cure; what a protocol or a program does not do is unsupported."""
    described = known.protocol(scenario.protocol)
    assert described is not None, "the plan has only known protocols"
    if (lacking := _lacking(scenario, described)) is not None:
        return Barrier(EntryStatus.UNSUPPORTED, *lacking)
    for role in (Role.CLIENT, Role.SERVER):
        name = getattr(scenario.implementation, role.value)
        if name == BUILTIN:
            continue
        if (program := implementations.get(name)) is None:
            return Barrier(EntryStatus.FAILED, f"no implementation '{name}' in implementations.toml")
        if (entry := program.role(role)) is None:
            return Barrier(EntryStatus.UNSUPPORTED, f"{name} has no role {role.value}", OTHER_PROGRAMS)
        protocol, settings = spoken_by(scenario, role)
        described = known.protocol(protocol)
        assert described is not None, "the plan has only known protocols"
        own = scenario.program_settings.get(name, {})
        if (refusal := entry.refusal(described, settings, scenario.workload, own)) is not None:
            return Barrier(EntryStatus.UNSUPPORTED, f"{name} {refusal}", OTHER_PROGRAMS)
        if (absent := missing(program)) is not None:
            return Barrier(EntryStatus.FAILED, absent)
    return None


def _lacking(scenario: Scenario, protocol: ProtocolDescription) -> Refusal | None:
    """What the workload asks of a built-in protocol that it does not have."""
    if (wait := lacks_wait(protocol, scenario.workload)) is not None:
        return wait
    resumes = isinstance(getattr(scenario.workload, "connection", None), Resumed)
    ours = protocol.builtin and BUILTIN in (scenario.implementation.client, scenario.implementation.server)
    if resumes and ours and protocol.setting(RESUMPTION) is None:
        what = f"{protocol.name} has no session that could be resumed"
        return Refusal(what, 'workload.connection = "new", or a protocol with sessions')
    return None


def link_barrier(scenario: Scenario, plan: Plan) -> Barrier | None:
    """What the client's link cannot carry of the protocol is unsupported."""
    protocol, facts = plan.known.protocol(scenario.protocol), plan.link_facts.get(link_key(scenario.link))
    if protocol is None or facts is None or (why := cannot_open(scenario, protocol, facts)) is None:
        return None
    return Barrier(EntryStatus.UNSUPPORTED, why, "choose another link, or another protocol")


class Forecast(NamedTuple):
    """What is known of a plan on this machine: a line for each reason for which scenarios would not run, with their
    names, the keys of those that would be unsupported, and of those that would fail, and what would run instead of the
    unsupported ones.
    """

    words: list[str]
    unsupported: frozenset[str]
    failing: frozenset[str]
    hints: list[str]


def forecast(plan: Plan, implementations: Mapping[str, Implementation]) -> Forecast:
    """Every scenario's barrier."""
    found: dict[Barrier, list[Scenario]] = {}
    for scenario in plan.scenarios:
        barrier = link_barrier(scenario, plan) or program_barrier(scenario, implementations, plan.known)
        if barrier is not None:
            found.setdefault(barrier, []).append(scenario)
    words = [_line(why, [each.name for each in barred], len(plan.scenarios)) for why, barred in found.items()]
    keys = {why: frozenset(each.key for each in barred) for why, barred in found.items()}
    unsupported, failing = (
        frozenset[str]().union(*(barred for why, barred in keys.items() if why.status is status))
        for status in (EntryStatus.UNSUPPORTED, EntryStatus.FAILED)
    )
    hints = dict.fromkeys(why.hint for why in found if why.status is EntryStatus.UNSUPPORTED and why.hint is not None)
    return Forecast(words, unsupported, failing, list(hints))


def spoken_by(scenario: Scenario, role: Role) -> tuple[str, Mapping[str, SettingValue]]:
    """The protocol of a role with its settings: a server behind a proxy has its own."""
    if role is Role.SERVER and scenario.origin is not None:
        return scenario.origin.protocol, scenario.origin.settings
    return scenario.protocol, scenario.settings


def settings_for(scenario: Scenario, role: Role) -> dict[str, SettingValue]:
    """The settings that the program of a role gets: those of its protocol, and its own."""
    _, settings = spoken_by(scenario, role)
    name = getattr(scenario.implementation, role.value, BUILTIN)
    return {**settings, **scenario.program_settings.get(name, {})}


def _line(barrier: Barrier, names: list[str], scenarios: int) -> str:
    becomes = "would fail" if barrier.status is EntryStatus.FAILED else "would be unsupported"
    which = "; ".join(names[:NAMED]) + "; …" * (len(names) > NAMED)
    return f"{len(names)} of {scenarios} scenarios {becomes} ({which}): {barrier.error}"
