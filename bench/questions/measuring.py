"""What does measuring take of the endpoints' CPU time? The same exchanges with and without it, round by round."""

from __future__ import annotations

import json
import statistics
import sys
from dataclasses import dataclass
from math import comb
from pathlib import Path

import polars as pl

from bench.generators import endpoint
from bench.peers import Ends, Stages, Veth
from bench.peers.veth import SERVER_ADDRESS
from bench.process import FAILURES, FailedError
from bench.results import Answer, Target
from bench.setup import Setup

OBJECT_BYTES = 875_000
"""One of the eight equal ones of h2window2017's site."""
PORT = 9000
ROUNDS = 12
MOST = 1.02
LEVEL = 0.95
_SIDE = Path(__file__).parents[1] / "side.py"
_PATIENCE_S = 120.0
_UDP = ("coap",)
PROTOCOLS = ("raw-tcp", "http1", "h2c", "coap", "mqtt")
DOWNLOADING = ("http1", "h2c")


@dataclass(frozen=True)
class Work:
    """Exchanges one after another: some seconds of CPU time."""

    name: str
    exchanges: int
    connection: dict[str, object]
    message: dict[str, object]
    protocols: tuple[str, ...] = PROTOCOLS

    @property
    def workload(self) -> dict[str, object]:
        """As an endpoint gets it, but for how many."""
        return {**self.message, "concurrency": 1, "connection": self.connection}


_KEPT: dict[str, object] = {"policy": "persistent", "connections": 1}
_MESSAGE: dict[str, object] = {"kind": "telemetry", "message_bytes": 30}
_OBJECT: dict[str, object] = {"kind": "request-response", "upload_bytes": 0, "download_bytes": OBJECT_BYTES}
WORKS = (
    Work("30 B, new connections", 2_000, {"policy": "new"}, _MESSAGE),
    Work("30 B, a persistent connection", 10_000, _KEPT, _MESSAGE),
    Work("875 kB, a persistent connection", 500, _KEPT, _OBJECT, DOWNLOADING),
)


@dataclass(frozen=True)
class Took:
    """CPU time of both ends, microseconds for each exchange."""

    client_us: float
    server_us: float

    @property
    def both_us(self) -> float:
        return self.client_us + self.server_us


def answer(setup: Setup) -> Answer:
    """Each protocol with each work; what the ratio is of, and its interval over rounds."""
    found = Answer(
        "measuring",
        "CPU time of built-in endpoints with measuring over without, user and system, start and end included",
        (
            "protocol", "exchanges", "client us/exchange", "server us/exchange", "ratio of both", "low", "high",
            "ratio of client",
        ),
    )  # fmt: skip
    found.notes.append(
        f"{ROUNDS} rounds, with and without in turn, the first in every second round the other; a message of 30 B and "
        "an empty answer, or an object of 875 kB, one after another over a plain veth; ratio: median of the rounds' "
        f"own, with its interval of at least {LEVEL:.0%} by order statistics"
    )
    found.notes.append(
        "measuring is every stamp, what is read of the transport when an exchange ends, and the rows; the packet log "
        "and captures are the link's, in another process, and samples of memory the trial's, at most 1 % of a CPU"
    )
    for work in WORKS:
        for protocol in work.protocols:
            _compare(setup, protocol, work, found)
    return found


def _compare(setup: Setup, protocol: str, work: Work, found: Answer) -> None:
    rounds: list[tuple[Took, Took]] = []
    for number in range(ROUNDS):
        try:
            pair = {measured: _took(setup, protocol, work, measured=measured) for measured in _order(number)}
        except FAILURES as error:
            found.notes.append(f"{protocol}, {work.name}: {error}")
            continue
        rounds.append((pair[True], pair[False]))
    what = f"{protocol}, {work.name}: CPU time with measuring over without"
    if len(rounds) < ROUNDS:
        found.targets.append(Target(what, "", None, "<=", MOST))
        return
    both = [one.both_us / other.both_us for one, other in rounds]
    client = statistics.median(one.client_us / other.client_us for one, other in rounds)
    measured = [one for one, _ in rounds]
    times = (statistics.median(one.client_us for one in measured), statistics.median(one.server_us for one in measured))
    ratio = statistics.median(both)
    found.rows.append((protocol, work.name, *times, ratio, *interval(both), client))
    found.targets.append(Target(what, "", ratio, "<=", MOST))


def _order(number: int) -> tuple[bool, bool]:
    """Who comes second finds warm caches, so both do as often."""
    return (True, False) if number % 2 == 0 else (False, True)


def interval(values: list[float]) -> tuple[float, float]:
    """Of the median, by order statistics: the narrowest pair that covers it with at least the level (a sign test's)."""
    ordered, count = sorted(values), len(values)
    # Outside of the pair with rank k from either end lies the median if fewer than k values are on that side of it.
    below = 0.0
    rank = 0
    while rank < count // 2 and 2 * (below + comb(count, rank) / 2**count) <= 1 - LEVEL:
        below += comb(count, rank) / 2**count
        rank += 1
    if rank == 0:
        raise FailedError(f"{count} rounds are too few for an interval")
    return ordered[rank - 1], ordered[-rank]


def _took(setup: Setup, protocol: str, work: Work, *, measured: bool) -> Took:
    """One round. Raises what `FAILURES` lists."""
    exchanges = setup.count(work.exchanges)
    workload = {**work.workload, "exchanges": exchanges}
    with setup.place(setup.users[0]) as place:
        folder = place.folder / "client"
        server = endpoint(setup.agent, place.folder / "server", protocol, "server", ("0.0.0.0", PORT), workload)
        client = endpoint(setup.agent, folder, protocol, "client", (SERVER_ADDRESS, PORT), workload)
        client += [] if measured else ["--unmeasured"]
        sides = [(sys.executable, str(_SIDE), json.dumps([words])) for words in (server, client)]
        transport = "udp" if protocol in _UDP else "tcp"
        ends = Ends(sides[0], sides[1], PORT, _PATIENCE_S, transport, lasting=True)
        texts = [Veth().play(Stages(0.0), ends, place), (place.folder / "out.txt").read_text(encoding="utf-8")]
        if measured:
            outcomes = pl.read_ipc(folder / "exchanges.arrow", columns=["outcome"])["outcome"]
            if (completed := int((outcomes == "completed").sum())) != exchanges:
                raise FailedError(f"{completed} of {exchanges} exchanges completed")
    server_us, client_us = (_cpu_us(text) / exchanges for text in texts)
    return Took(client_us, server_us)


def _cpu_us(text: str) -> float:
    [command] = json.loads(text.splitlines()[-1])["commands"]
    return 1e6 * float(command["user_s"] + command["system_s"])
