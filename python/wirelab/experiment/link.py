"""A link as written, and the `LinkSpec` it means.

A link is written in layers, each overriding the one before: the `[link]` defaults, a named profile, `[links.NAME]`,
then the levels of factors. `rtt` and `delay` say the same thing in two ways, and a link has one kind of loss: a later
layer's key replaces the whole group.

The chain of each direction is rate, loss, delay: a lost frame has used its airtime, and only frames that were sent
propagate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from wirelab.experiment.quantities import BitRate, Duration, PositiveDuration, Share, Size, Table
from wirelab.schema import (
    Delay,
    GilbertElliott,
    GilbertElliottTime,
    ImpairmentSpec,
    LinkSpec,
    Loss,
    MediumSpec,
    NormalJitter,
    Rate,
    UniformJitter,
)
from wirelab.units import UnitError, duration_ns

LOSSES = ("loss", "gilbert-elliott", "gilbert-elliott-time")
DELAYS = ("rtt", "delay")
_LOSS_FIELDS = tuple(key.replace("-", "_") for key in LOSSES)


def read_jitter(value: object) -> NormalJitter | UniformJitter | None:
    """`"normal 5 ms"` (standard deviation), `"uniform 5 ms"` (half-width), `"none"`, or the same as a table."""
    hint = 'write "normal 5 ms" (standard deviation), "uniform 5 ms" (half-width) or "none"'
    if value == "none":
        return None
    match value:
        case str():
            distribution, _, spread = value.strip().partition(" ")
        case {"distribution": "normal" as distribution, "sigma": spread, **rest} if not rest:
            pass
        case {"distribution": "uniform" as distribution, "half-width": spread, **rest} if not rest:
            pass
        case _:
            raise UnitError("is not a jitter", hint=hint)
    match distribution:
        case "normal":
            return NormalJitter(sigma_ns=duration_ns(spread))
        case "uniform":
            return UniformJitter(half_width_ns=duration_ns(spread))
    raise UnitError(f"unknown distribution '{distribution}'", hint=hint)


Jitter = Annotated[
    NormalJitter | UniformJitter | None,
    BeforeValidator(read_jitter),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": "^(none|(normal|uniform) .+)$", "examples": ["normal 5 ms"]},
                {"type": "object", "required": ["distribution"]},
            ]
        }
    ),
]


class GilbertElliottTable(Table):
    """Gilbert-Elliott loss per packet: netem's four parameters, by netem's names."""

    p: Share = Field(description="Probability per packet of moving from the good to the bad state.")
    r: Share = Field(description="Probability per packet of moving from the bad to the good state.")
    bad_loss: Share = Field(alias="1-h", description="Loss in the bad state.")
    good_loss: Share = Field(alias="1-k", description="Loss in the good state.")


class GilbertElliottTimeTable(Table):
    """Gilbert-Elliott loss whose state evolves in time."""

    good: PositiveDuration = Field(description="Mean sojourn in the good state.")
    bad: PositiveDuration = Field(description="Mean sojourn in the bad state.")
    bad_loss: Share = Field(description="Loss in the bad state.")
    good_loss: Share = Field(default=0.0, description="Loss in the good state.")


class MediumTable(Table):
    """A serialiser that both directions share, such as half-duplex air."""

    rate: BitRate
    queue: Size = Field(description="Bytes that may wait for each port.")
    overhead: Size = Field(default=0, description="Bytes added to each packet's IP length.")


class DirectionTable(Table):
    """What one direction has; each key overrides the link's own."""

    delay: Duration | None = Field(default=None, description="One-way delay.")
    jitter: Jitter = Field(default=None, description="Spread of the one-way delay.")
    loss: Share | None = Field(default=None, description="Independent loss per packet.")
    gilbert_elliott: GilbertElliottTable | None = None
    gilbert_elliott_time: GilbertElliottTimeTable | None = None
    rate: BitRate | None = Field(default=None, description="Rate at which packets are serialised.")
    queue: Size | None = Field(default=None, description="Bytes that may wait behind the packet being sent.")
    overhead: Size = Field(default=0, description="Bytes that the rate counts for each packet beside its IP length.")


class LinkTable(DirectionTable):
    """A link; delay, jitter, rate and loss act on both directions unless said otherwise."""

    rtt: Duration | None = Field(default=None, description="Round-trip time, split equally between the directions.")
    direction: Literal["both", "uplink", "downlink"] = Field(default="both", description="Which way loss acts.")
    uplink: DirectionTable | None = Field(default=None, description="From client to server.")
    downlink: DirectionTable | None = Field(default=None, description="From server to client.")
    medium: MediumTable | None = None
    profile: str | None = Field(default=None, description="A shipped link to start from; see `wirelab list links`.")


