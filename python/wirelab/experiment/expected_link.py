"""What a link costs an exchange, roughly and on average: delay, transmission, loss, waking.

A corrupt packet is one that is lost: its receiver's checksum tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise

from wirelab.schema import (
    Corrupt,
    Delay,
    DeliveryTrace,
    DutyCycle,
    FourState,
    GilbertElliott,
    GilbertElliottTime,
    Ieee802154,
    ImpairmentSpec,
    Loss,
    LossPattern,
    Markov,
    MediumSpec,
    Outage,
    RadioSpec,
    Rate,
    Schedule,
    SchedulePoint,
    Serialiser,
    TokenBucket,
    Wifi,
)

OPPORTUNITY_BYTES = 1500
AFTER_OUTAGE_NS = 10**9
"""What is lost in an outage is repeated about so long after it."""
FRAME_154_BYTES, BYTE_154_NS, SYMBOLS_154_NS = 127, 32_000, 320_000
"""A frame's length, a byte at 250 kbit/s, and aUnitBackoffPeriod of IEEE 802.15.4."""
MEAN_BACKOFF_154_NS = 7 * SYMBOLS_154_NS // 2
ACK_154_NS = 12 * 16_000 + 11 * BYTE_154_NS
_PRODUCTS = 50_000
"""As many are worth a rough guess."""


def delay_ns(way: Iterable[ImpairmentSpec]) -> int:
    """One-way delay."""
    total = 0.0
    for stage in way:
        if isinstance(stage, Delay):
            total += stage.delay_ns
        elif isinstance(stage, Schedule):
            total += _mean(stage, lambda point: float(point.delay_ns or 0))
    return round(total)


def sending_ns(way: Iterable[ImpairmentSpec], size: int, packets: int) -> int:
    """Time that so many bytes in so many packets take at the direction's rate."""
    return sum(_stage_ns(stage, size, packets) for stage in way)


