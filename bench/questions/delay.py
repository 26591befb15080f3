"""How far off is a delay? One way, against plain veth, with delay, loss and rate stages and the packet log on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.flow import Plan, send
from bench.peers import Peer, Stages, Veth
from bench.process import FAILURES, FailedError, User, run, spinner
from bench.results import Answer, Target
from bench.setup import Setup, first_cpu

DELAYS_MS = (1.0, 10.0, 100.0)
PACKETS = 5000
INTERVAL_US = 1000.0
RATE_BPS = 1_000_000_000
LOSS = 0.001
SHARES = (0.5, 0.99, 0.999)
_BARE_S = 10.0
"""What the standalone thread may take beyond its instants."""
FIFO = "fifo"
"""The link's thread with real-time scheduling."""


@dataclass(frozen=True)
class Condition:
    """Who measures, and what else the machine does."""

    user: User
    scheduling: str
    busy: bool

    @property
    def words(self) -> str:
        """As in the tables."""
        return f"{self.user.name}, {self.scheduling}, {'other core busy' if self.busy else 'quiet'}"

    @property
    def targets_us(self) -> dict[str, float]:
        """What Wirelab's link should reach."""
        if self.scheduling != FIFO:
            return {} if self.busy else {"p50": 10.0, "p99": 50.0}
        return {"p99": 50.0} if self.busy else {"p50": 5.0, "p99": 20.0, "p99.9": 50.0}


def answer(setup: Setup) -> Answer:
    """Every emulator that is here, in every condition that this user may have."""
    found = Answer(
        "delay",
        "One-way delay beyond plain veth's median and what was configured, microseconds",
        ("condition", "delay/ms", "path", "p50", "p99", "p99.9", "max", "packets"),
    )
    found.notes.append(
        f"a packet of {Plan(1, 1).ip_bytes} bytes each {INTERVAL_US / 1e3:g} ms on average; rate "
        f"{RATE_BPS / 1e9:g} Gbit/s, loss {LOSS:.1%} and packet log where the emulator has them; veth has no setting, "
        "and its rows are against its own median, which stands in brackets"
    )
    found.notes.append(
        "standalone thread: sleeps and spins until as many deadlines as the link's thread, with the same scheduling, "
        "but carries no packet; its wake-up latency is the machine's part"
    )
    cpu = first_cpu()
    for user in setup.users:
        for busy in (False, True) if cpu is not None else (False,):
            with spinner(cpu if busy else None):
                _measure(setup, Condition(user, setup.scheduling[user.name], busy), found)
    if cpu is None:
        found.notes.append("one CPU only: there is no other core to be busy")
    if FIFO not in setup.scheduling.values():
        found.notes.append("nobody here may use SCHED_FIFO: run the bench as root for its rows")
    return found


def _measure(setup: Setup, condition: Condition, found: Answer) -> None:
    plan = Plan(setup.count(PACKETS), INTERVAL_US)
    try:
        veth = _one_way(setup, Veth(), Stages(0.0), plan, condition.user)
    except FAILURES as error:
        found.notes.append(f"{condition.words}: veth, which the others are measured against, failed: {error}")
        for delay_ms in DELAYS_MS:
            _judge(found, condition, delay_ms, {})
        return
    base = float(np.median(veth))
    found.rows.append((condition.words, None, f"veth ({base:.1f})", *figures_of(veth - base).values(), len(veth)))
    try:
        standalone = _standalone(setup, plan, condition.user)
        found.rows.append(
            (condition.words, None, "standalone thread", *figures_of(standalone).values(), len(standalone))
        )
    except FailedError as error:
        found.notes.append(f"{condition.words}: the standalone thread failed: {error}")
    for delay_ms in DELAYS_MS:
        stages = Stages(delay_ms, RATE_BPS, LOSS)
        for peer in setup.peers:
            if (why := peer.refuses(stages, condition.user)) is not None:
                _note(found, f"{condition.words}: {peer.name} not measured: {why}")
                continue
            try:
                one_way = _one_way(setup, peer, stages, plan, condition.user)
            except FAILURES as error:
                found.notes.append(f"{condition.words}, {delay_ms:g} ms: {peer.name} failed: {error}")
                if peer.name == "wirelab":
                    _judge(found, condition, delay_ms, {})
                continue
            figures = figures_of(one_way - base - 1e3 * peer.configured_ms(stages, plan.ip_bytes))
            found.rows.append((condition.words, delay_ms, peer.name, *figures.values(), len(one_way)))
            if peer.name == "wirelab":
                _judge(found, condition, delay_ms, figures)


def _one_way(setup: Setup, peer: Peer, stages: Stages, plan: Plan, user: User) -> npt.NDArray[np.float64]:
    with setup.place(user) as place:
        one_way = send(setup.instruments, peer, stages, plan, place).one_way_us
    if len(one_way) < plan.packets // 2:
        raise FailedError(f"{len(one_way)} of {plan.packets} packets arrived")
    return one_way


def _standalone(setup: Setup, plan: Plan, user: User) -> npt.NDArray[np.float64]:
    """How late a thread is that only has to be on time, microseconds."""
    words = [str(setup.instruments), "wakeup"]
    words += ["--instants", str(plan.packets), "--interval-us", f"{plan.interval_us:.3f}"]
    with setup.place(user) as place:
        text = run(words, place, 2 * plan.seconds + _BARE_S)
    return np.array(text.split(), dtype=np.int64) / 1e3


def figures_of(errors_us: npt.NDArray[Any]) -> dict[str, float]:
    """Quantiles that are values that occurred, and the largest."""
    values = np.quantile(errors_us, SHARES, method="inverted_cdf")
    return dict(
        zip(("p50", "p99", "p99.9", "max"), (round(float(v), 2) for v in (*values, errors_us.max())), strict=True)
    )


def _judge(found: Answer, condition: Condition, delay_ms: float, figures: dict[str, float]) -> None:
    found.targets += [
        Target(f"{condition.words}, {delay_ms:g} ms: {name}", "us", figures.get(name), "<=", target)
        for name, target in condition.targets_us.items()
    ]


def _note(found: Answer, words: str) -> None:
    if words not in found.notes:
        found.notes.append(words)
