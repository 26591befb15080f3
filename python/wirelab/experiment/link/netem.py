"""What the kernel's netem can do of a link; the rest is refused by name, as the agent refuses it.

netem has one order: it duplicates or drops, corrupts, delays, reorders, and serialises last. A constant delay gives the
same wherever it stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wirelab.schema import (
    Corrupt,
    Delay,
    DropTail,
    Duplicate,
    FourState,
    GilbertElliott,
    ImpairmentSpec,
    JitterSpec,
    LinkSpec,
    Loss,
    NormalJitter,
    ParetoNormalJitter,
    Rate,
    Reorder,
    TableJitter,
    TokenBucket,
    UniformJitter,
)

ORDER = ("duplicate", "loss", "corrupt", "delay", "reorder", "rate")
VERBS = ("duplicates", "drops", "corrupts", "delays", "reorders", "serialises")
_ORDER_HINT = f"order = {json.dumps(ORDER)}"
_OWN = 'leave it to backend = "wirelab", or take it out'
_FARTHEST_NS = (2**31 - 1) * 32767 / 8192
"""From the mean: an entry of netem's table times its jitter, which has 31 bits."""
_MOST_BYTES = 2**32 - 1
_MOST_OVERHEAD = 2**31 - 1
_KEYS = {"delivery-trace": "trace", "token-bucket": "burst"}
"""Keys of stages that have other names in a link's table."""


class Refusal(NamedTuple):
    """What netem cannot do: the link's key, the reason, and what to do."""

    key: str
    what: str
    hint: str


def shared_refusal(link: LinkSpec) -> Refusal | None:
    """Why netem cannot run what both directions share."""
    for key in ("medium", "radio", "nat"):
        if getattr(link, key) is not None:
            return Refusal(key, f"netem has no {key}", f'{key} = "none", or backend = "wirelab"')
    return None


def refusal(stages: Sequence[ImpairmentSpec]) -> Refusal | None:
    """Why netem cannot run a direction."""
    return next(_refusals(stages), None)


def _refusals(stages: Sequence[ImpairmentSpec]) -> Iterator[Refusal]:
    last = -1
    for stage in stages:
        if stage.kind not in _STEPS:
            yield Refusal(_KEYS.get(stage.kind, stage.kind), f"netem has no {stage.kind}", _OWN)
            return
        step = _STEPS[stage.kind]
        if isinstance(stage, Delay) and stage.jitter is None:
            continue
        if step < last:
            yield Refusal("order", f"netem {VERBS[step]} before it {VERBS[last]}", _ORDER_HINT)
        last = step
    kinds = [stage.kind for stage in stages]
    if "duplicate" in kinds:
        yield from _copies(stages)
    for stage in stages:
        match stage:
            case Delay(jitter=jitter) if jitter is not None:
                yield from _jitter(stage, jitter)
            case Rate() | TokenBucket():
                yield from _rate(stage)


def _copies(stages: Sequence[ImpairmentSpec]) -> Iterator[Refusal]:
    if any(isinstance(stage, Loss | GilbertElliott | FourState) for stage in stages):
        what = "netem takes the copy of a packet back instead of losing it, where it duplicates"
        yield Refusal("duplicate", what, _OWN)
    delays = any(isinstance(stage, Delay) for stage in stages)
    reorders, paces = (any(isinstance(stage, kind) for stage in stages) for kind in (Reorder, Rate))
    if delays + reorders + paces > 1 or any(isinstance(stage, TokenBucket) for stage in stages):
        what = "netem duplicates only where it does all else itself (since Linux 6.16), and this takes several"
        yield Refusal("duplicate", what, _OWN)


def _jitter(stage: Delay, jitter: JitterSpec) -> Iterator[Refusal]:
    if stage.correlation:
        what = "netem takes the remainder of a correlated number, which leaves nothing of it"
        yield Refusal("jitter-correlation", what, _OWN)
    farthest = _farthest_ns(jitter)
    if farthest > _FARTHEST_NS:
        what = f"{farthest / 1e9:.3f} s from the mean is farther than netem can take (8.59 s)"
        yield Refusal("jitter", what, _OWN)


def _farthest_ns(jitter: JitterSpec) -> float:
    """Farthest entry of its table, about."""
    match jitter:
        case UniformJitter(half_width_ns=width):
            return float(width)
        case TableJitter(offsets_ns=offsets):
            return float(max(abs(offset) for offset in offsets))
        case NormalJitter(sigma_ns=sigma):
            return 3.67 * sigma
        case ParetoNormalJitter(sigma_ns=sigma):
            return 3.92 * sigma
        case other:
            return 4.0 * other.sigma_ns


def _rate(stage: Rate | TokenBucket) -> Iterator[Refusal]:
    queue = stage.queue
    bounds = (queue.bytes is not None, queue.packets is not None) if isinstance(queue, DropTail) else (True, True)
    if isinstance(stage, Rate) and bounds != (False, True):
        what, hint = "netem's queue is drop-tail, counted in packets alone", 'such as queue = "100 packets"'
        yield Refusal("queue", what, hint)
    if isinstance(stage, TokenBucket) and bounds != (True, False):
        what, hint = "tbf's queue is drop-tail, counted in bytes alone", 'such as queue = "64 kB"'
        yield Refusal("queue", what, hint)
    if stage.rate_bps % 8:
        what = f"netem counts whole bytes a second, and {stage.rate_bps} bit/s are not"
        yield Refusal("rate", what, f"such as {stage.rate_bps // 8 * 8} bit/s")
    if isinstance(stage, TokenBucket):
        for key, size in (("burst", stage.burst_bytes), ("queue", getattr(queue, "bytes", None))):
            if size is not None and size > _MOST_BYTES:
                yield Refusal(key, f"{size} is more than tbf can take (32 bits)", "less than 4.29 GB")
    if stage.overhead_bytes > _MOST_OVERHEAD:
        yield Refusal("overhead", f"{stage.overhead_bytes} is too much", f"at most {_MOST_OVERHEAD} B (31 bits)")


_STEPS = {
    kind: step
    for step, kinds in enumerate((
        (Duplicate,), (Loss, GilbertElliott, FourState), (Corrupt,), (Delay,), (Reorder,), (Rate, TokenBucket),
    ))
    for kind in (each.model_fields["kind"].default for each in kinds)
}  # fmt: skip
