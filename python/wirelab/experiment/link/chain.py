"""A link's table to what the data plane gets.

Packets pass a direction's stages in the order of `STAGES`, or of `order`: an outage comes first, a lost frame has used
its airtime, and only frames that were sent propagate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from wirelab.experiment.link.layers import LOSSES, RATES, LinkConflictError
from wirelab.experiment.link.table import LANE_MTU, LEAST_IPV6_MTU, PLAIN_KINDS, STAGES, DirectionTable, LinkTable
from wirelab.schema import (
    AddressFamily,
    Corrupt,
    Delay,
    DeliveryTrace,
    DropTail,
    Duplicate,
    DutyCycle,
    ImpairmentSpec,
    LinkBackend,
    LinkSpec,
    Loss,
    Rate,
    Schedule,
    TokenBucket,
    Wifi,
)
from wirelab.schema.link_answer import AskLink, LinkRefusedError
from wirelab.units import format_rate, format_size

IDLE_QUEUE = DropTail(packets=1000)
"""Queue of a schedule without a rate: the border wants one, and nothing waits in it."""

LEAST_PACKETS = 10
"""A default queue holds as many whole packets, however short the round trip."""

_LOSS_FIELDS = tuple(key.replace("-", "_") for key in LOSSES)


def link_spec(link: LinkTable, ask: AskLink) -> LinkSpec:
    """What the data plane gets; IPv4 and our own emulator as nothing, for scenarios of before there was a choice are
    the same ones. Raises `LinkConflictError` also for what the data plane refuses.
    """
    ipv6 = link.family == "ipv6"
    if ipv6 and link.mtu is not None and link.mtu < LEAST_IPV6_MTU:
        what = f"an MTU of {format_size(link.mtu)} is less than IPv6 can have"
        raise LinkConflictError("mtu", what, f'at least {LEAST_IPV6_MTU} B, or family = "ipv4"')
    if link.signal is not None and not (link.technology is not None and isinstance(link.medium, Wifi)):
        raise LinkConflictError(
            "signal", "signal needs a technology and a medium of kind wifi", 'such as profile = "wifi-n"'
        )
    sides = {way: _Side(link, way, getattr(link, way)) for way in ("uplink", "downlink")}
    spec = LinkSpec(
        uplink=sides["uplink"].chain(),
        downlink=sides["downlink"].chain(),
        medium=link.medium,
        radio=None if link.radio is None else link.radio.spec(),
        nat=None if link.nat is None else link.nat.spec(),
        mtu=link.mtu,
        family=AddressFamily.IPV6 if ipv6 else None,
        backend=LinkBackend.NETEM if link.backend == "netem" else None,
    )
    try:
        ask(spec)
    except LinkRefusedError as error:
        why = error.why
        if why.direction is None:
            raise LinkConflictError(why.key, why.what, why.hint) from None
        raise sides[why.direction].conflict(why.key, why.what, why.hint) from None
    return spec


@dataclass(frozen=True)
class _Side:
    """One direction of a link; its own keys override the link's."""

    link: LinkTable
    way: str
    own: DirectionTable | None

    def chain(self) -> tuple[ImpairmentSpec, ...]:
        """The stages in the order in which packets pass them."""
        stages = {name: stage for name in STAGES if (stage := self._stage(name)) is not None}
        order = self.value("order")
        if order is None:
            return tuple(stages.values())
        for name in stages:
            if name not in order:
                raise self.conflict("order", f"has no place for {name}", f"name it: {', '.join([*order, name])}")
        return tuple(stages[name] for name in order if name in stages)

    def _stage(self, name: str) -> ImpairmentSpec | None:
        if name not in PLAIN_KINDS:
            return _BUILDERS[name](self)
        key = name.replace("-", "_")
        found: ImpairmentSpec | None = getattr(self.losing(), key, None) if name in LOSSES else self.value(key)
        return found

    def losing(self) -> DirectionTable | None:
        """The table that says what the direction loses: its own if that names a loss, else the link's if meant."""
        if self.own is not None and any(self.has(name) for name in _LOSS_FIELDS):
            return self.own
        return self.link if self.link.direction in ("both", self.way) else None

    def has(self, name: str) -> bool:
        """Whether the direction itself says so."""
        return self.own is not None and name in self.own.model_fields_set

    def says(self, name: str) -> bool:
        """Whether the direction or the link says so."""
        return self.has(name) or name in self.link.model_fields_set

    def value(self, name: str) -> Any:
        return getattr(self.own if self.has(name) else self.link, name)

    def conflict(self, key: str, what: str, hint: str | None) -> LinkConflictError:
        prefix = f"{self.way}." if self.has(key.partition(".")[0].replace("-", "_")) else ""
        return LinkConflictError(prefix + key, what, hint)


def _outage(side: _Side) -> ImpairmentSpec | None:
    outage = side.value("outage")
    return None if outage is None else outage.spec()


