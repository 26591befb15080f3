"""Effects on packets, as told to the data plane (`crates/wirelab-schema/src/impairment.rs`)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from wirelab.schema.base import Border, Probability, Unsigned, Unsigned32


def _is_zero(value: float) -> bool:
    return value == 0


def _is_false(value: bool) -> bool:
    return not value


class NormalJitter(Border):
    """Normal around the mean."""

    distribution: Literal["normal"] = "normal"
    sigma_ns: Unsigned


class UniformJitter(Border):
    """Uniform on mean ± half-width."""

    distribution: Literal["uniform"] = "uniform"
    half_width_ns: Unsigned


class ParetoJitter(Border):
    """netem's table `pareto`."""

    distribution: Literal["pareto"] = "pareto"
    sigma_ns: Unsigned


class ParetoNormalJitter(Border):
    """netem's table `paretonormal`."""

    distribution: Literal["pareto-normal"] = "pareto-normal"
    sigma_ns: Unsigned


class TableJitter(Border):
    """Offsets from the mean at equally spaced probabilities from 0 to 1, linear between them."""

    distribution: Literal["table"] = "table"
    offsets_ns: tuple[int, ...]


JitterSpec = Annotated[
    NormalJitter | UniformJitter | ParetoJitter | ParetoNormalJitter | TableJitter,
    Field(discriminator="distribution"),
]


class DropTail(Border):
    """First in, first out; an arrival that does not fit is dropped."""

    discipline: Literal["drop-tail"] = "drop-tail"
    bytes: Unsigned | None = None
    packets: Unsigned32 | None = None


class Codel(Border):
    """CoDel (RFC 8289) with a drop-tail bound."""

    discipline: Literal["codel"] = "codel"
    target_ns: Unsigned
    interval_ns: Unsigned
    bytes: Unsigned


class FqCodel(Border):
    """FQ-CoDel (RFC 8290)."""

    discipline: Literal["fq-codel"] = "fq-codel"
    target_ns: Unsigned
    interval_ns: Unsigned
    flows: Unsigned32
    quantum_bytes: Unsigned32
    packets: Unsigned32


QueueSpec = Annotated[DropTail | Codel | FqCodel, Field(discriminator="discipline")]


class Delay(Border):
    """Propagation delay, constant without `jitter`."""

    kind: Literal["delay"] = "delay"
    delay_ns: Unsigned
    jitter: JitterSpec | None = None
    correlation: Probability = Field(default=0.0, exclude_if=_is_zero)
    overtaking: bool = Field(default=False, exclude_if=_is_false)


class Loss(Border):
    """Loss with one probability; independent without `correlation`."""

    kind: Literal["loss"] = "loss"
    probability: Probability
    correlation: Probability = Field(default=0.0, exclude_if=_is_zero)


class FourState(Border):
    """netem's `loss state`: 1 received, 2 received within a burst, 3 lost within a burst, 4 lost alone."""

    kind: Literal["four-state"] = "four-state"
    p13: Probability
    p31: Probability
    p32: Probability
    p23: Probability
    p14: Probability


class Markov(Border):
    """Loss by a Markov chain that moves with each packet, row by row."""

    kind: Literal["markov"] = "markov"
    transitions: tuple[tuple[Probability, ...], ...]
    loss: tuple[Probability, ...]


class LossPattern(Border):
    """One character for each packet: `0` passes, `1` is lost."""

    kind: Literal["loss-pattern"] = "loss-pattern"
    pattern: str
    repeat: bool


class GilbertElliott(Border):
    """Gilbert-Elliott loss per packet, netem's parameters and convention."""

    kind: Literal["gilbert-elliott"] = "gilbert-elliott"
    p: Probability
    r: Probability
    bad_loss: Probability
    good_loss: Probability


class GilbertElliottTime(Border):
    """Gilbert-Elliott loss whose state evolves in time."""

    kind: Literal["gilbert-elliott-time"] = "gilbert-elliott-time"
    good_ns: Unsigned
    bad_ns: Unsigned
    bad_loss: Probability
    good_loss: Probability


class Reorder(Border):
    """Some packets are held back, and those behind overtake them."""

    kind: Literal["reorder"] = "reorder"
    probability: Probability
    by_ns: Unsigned
    correlation: Probability = Field(default=0.0, exclude_if=_is_zero)


class Duplicate(Border):
    """Some packets leave twice."""

    kind: Literal["duplicate"] = "duplicate"
    probability: Probability
    correlation: Probability = Field(default=0.0, exclude_if=_is_zero)


class Corrupt(Border):
    """One random bit of some packets is inverted."""

    kind: Literal["corrupt"] = "corrupt"
    probability: Probability
    correlation: Probability = Field(default=0.0, exclude_if=_is_zero)


class Rate(Border):
    """Serialisation at a fixed rate behind a queue."""

    kind: Literal["rate"] = "rate"
    rate_bps: Unsigned
    queue: QueueSpec
    overhead_bytes: Unsigned32 = 0


class TokenBucket(Border):
    """Packets leave at once while there are tokens, which come at a rate. Starts full."""

    kind: Literal["token-bucket"] = "token-bucket"
    rate_bps: Unsigned
    burst_bytes: Unsigned
    queue: QueueSpec
    overhead_bytes: Unsigned32 = 0


class DeliveryTrace(Border):
    """Delivery opportunities of 1500 bytes as mahimahi records them; begins again at its end."""

    kind: Literal["delivery-trace"] = "delivery-trace"
    opportunities_ms: tuple[Unsigned32, ...]
    queue: QueueSpec
    overhead_bytes: Unsigned32 = 0


class SchedulePoint(Border):
    """What holds from an instant on; an absent value means none."""

    at_ns: Unsigned
    delay_ns: Unsigned | None = None
    rate_bps: Unsigned | None = None
    loss: Probability | None = None


class Schedule(Border):
    """Delay, rate and loss that change at given instants, counted from the link's first packet."""

    kind: Literal["schedule"] = "schedule"
    points: tuple[SchedulePoint, ...]
    repeat_ns: Unsigned | None = None
    queue: QueueSpec
    overhead_bytes: Unsigned32 = 0


class Outage(Border):
    """Times without a link; with `hold_bytes` a handover."""

    kind: Literal["outage"] = "outage"
    start_ns: Unsigned
    duration_ns: Unsigned
    every_ns: Unsigned | None = None
    hold_bytes: Unsigned | None = None


class DutyCycle(Border):
    """A sender that may use only a share of the time."""

    kind: Literal["duty-cycle"] = "duty-cycle"
    rate_bps: Unsigned
    share: Probability
    queue: QueueSpec
    overhead_bytes: Unsigned32 = 0


ImpairmentSpec = Annotated[
    Delay
    | Loss
    | FourState
    | Markov
    | LossPattern
    | Reorder
    | Duplicate
    | Corrupt
    | GilbertElliott
    | GilbertElliottTime
    | Rate
    | TokenBucket
    | DeliveryTrace
    | Schedule
    | Outage
    | DutyCycle,
    Field(discriminator="kind"),
]
