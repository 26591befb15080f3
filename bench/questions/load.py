"""How many requests does our client make, beside a tool that does nothing else, of the same server?"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bench.generators import ADDRESSES, CONNECTIONS, MESSAGE_BYTES, Load, TwoSubnets, loads
from bench.peers import Ends, Stages
from bench.process import FAILURES, FailedError, Place
from bench.results import Answer, Cell, Target
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
    """What generators of one kind made in one round, side by side."""

    per_s: float
    user_us: float
    """User CPU time per request."""
    system_us: float


def answer(setup: Setup) -> Answer:
    """Generators in turn, one and two at a time, round by round; medians of the rounds."""
    found = Answer(
        "load",
        "Requests over a plain veth: median of the rounds",
        (
            "stack", "generator", "requests/s", "lowest", "highest", "of best", "user us/request",
            "system us/request", "two at once", "counts",
        ),
    )  # fmt: skip
    requests = setup.count(REQUESTS)
    found.notes.append(
        f"{requests} requests of {MESSAGE_BYTES} B on {CONNECTIONS} kept connections, one after the other on each; "
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
        told = json.loads((place.folder / "out.txt").read_text(encoding="utf-8").splitlines()[-1])
        for number in range(copies):
            _check(place, generator, number, requests)
    total = copies * requests
    user_s, system_s = (sum(each[key] for each in told["commands"]) for key in ("user_s", "system_s"))
    return Made(total / told["wall_s"], 1e6 * user_s / total, 1e6 * system_s / total)


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
    medians = {key: statistics.median(one.per_s for one in rounds) for key, rounds in made.items()}
    best = max((rate for (_, copies), rate in medians.items() if copies == 1), default=None)
    for generator in (BUILTIN, load.tool):
        alone, both = medians.get((generator, 1)), medians.get((generator, 2))
        if alone is None or best is None:
            continue
        raised = None if both is None else both / alone
        counts = None if raised is None else "yes" if raised >= RAISED else "no"
        rates = [one.per_s for one in made[generator, 1]]
        found.rows.append(
            (
                load.name,
                generator,
                alone,
                min(rates),
                max(rates),
                alone / best,
                *_cpu(made[generator, 1]),
                raised,
                counts,
            )
        )
    own = [row for row in found.rows if row[:2] == (load.name, BUILTIN)]
    counting = [row for row in own if row[-1] == "yes"]
    if own and not counting:
        found.notes.append(f"{load.name}: a second of our clients did not raise the total, so it was not the limit")
    ratio = counting[0][5] if counting else None
    assert ratio is None or isinstance(ratio, float)
    found.targets.append(Target(f"{load.name}: requests/s, of the best generator's", "", ratio, ">=", LEAST_OF_BEST))


def _cpu(rounds: Sequence[Made]) -> tuple[Cell, Cell]:
    return statistics.median(one.user_us for one in rounds), statistics.median(one.system_us for one in rounds)


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
