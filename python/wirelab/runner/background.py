"""Background traffic of a trial as processes: they start before the client, and the trial's end ends them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from wirelab.plan import stable_hash
from wirelab.runner.topology import LaneAddresses, in_url
from wirelab.schema import EndpointProcess, EventReady
from wirelab.schema.campaign import traffic_folder
from wirelab.schema.plan import Scenario, Trial
from wirelab.schema.topology import BulkTraffic, PingTraffic, Traffic

FIRST_PORT = 5001
READY_NS = 20 * 10**9


def background(
    agent: Path, addresses: LaneAddresses, scenario: Scenario, trial: Trial, folder: Path
) -> list[EndpointProcess]:
    """The processes in start order; their folders are made."""
    found: list[EndpointProcess] = []
    for port, traffic in enumerate(scenario.traffic, FIRST_PORT):
        to = addresses.between(scenario, traffic.source, traffic.to)
        for name, host, words in _ends(traffic, to, port, stable_hash(trial.endpoint_seed, traffic.name)):
            directory = folder / traffic_folder(name)
            directory.mkdir()
            found.append(_process(agent, name, host, words, directory, READY_NS + _stagger_ns(traffic)))
    return found


def _ends(traffic: Traffic, to: str, port: int, seed: int) -> Iterable[tuple[str, str, list[str]]]:
    """Name, host and arguments of each."""
    match traffic:
        case BulkTraffic():
            at = f"{in_url(to)}:{port}"
            yield f"{traffic.name}-server", traffic.to, ["bulk-server", "--at", at]
            words = ["bulk", "--to", at, "--flows", str(traffic.flows), "--direction", traffic.direction]
            stagger = ["--stagger-ms", str(traffic.stagger_ns // 10**6), "--seed", str(seed)]
            yield traffic.name, traffic.source, [*words, *stagger]
        case PingTraffic():
            words = ["ping", "--to", to, "--flows", str(traffic.flows), "--payload", str(traffic.payload_bytes)]
            yield traffic.name, traffic.source, [*words, "--interval-us", f"{traffic.interval_ns / 1e3:g}"]


def _stagger_ns(traffic: Traffic) -> int:
    return traffic.stagger_ns if isinstance(traffic, BulkTraffic) else 0


def _process(  # noqa: PLR0913, PLR0917 (what is run, and where)
    agent: Path, name: str, host: str, words: list[str], directory: Path, ready_ns: int
) -> EndpointProcess:
    return EndpointProcess(
        name=traffic_folder(name),
        host=host,
        command=(str(agent), "traffic", *words),
        directory=directory,
        stdout=directory / "stdout.txt",
        stderr=directory / "stderr.txt",
        ready=EventReady(timeout_ns=ready_ns),
        ends_trial=False,
    )
