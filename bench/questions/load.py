"""How many requests does our client make, next to a tool that does nothing else, of the same server?"""

from __future__ import annotations

import json
import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bench.generators import ADDRESSES, CONNECTIONS, MESSAGE_BYTES, Load, TwoSubnets, loads
from bench.peers import Ends, Stages
from bench.process import FAILURES, FailedError, Place
from bench.results import Answer, Target
from bench.setup import Setup

REQUESTS = 40_000
ROUNDS = 3
LEAST_OF_BEST = 0.7
RAISED = 1.05
"""A second generator raises the total if both together make so many times the requests of one."""
BUILTIN = "builtin"
_SIDE = Path(__file__).parents[1] / "side.py"
_PATIENCE_S = 120.0
_SUCCEEDED = re.compile(r"(\d+) succeeded")


@dataclass(frozen=True)
class Made:
    """What generators of one kind made in one round, in parallel."""

    per_s: float
    user_us: float
    """User CPU time per request."""
    system_us: float

    @property
    def cpu_us(self) -> float:
        """All CPU time per request: its inverse is what one CPU would make of a server without limits."""
        return self.user_us + self.system_us


def answer(setup: Setup) -> Answer:
    """Generators in turn, one and two at a time, round by round; medians of the rounds."""
    found = Answer(
        "load",
        "Requests over a plain veth: median of the rounds",
        (
            "protocol", "generator", "requests/s", "lowest", "highest", "of best", "two at once", "counts",
            "user us/request", "system us/request", "per CPU second, of best",
        ),
    )  # fmt: skip
    requests = setup.count(REQUESTS)
    found.notes.append(
        f"{requests} requests of {MESSAGE_BYTES} B on {CONNECTIONS} persistent connections, one after the other "
        "on each; "
        "mosquitto_pub keeps 20 messages under way on one connection; from the start of the process to its end; "
        f"{ROUNDS} rounds; two at once: what two generators make over what one makes; a row counts if that is "
        f"{RAISED:g} or more, for else the server, or the machine, was at its limit and not the generator"
    )
    for load in loads():
        if (how := load.missing()) is not None:
            found.notes.append(f"{load.name} not measured: {how}")
            continue
        _compare(setup, load, requests, found)
    return found


def make(setup: Setup, load: Load, generator: str, copies: int, requests: int) -> Made:
    """One round of so many generators at once. Raises what `FAILURES` lists."""
    with setup.place(setup.users[0]) as place:
        commands = [
            load.ours(setup.agent, place.folder / f"client-{number}", address, requests)
            if generator == BUILTIN
            else load.theirs(address, requests)
            for number, address in enumerate(ADDRESSES[:copies])
        ]
        client = (sys.executable, str(_SIDE), json.dumps(commands))
        ends = Ends(tuple(load.server(place.folder)), client, load.port, _PATIENCE_S, load.transport, lasting=True)
        TwoSubnets().play(Stages(0.0), ends, place)
        printed = json.loads((place.folder / "out.txt").read_text(encoding="utf-8").splitlines()[-1])
        for number in range(copies):
            _check(place, generator, number, requests)
    total = copies * requests
    user_s, system_s = (sum(each[key] for each in printed["commands"]) for key in ("user_s", "system_s"))
    return Made(total / printed["wall_s"], 1e6 * user_s / total, 1e6 * system_s / total)


def _compare(setup: Setup, load: Load, requests: int, found: Answer) -> None:
    made: dict[tuple[str, int], list[Made]] = {}
    for _ in range(ROUNDS):
        for generator in (BUILTIN, load.tool):
            for copies in (1, 2):
                try:
                    one = make(setup, load, generator, copies, requests)
                except FAILURES as error:
                    found.notes.append(f"{load.name}, {copies} x {generator}: {error}")
                    continue
                made.setdefault((generator, copies), []).append(one)
    alone = {generator: made[generator, 1] for generator in (BUILTIN, load.tool) if (generator, 1) in made}
    rates = {generator: statistics.median(one.per_s for one in rounds) for generator, rounds in alone.items()}
    frugal = {generator: statistics.median(1 / one.cpu_us for one in rounds) for generator, rounds in alone.items()}
    counting = {}
    for generator, rounds in alone.items():
        two = made.get((generator, 2))
        raised = None if two is None else statistics.median(one.per_s for one in two) / rates[generator]
        counting[generator] = raised is not None and raised >= RAISED
        spread = (min(one.per_s for one in rounds), max(one.per_s for one in rounds))
        cpu = (statistics.median(one.user_us for one in rounds), statistics.median(one.system_us for one in rounds))
        of_best = (rates[generator] / max(rates.values()), frugal[generator] / max(frugal.values()))
        counts = "yes" if counting[generator] else "no"
        found.rows.append(
            (load.name, generator, rates[generator], *spread, of_best[0], raised, counts, *cpu, of_best[1])
        )
    ours = alone.keys() == {BUILTIN, load.tool}
    rate = rates[BUILTIN] / max(rates.values()) if ours and counting[BUILTIN] else None
    if ours and rate is None:
        found.notes.append(f"{load.name}: a second of our clients did not raise the total, so it was not the limit")
    share = frugal[BUILTIN] / max(frugal.values()) if ours else None
    what = f"{load.name}: of the best generator's"
    found.targets.append(Target(f"{what} requests/s", "", rate, ">=", LEAST_OF_BEST))
    found.targets.append(Target(f"{what} requests for each second of CPU time", "", share, ">=", LEAST_OF_BEST))


def _check(place: Place, generator: str, number: int, requests: int) -> None:
    """A generator that fails quickly is not quick."""
    if generator == BUILTIN:
        rows = pl.read_ipc(place.folder / f"client-{number}" / "exchanges.arrow", columns=["outcome"])
        succeeded = rows.filter(pl.col("outcome") == "completed").height
    elif generator == "h2load":
        said = _SUCCEEDED.search((place.folder / f"out-{number}.txt").read_text(encoding="utf-8"))
        succeeded = int(said[1]) if said else 0
    else:
        return  # its exit code tells
    if succeeded != requests:
        raise FailedError(f"{succeeded} of {requests} requests succeeded")
