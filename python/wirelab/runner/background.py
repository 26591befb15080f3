"""Background traffic of a trial as processes: they start before the client, and the trial's end ends them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from wirelab.plan import stable_hash
from wirelab.runner.topology import LaneAddresses, in_url
from wirelab.schema import EndpointProcess, EventReady
from wirelab.schema.campaign import traffic_folder, traffic_server_folder
from wirelab.schema.plan import Scenario, Trial
from wirelab.schema.topology import BulkTraffic, PingTraffic, Traffic, stagger_ns

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
            directory = folder / name
            directory.mkdir()
            found.append(_process(agent, name, host, words, directory, READY_NS + stagger_ns([traffic])))
    return found


def start_timeout_ns(scenario: Scenario) -> int:
    """The maximum time until all of it has started."""
    return READY_NS * len(scenario.traffic) + stagger_ns(scenario.traffic)


def _ends(traffic: Traffic, to: str, port: int, seed: int) -> Iterable[tuple[str, str, list[str]]]:
    """Name, host and arguments of each."""
    match traffic:
        case BulkTraffic():
            at = f"{in_url(to)}:{port}"
            yield traffic_server_folder(traffic.name), traffic.to, ["bulk-server", "--at", at]
            words = ["bulk", "--to", at, "--flows", str(traffic.flows), "--direction", traffic.direction]
            stagger = ["--stagger-ms", str(traffic.stagger_ns // 10**6), "--seed", str(seed)]
            yield traffic_folder(traffic.name), traffic.source, [*words, *stagger]
        case PingTraffic():
            words = ["ping", "--to", to, "--flows", str(traffic.flows), "--payload", str(traffic.payload_bytes)]
            words += ["--interval-us", f"{traffic.interval_ns / 1e3:.3f}"]
            yield traffic_folder(traffic.name), traffic.source, words


def _process(  # noqa: PLR0913, PLR0917 (what is run, and where)
    agent: Path, name: str, host: str, words: list[str], directory: Path, ready_ns: int
) -> EndpointProcess:
    return EndpointProcess(
        name=name,
        host=host,
        command=(str(agent), "traffic", *words),
        directory=directory,
        stdout=directory / "stdout.txt",
        stderr=directory / "stderr.txt",
        ready=EventReady(timeout_ns=ready_ns),
        ends_trial=False,
    )
