"""The experiment behind `wirelab interop`: every client with every server of each protocol, on an unimpaired link."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from wirelab.errors import WirelabError
from wirelab.experiment.experiment import Experiment, resolve
from wirelab.experiment.file.source import source_of_text
from wirelab.experiment.grid.scenario import Scenario
from wirelab.experiment.library import BUILTIN, implementations
from wirelab.experiment.programs.implementations import Implementation
from wirelab.experiment.programs.own_protocols import own_protocols
from wirelab.launcher import launched
from wirelab.schema import Description, ProtocolDescription, Role, registered
from wirelab.schema.link_answer import AskLink

NAME = "interop"
_TEXT = """
title = "Interoperability of every client with every server"
clock = "{clock}"
[factors]
protocol = [{protocols}]
"workload.message" = [{messages}]
{factors}
[link]
rtt = "2 ms"
[workload]
{workload}
timeout = "10 s"
[stop]
replicates = 1
"""
_WORKLOADS = {
    "telemetry": ('"workload.connection" = ["new", "persistent"]', 'kind = "telemetry"\nexchanges = 3'),
    "pubsub": ("", 'kind = "pubsub"\nmessages = 3\nsubscribers = 2\narrival = { fixed = "20 /s" }'),
}
WORKLOADS = tuple(_WORKLOADS)
"""What can be tried."""


class Only(NamedTuple):
    """What the pairs are restricted to; nothing named restricts nothing."""

    protocols: Iterable[str] = ()
    clients: Iterable[str] = ()
    servers: Iterable[str] = ()


def interop_experiment(  # noqa: PLR0913 (what is tried, and where)
    folder: Path,
    only: Only,
    ask: AskLink,
    *,
    messages: Iterable[str] = ("30 B",),
    workload: str = "telemetry",
    clock: str | None = None,
) -> Experiment:
    """Every pair of a client and a server that say that they speak the same protocol.

    They deliver over new and persistent connections, or one notifies the other. `folder` is where the user's own
    implementations may be.
    """
    known, programs = registered().with_protocols(own_protocols(folder)), implementations(folder)
    chosen = _chosen(
        "protocol", only.protocols, [protocol.name for protocol in known.protocols if workload in protocol.workloads]
    )
    names = [BUILTIN, *programs]
    clients, servers = _chosen("client", only.clients, names), _chosen("server", only.servers, names)
    factors, work = _WORKLOADS[workload]
    text = _TEXT.format(
        protocols=_listed(chosen), messages=_listed(messages), factors=factors, workload=work, clock=clock or "live"
    )
    base = resolve(source_of_text(text, NAME, folder), known, ask)
    scenarios = tuple(
        _between(scenario, client, server)
        for scenario in base.scenarios
        for client in clients
        if _plays(programs, known, "client", client, scenario.protocol)
        for server in servers
        if _plays(programs, known, "server", server, scenario.protocol)
    )
    if not scenarios:
        raise WirelabError(
            "no client and server of these speak the same protocol", hint=launched("list implementations")
        )
    return replace(base, scenarios=scenarios)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def _chosen(kind: str, named: Iterable[str], known: list[str]) -> list[str]:
    from wirelab.errors import did_you_mean

    named = list(named)
    for name in named:
        if name not in known:
            raise WirelabError(f"unknown {kind} '{name}'", hint=did_you_mean(name, known))
    return named or known


def _plays(programs: Mapping[str, Implementation], known: Description, role: str, name: str, protocol: str) -> bool:
    if name == BUILTIN:
        described: ProtocolDescription | None = known.protocol(protocol)
        return described is not None and described.builtin and role in described.roles
    entry = programs[name].role(Role(role))
    return entry is not None and protocol in entry.protocols and not {*entry.workloads}.isdisjoint(WORKLOADS)


def _between(scenario: Scenario, client: str, server: str) -> Scenario:
    levels = {**scenario.levels, "client.implementation": client, "server.implementation": server}
    return replace(
        scenario,
        name=f"{client} to {server}, {scenario.name}",
        levels=levels,
        points=tuple({**point, **levels} for point in scenario.points),
        implementation={"client": client, "server": server},
    )
