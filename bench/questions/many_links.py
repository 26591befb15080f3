"""Do a hundred links in one process keep the delay figures of one?"""

from __future__ import annotations

import json
from typing import Any

from bench.process import FAILURES, User, run
from bench.results import Answer, Target
from bench.setup import Setup

DELAYS_MS = "1,10,100"
MANY = 100
PACKETS_PER_SECOND = 10
SECONDS = 5
_TIMEOUT_S = 180.0
_FIFO_TARGETS_US = {"p50": 5.0, "p99": 20.0, "p999": 50.0}
_OTHER_TARGETS_US = {"p50": 10.0, "p99": 50.0}


def answer(setup: Setup) -> Answer:
    """One link with all the packets, then a hundred with a hundredth each; both directly after one another."""
    found = Answer(
        "many-links",
        "100 links in one process, 10 packets/s each: one-way delay beyond veth and the configured delay, microseconds",
        ("user", "delay/ms", "links", "scheduling", "veth p50", "p50", "p99", "p99.9", "max", "packets"),
    )
    found.notes.append(
        "by `wirelab-bench calibrate`: a packet's stamp at the server, minus its sending, minus what its link's chain "
        "said, minus plain veth's median, which is from the client to the link's stamp; one link has as many packets "
        "as the hundred together"
    )
    for user in setup.users:
        for links in (1, MANY):
            try:
                rows = _calibrate(setup, user, links)
            except FAILURES as error:
                found.notes.append(f"{user.name}, {links} links: {error}")
                rows = []
            found.rows += [_row(user, row) for row in rows]
            if links == MANY:
                found.targets += _targets(user, setup.scheduling[user.name], rows)
    return found


def _calibrate(setup: Setup, user: User, links: int) -> list[dict[str, Any]]:
    interval_ms = 1e3 / PACKETS_PER_SECOND * links / MANY
    packets = max(round(1e3 * setup.seconds(SECONDS) / interval_ms), 2)
    words = [str(setup.instruments), "calibrate", f"--agent={setup.agent}", "--json"]
    words += ["--delays", DELAYS_MS, "--jobs", str(links)]
    words += ["--interval-ms", f"{interval_ms:g}", "--packets", str(packets)]
    with setup.place(user) as place:
        text = run(words, place, _TIMEOUT_S, environment={"TMPDIR": str(place.folder)})
    return [json.loads(line) for line in text.splitlines()]


def _row(user: User, row: dict[str, Any]) -> tuple[str | int | float | None, ...]:
    added = row["added_us"]
    figures = (added["p50"], added["p99"], added["p999"], added["max"])
    return (user.name, row["delay_ms"], row["lanes"], row["scheduling"], row["veth_p50_us"], *figures, row["packets"])


def _targets(user: User, scheduling: str, rows: list[dict[str, Any]]) -> list[Target]:
    by_delay = {row["delay_ms"]: row["added_us"] for row in rows}
    wanted = _FIFO_TARGETS_US if scheduling == "fifo" else _OTHER_TARGETS_US
    return [
        Target(
            f"{user.name}, {scheduling}, {delay_ms} ms, {MANY} links: {name.replace('999', '99.9')}", "us",
            by_delay.get(int(delay_ms), {}).get(name), "<=", target,
        )
        for delay_ms in DELAYS_MS.split(",")
        for name, target in wanted.items()
    ]  # fmt: skip