def _rate(side: _Side) -> ImpairmentSpec | None:
    table: DirectionTable = side.link
    if side.own is not None and any(getattr(side.own, name) is not None for name in RATES):
        table = side.own
    kind = next((name for name in RATES if getattr(table, name) is not None), None)
    _check_companions(side, kind)
    queue, overhead = side.value("queue"), side.value("overhead")
    if kind is None:
        return None
    points = table.schedule.spec_points() if table.schedule is not None else ()
    if queue is None and points and all(point.rate_bps is None for point in points):
        queue = IDLE_QUEUE
    if queue is None and kind == "rate":
        queue = DropTail(bytes=_default_queue_bytes(side, table.rate or 0))
    if queue is None:
        raise side.conflict(kind, f"a {kind} needs a queue", 'set the queue, such as queue = "64 kB"')
    match kind:
        case "trace":
            return DeliveryTrace(opportunities_ms=table.trace or (), queue=queue, overhead_bytes=overhead)
        case "schedule":
            repeat = table.schedule.repeat if table.schedule is not None else None
            return Schedule(points=points, repeat_ns=repeat, queue=queue, overhead_bytes=overhead)
    rate, burst, share = table.rate or 0, side.value("burst"), side.value("duty_cycle")
    if share is not None:
        return DutyCycle(rate_bps=rate, share=share, queue=queue, overhead_bytes=overhead)
    if burst is not None:
        return TokenBucket(rate_bps=rate, burst_bytes=burst, queue=queue, overhead_bytes=overhead)
    return Rate(rate_bps=rate, queue=queue, overhead_bytes=overhead)


def default_queues(link: LinkTable) -> list[str]:
    """A line for each rate of the link's table without a queue: which queue it gets."""
    found: dict[str, list[str]] = {}
    for way in ("uplink", "downlink"):
        side = _Side(link, way, getattr(link, way))
        rate = link.rate if side.own is None or side.own.rate is None else side.own.rate
        if rate is not None and side.value("queue") is None:
            size = _default_queue_bytes(side, rate)
            least = size == _least_queue_bytes(side)
            why = f"{LEAST_PACKETS} whole packets" if least else "one bandwidth-delay product"
            words = f"no queue is given for {format_rate(rate)}, so {format_size(size)} may wait ({why})"
            found.setdefault(words, []).append(way)
    return [f"{' and '.join(ways)}: {words}" for words, ways in found.items()]


def _default_queue_bytes(side: _Side, rate_bps: int) -> int:
    """One bandwidth-delay product of the link, or some whole packets if that is more."""
    ways = (_Side(side.link, way, getattr(side.link, way)) for way in ("uplink", "downlink"))
    round_trip_ns = sum(_one_way_ns(way) for way in ways)
    return max(_least_queue_bytes(side), -(-rate_bps * round_trip_ns // (8 * 10**9)))


def _least_queue_bytes(side: _Side) -> int:
    return LEAST_PACKETS * (side.link.mtu or LANE_MTU)


def _one_way_ns(side: _Side) -> int:
    delay: int | None = side.value("delay")
    return delay if delay is not None else (side.link.rtt or 0) // 2


def _check_companions(side: _Side, kind: str | None) -> None:
    """Refuse what belongs to a rate where there is none, and a burst that no packet fits."""
    for key in ("burst", "duty-cycle"):
        name = key.replace("-", "_")
        if kind != "rate" and (side.has(name) or (kind is None and side.says(name))):
            raise side.conflict(key, f"{key} needs a rate", 'such as rate = "250 kbit/s"')
    if kind is None and side.value("queue") is not None:
        raise side.conflict("queue", "a queue needs a rate", "without a rate nothing ever waits")
    if kind is None and side.value("overhead"):
        raise side.conflict("overhead", "an overhead needs a rate", "a medium has its own overhead")
    burst = side.value("burst")
    if burst is not None and side.value("duty_cycle") is not None:
        raise side.conflict("duty-cycle", "burst and duty-cycle exclude one another", "remove one of them")
    least = (side.link.mtu or LANE_MTU) + side.value("overhead")
    if burst is not None and burst < least:
        what = f"a burst of {format_size(burst)} lets no packet of {least} B pass"
        raise side.conflict("burst", what, f"at least {least} B, or give the link a smaller mtu")


def _loss(side: _Side) -> ImpairmentSpec | None:
    if side.says("loss_correlation") and not any(side.says(name) for name in _LOSS_FIELDS):
        raise side.conflict("loss-correlation", "loss-correlation needs a loss", 'such as loss = "1 %"')
    if (table := side.losing()) is None:
        return None
    if table.loss:
        return Loss(probability=table.loss, correlation=side.value("loss_correlation"))
    kinds = (table.gilbert_elliott, table.gilbert_elliott_time, table.four_state, table.markov, table.loss_pattern)
    return next((kind.spec() for kind in kinds if kind is not None), None)


def _corrupt(side: _Side) -> ImpairmentSpec | None:
    chance = side.value("corrupt")
    if chance is None or chance.probability == 0:
        return None
    return Corrupt(probability=chance.probability, correlation=chance.correlation)


def _duplicate(side: _Side) -> ImpairmentSpec | None:
    chance = side.value("duplicate")
    if chance is None or chance.probability == 0:
        return None
    return Duplicate(probability=chance.probability, correlation=chance.correlation)


def _delay(side: _Side) -> ImpairmentSpec | None:
    delay_ns, jitter = _one_way_ns(side), side.value("jitter")
    if jitter is None:
        for key in ("jitter-correlation", "overtaking"):
            if side.value(key.replace("-", "_")) and not side.says("jitter"):
                raise side.conflict(key, f"{key} needs a jitter", 'such as jitter = "normal 5 ms"')
        return Delay(delay_ns=delay_ns) if delay_ns else None
    return Delay(
        delay_ns=delay_ns,
        jitter=jitter,
        correlation=side.value("jitter_correlation"),
        overtaking=side.value("overtaking"),
    )


def _reorder(side: _Side) -> ImpairmentSpec | None:
    reorder = side.value("reorder")
    return None if reorder is None else reorder.spec()


_BUILDERS: dict[str, Callable[[_Side], ImpairmentSpec | None]] = {
    "outage": _outage,
    "rate": _rate,
    "loss": _loss,
    "corrupt": _corrupt,
    "duplicate": _duplicate,
    "delay": _delay,
    "reorder": _reorder,
}
