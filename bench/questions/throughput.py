"""How much does the link carry? 64-byte packets and one TCP connection, against plain veth and rattan."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.peers import SERVER, Ends, Peer, Stages
from bench.peers.veth import segments_are_off
from bench.process import FAILURES, User, run
from bench.results import Answer, Target
from bench.setup import Setup

SECONDS = 2.0
ROUNDS = 3
PORT = 9001
KINDS = {"udp": "kpackets/s of 64 B", "tcp": "TCP Gbit/s"}
DELAY_MS = 1.0
RATE_BPS, LOSS = 100_000_000_000, 1e-12
LEAST_OF_VETH = 0.55
LEAST_OF_RATTAN = 1.5
_SETTLE_S = 20.0


@dataclass(frozen=True)
class Carried:
    """What one path carried in one round, in the units of `KINDS`."""

    path: str
    kind: str
    value: float
    unaccounted: int | None


def answer(setup: Setup) -> Answer:
    """Paths in turn, round by round; medians of the rounds."""
    found = Answer(
        "throughput",
        "Throughput with delay, loss and rate stages and the packet log on: median of the rounds",
        ("what", "path", "median", "lowest", "highest", "of veth", "of rattan", "lost in silence"),
    )
    found.notes.append(
        f"one sender and one receiver with ordinary sockets, {setup.seconds(SECONDS):g} s for each flow, {ROUNDS} "
        f"rounds, {DELAY_MS:g} ms one way, as the user who runs the bench; a rate far above what is reached and a "
        "loss too rare to happen, so that their stages only cost; veth without segmentation offload; lost in "
        "silence: datagrams that no counter of the path or the socket explains"
    )
    if not segments_are_off():
        found.notes.append("netem with segmentation offload: there is no ethtool to switch it off")
    user = setup.users[0]
    others = [peer for peer in setup.peers if peer.name != "wirelab"]
    carried: list[Carried] = []
    for _ in range(ROUNDS):
        carried += _own(setup, user, found)
        for peer in others:
            carried += _other(setup, peer, user, found)
    for kind, unit in KINDS.items():
        by_path = {
            one.path: [other for other in carried if (other.path, other.kind) == (one.path, kind)] for one in carried
        }
        medians = {path: statistics.median(one.value for one in ones) for path, ones in by_path.items() if ones}
        for path, median in medians.items():
            values = [one.value for one in by_path[path]]
            ratios = (_ratio(median, medians.get("veth")), _ratio(median, medians.get("rattan")))
            found.rows.append((unit, path, median, min(values), max(values), *ratios, _farthest(by_path[path])))
        _judge(found, kind, medians, _farthest(by_path.get("wirelab", [])))
    return found


def _own(setup: Setup, user: User, found: Answer) -> list[Carried]:
    """Plain veth and Wirelab's link."""
    words = [str(setup.instruments), "throughput", "measure", "--rounds=1", f"--seconds={setup.seconds(SECONDS):g}"]
    words += [f"--delay-ms={round(DELAY_MS)}", "--over=veth,link", f"--agent={setup.agent}"]
    try:
        with setup.place(user) as place:
            text = run(words, place, 8 * SECONDS + _SETTLE_S, environment={"TMPDIR": str(place.folder)})
        names = {"veth": "veth", "link": "wirelab"}
        return [
            Carried(names[flow["path"]], flow["kind"], _value(flow["kind"], flow), flow["unaccounted"])
            for flow in json.loads(text)["flows"]
        ]
    except FAILURES as error:
        found.notes.append(f"a round of veth and wirelab failed: {error}")
        return []


def _other(setup: Setup, peer: Peer, user: User, found: Answer) -> list[Carried]:
    """Another emulator, with the same two ends."""
    stages = Stages(DELAY_MS, RATE_BPS, LOSS)
    if (why := peer.refuses(stages, user)) is not None:
        words = f"{peer.name} not measured: {why}"
        found.notes += [words] if words not in found.notes else []
        return []
    carried = []
    for kind in KINDS:
        own = (str(setup.instruments), "throughput")
        server = (*own, "receive", f"--kind={kind}", f"--address={SERVER}:{PORT}")
        client = (*own, "send", f"{SERVER}:{PORT}", f"--kind={kind}", f"--seconds={setup.seconds(SECONDS):g}")
        ends = Ends(server, client, PORT, SECONDS + _SETTLE_S, transport=kind)
        try:
            with setup.place(user) as place:
                text = peer.play(stages, ends, place)
            received = json.loads(text.splitlines()[-1])
        except FAILURES as error:
            found.notes.append(f"{peer.name}, {kind}: {error}")
            continue
        span_s = received["span_ns"] / 1e9
        rates = {"packets_per_second": received["packets"] / span_s, "bits_per_second": 8 * received["bytes"] / span_s}
        carried.append(Carried(peer.name, kind, _value(kind, rates), None))
    return carried


def _value(kind: str, rates: dict[str, Any]) -> float:
    return float(rates["packets_per_second"]) / 1e3 if kind == "udp" else float(rates["bits_per_second"]) / 1e9


def _farthest(rounds: Sequence[Carried]) -> int | None:
    """The count of lost datagrams that is farthest from 0; below it, more arrived or were counted than were sent."""
    silent = [one.unaccounted for one in rounds if one.unaccounted is not None]
    return max(silent, key=abs) if silent and len(silent) == len(rounds) else None


def _ratio(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None


def _judge(found: Answer, kind: str, medians: dict[str, float], silent: int | None) -> None:
    own = medians.get("wirelab")
    if kind == "udp":
        of_veth = _ratio(own, medians.get("veth"))
        found.targets.append(Target("64-byte packets/s, of plain veth's", "", of_veth, ">=", LEAST_OF_VETH))
        off = None if silent is None else abs(silent)
        found.targets.append(Target("64-byte packets that no counter explains", "packets", off, "<=", 0))
    else:
        of_rattan = _ratio(own, medians.get("rattan"))
        found.targets.append(Target("TCP, of rattan's", "", of_rattan, ">=", LEAST_OF_RATTAN))