class LinkConflictError(ValueError):
    """Keys of one link that contradict one another."""

    def __init__(self, key: str, what: str, hint: str) -> None:
        super().__init__(what)
        self.key = key
        self.hint = hint


def merge(layers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """One table out of layers as written; a later layer wins."""
    merged: dict[str, Any] = {}
    for layer in layers:
        _displace(merged, layer, keep=True)
        for way in ("uplink", "downlink"):
            if way in merged:
                merged[way] = dict(merged[way])
                _displace(merged[way], layer, keep=False)
                _displace(merged[way], layer.get(way, {}), keep=True)
        _overlay(merged, layer)
    return merged


def check_conflicts(table: Mapping[str, Any]) -> None:
    """Refuse keys of one layer that contradict one another."""
    _one_of(table, DELAYS, "give the round trip or the one-way delay")
    _one_of(table, LOSSES, "give one kind of loss")
    for way in ("uplink", "downlink"):
        side = table.get(way)
        if not isinstance(side, Mapping):
            continue
        _one_of(side, LOSSES, "give one kind of loss", prefix=f"{way}.")
        if "delay" in side and "rtt" in table:
            raise LinkConflictError(
                "rtt", f"rtt is split equally, but {way} has its own delay", "give uplink.delay and downlink.delay"
            )
        if table.get("direction", "both") != "both" and any(key in side for key in LOSSES):
            raise LinkConflictError(
                "direction", f"direction says which way loss acts, and {way} does too", "remove one of them"
            )


def link_spec(link: LinkTable) -> LinkSpec:
    """What the data plane is told."""
    return LinkSpec(
        uplink=_chain(link, "uplink", link.uplink),
        downlink=_chain(link, "downlink", link.downlink),
        medium=None
        if link.medium is None
        else MediumSpec(rate_bps=link.medium.rate, queue_bytes=link.medium.queue, overhead_bytes=link.medium.overhead),
    )


def _displace(below: dict[str, Any], above: Mapping[str, Any], *, keep: bool) -> None:
    """Drop keys of the groups that `above` decides; with `keep`, not those that it overlays itself."""
    for group in (DELAYS, LOSSES):
        if any(key in above for key in group):
            for key in group:
                if not (keep and key in above):
                    below.pop(key, None)


def _overlay(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    for key, value in above.items():
        if isinstance(value, Mapping) and isinstance(below.get(key), Mapping):
            below[key] = dict(below[key])
            _overlay(below[key], value)
        else:
            below[key] = value


def _one_of(table: Mapping[str, Any], keys: tuple[str, ...], hint: str, prefix: str = "") -> None:
    present = [key for key in keys if key in table]
    if len(present) > 1:
        raise LinkConflictError(prefix + present[1], f"{present[0]} and {present[1]} exclude one another", hint)


def _chain(link: LinkTable, way: str, own: DirectionTable | None) -> tuple[ImpairmentSpec, ...]:
    written = own.model_fields_set if own is not None else set()

    def chosen(name: str) -> Any:
        return getattr(own if name in written else link, name)

    chain: list[ImpairmentSpec] = []
    rate, queue = chosen("rate"), chosen("queue")
    if rate is not None:
        if queue is None:
            raise LinkConflictError("rate", "a rate needs a queue", 'say how much may wait, such as queue = "64 kB"')
        chain.append(Rate(rate_bps=rate, queue_bytes=queue, overhead_bytes=chosen("overhead")))
    elif queue is not None:
        raise LinkConflictError("queue", "a queue needs a rate", "without a rate nothing ever waits")
    if own is not None and any(name in written for name in _LOSS_FIELDS):
        chain += _losses(own)
    elif link.direction in ("both", way):
        chain += _losses(link)
    delay, jitter = chosen("delay"), chosen("jitter")
    delay_ns = delay if delay is not None else (link.rtt or 0) // 2
    if delay_ns or jitter is not None:
        chain.append(Delay(delay_ns=delay_ns, jitter=jitter))
    return tuple(chain)


def _losses(side: DirectionTable) -> list[ImpairmentSpec]:
    if side.loss:
        return [Loss(probability=side.loss)]
    if (packets := side.gilbert_elliott) is not None:
        return [GilbertElliott(p=packets.p, r=packets.r, bad_loss=packets.bad_loss, good_loss=packets.good_loss)]
    if (time := side.gilbert_elliott_time) is not None:
        return [
            GilbertElliottTime(good_ns=time.good, bad_ns=time.bad, bad_loss=time.bad_loss, good_loss=time.good_loss)
        ]
    return []