def medium_ns(medium: MediumSpec | None, size: int, packets: int) -> int:
    """Time that they hold the medium."""
    match medium:
        case Serialiser():
            return size * 8 * 10**9 // medium.rate_bps
        case Wifi():
            waits = medium.difs_ns + medium.cw_min * medium.slot_ns // 2 + medium.sifs_ns + medium.ack_ns
            airtime = (size + packets * medium.overhead_bytes) * 8 * 10**9 // medium.rate_bps
            return round((packets * (waits + medium.preamble_ns) + airtime) / max(1 - medium.frame_error, 0.01))
        case Ieee802154():
            room = max(FRAME_154_BYTES - medium.mac_bytes, 1)
            frames = max(packets, -(-size // room))
            once = frames * (MEAN_BACKOFF_154_NS + ACK_154_NS) + (size + frames * medium.mac_bytes) * BYTE_154_NS
            return round(once / max(1 - medium.frame_error, 0.01))
    return 0


def medium_loss(medium: MediumSpec | None) -> float:
    """Share of packets that are lost on the air although their frames were repeated."""
    match medium:
        case Wifi() | Ieee802154():
            return medium.frame_error ** (medium.retries + 1)
    return 0.0


def outage_ns(way: Iterable[ImpairmentSpec]) -> int:
    """Waiting for the end of outages that come again and again; one alone is rare."""
    total = 0.0
    for stage in way:
        if isinstance(stage, Outage) and stage.every_ns:
            wait = stage.duration_ns / 2 + (AFTER_OUTAGE_NS if stage.hold_bytes is None else 0)
            total += wait * stage.duration_ns / stage.every_ns
    return round(total)


def waking_ns(radio: RadioSpec | None, gap_ns: int, answer_ns: int, trips: int, first: float) -> int:
    """Waking for an exchange so long after the one before, and for answers that come so long after what they answer.

    `first` is the share of exchanges that begin with the trial, in the deepest sleep. A sleeping radio listens each
    cycle after it fell asleep; without a cycle what waits comes with the next uplink packet.
    """
    if radio is None:
        return 0
    asleep = [sleep for sleep in radio.sleeps if sleep.after_ns < gap_ns]
    later = asleep[-1].wake_ns if asleep else 0
    total = round(first * radio.sleeps[-1].wake_ns + (1 - first) * later)
    waiting = [sleep for sleep in radio.sleeps if sleep.after_ns < answer_ns]
    if waiting:
        slept = answer_ns - waiting[-1].after_ns
        total += trips * (-slept % (waiting[-1].cycle_ns or slept) + waiting[-1].wake_ns)
    return total


def loss(stage: ImpairmentSpec, packets: int | None = None) -> tuple[float, float]:
    """Probability that a packet is lost, and that its repetition is lost too.

    A burst that counts packets is worn down by the repetitions that it causes: what a packet meets is its beginning.
    With `packets` of a trial, a pattern that does not repeat is one of so many.
    """
    match stage:
        case GilbertElliott(p=p, r=r, bad_loss=bad, good_loss=good) if r + bad > 0:
            again = bad * (1 - r)
            met = bad / (1 - (1 - bad) * (1 - r))
            return p * met + good, again
        case FourState(p13=p13, p31=p31, p32=p32, p23=p23, p14=p14):
            outside, inside = (1 - p13 - p14, 0.0, p13, p14), (0.0, 1 - p23, p23, 0.0)
            burst, alone = (p31, p32, 1 - p31 - p32, 0.0), (1.0, 0.0, 0.0, 0.0)
            return _chain_loss((outside, inside, burst, alone), (0.0, 0.0, 1.0, 1.0))
        case Markov():
            return _chain_loss(stage.transitions, stage.loss)
    return _mean_loss(stage, packets), _mean_loss(stage, packets)


def _mean_loss(stage: ImpairmentSpec, packets: int | None) -> float:
    match stage:
        case Loss() | Corrupt():
            return stage.probability
        case GilbertElliottTime(good_ns=good_ns, bad_ns=bad_ns, bad_loss=bad, good_loss=good):
            return (bad_ns * bad + good_ns * good) / (good_ns + bad_ns)
        case LossPattern():
            met = len(stage.pattern) if stage.repeat or packets is None else packets
            return stage.pattern[:met].count("1") / met
        case Schedule():
            return _mean(stage, lambda point: point.loss or 0.0)
    return 0.0


def _stage_ns(stage: ImpairmentSpec, size: int, packets: int) -> int:
    bits = size * 8 * 10**9
    match stage:
        case Rate() | TokenBucket():
            return bits // stage.rate_bps
        case DutyCycle():
            return round(bits / (stage.rate_bps * stage.share))
        case DeliveryTrace():
            apart = stage.opportunities_ms[-1] * 10**6 / len(stage.opportunities_ms)
            return round(apart * max(packets, -(-size // OPPORTUNITY_BYTES)))
        case Schedule():
            limits = [point.rate_bps for point in stage.points if point.rate_bps is not None]
            most = max(limits, default=0)
            mean = _mean(stage, lambda point: float(most if point.rate_bps is None else point.rate_bps))
            return round(bits / mean) if mean > 0 else 0
    return 0


def _mean(stage: Schedule, value: Callable[[SchedulePoint], float]) -> float:
    """Over a schedule's time; a last point without an end counts as long as all before it."""
    last = stage.points[-1].at_ns
    ends = [later.at_ns for _, later in pairwise(stage.points)] + [stage.repeat_ns or 2 * last or 1]
    spans = [end - point.at_ns for point, end in zip(stage.points, ends, strict=True)]
    return sum(span * value(point) for span, point in zip(spans, stage.points, strict=True)) / sum(spans)


@cache
def _chain_loss(transitions: Sequence[Sequence[float]], lost: Sequence[float]) -> tuple[float, float]:
    """Share of packets lost in the long run from the first state on, and of repetitions that follow one."""
    states = range(len(lost))
    at = [1.0] + [0.0] * (len(lost) - 1)
    for _ in range(max(50, _PRODUCTS // len(lost) ** 2)):
        moved = [sum(at[one] * transitions[one][other] for one in states) for other in states]
        at = [(before + after) / 2 for before, after in zip(at, moved, strict=True)]
    first = sum(at[one] * lost[one] for one in states)
    if first == 0:
        return 0.0, 0.0
    both = sum(at[one] * lost[one] * transitions[one][other] * lost[other] for one in states for other in states)
    return first, both / first
