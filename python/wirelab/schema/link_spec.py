"""An emulated path between hosts of a slot: one chain of impairments per direction, which all hosts of a side
share. `uplink` carries packets from the near side (the client's) to the far one (the server's), `downlink`
the other way.

Generated from `schema/link-spec.json` by `make generate`; do not edit.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from wirelab.schema.base import Border, Probability, Unsigned, Unsigned32, is_default


class AddressFamily(StrEnum):
    """A version of IP."""

    IPV4 = "ipv4"
    """RFC 791."""
    IPV6 = "ipv6"
    """RFC 8200. Needs an MTU of at least 1280."""


class Dependence(StrEnum):
    """Which remote ends share a mapping, or may send through one."""

    ENDPOINT_INDEPENDENT = "endpoint-independent"
    """All of them."""
    ADDRESS_DEPENDENT = "address-dependent"
    """Those of one address."""
    ADDRESS_AND_PORT_DEPENDENT = "address-and-port-dependent"
    """One address and port."""


class NormalJitter(Border):
    """Normal with this standard deviation."""

    distribution: Literal["normal"] = "normal"
    sigma_ns: Unsigned
    """Standard deviation."""


class UniformJitter(Border):
    """Uniform on mean ± this half-width."""

    distribution: Literal["uniform"] = "uniform"
    half_width_ns: Unsigned
    """Half-width."""


class ParetoJitter(Border):
    """netem's `pareto` table: Pareto with shape 3, shifted to mean 0 and scaled as netem does."""

    distribution: Literal["pareto"] = "pareto"
    sigma_ns: Unsigned
    """netem's jitter."""


class ParetoNormalJitter(Border):
    """netem's `paretonormal` table: a quarter normal, three quarters Pareto."""

    distribution: Literal["pareto-normal"] = "pareto-normal"
    sigma_ns: Unsigned
    """netem's jitter."""


class TableJitter(Border):
    """A table of quantiles: offsets from the mean at equally spaced probabilities from 0 to 1, linear between them."""

    distribution: Literal["table"] = "table"
    offsets_ns: tuple[int, ...]
    """In ascending order, at least two."""


JitterSpec = Annotated[
    NormalJitter | UniformJitter | ParetoJitter | ParetoNormalJitter | TableJitter, Field(discriminator="distribution")
]


class DropTail(Border):
    """First in, first out; an arrival that does not fit is dropped."""

    discipline: Literal["drop-tail"] = "drop-tail"
    bytes: Unsigned | None = None
    """Bytes that may wait, behind the packet being sent."""
    packets: Unsigned32 | None = None
    """Packets that may wait. At least one of the two bounds is given."""


class Codel(Border):
    """CoDel (RFC 8289) with a drop-tail bound."""

    discipline: Literal["codel"] = "codel"
    bytes: Unsigned
    """Bytes that may wait."""
    interval_ns: Unsigned
    """INTERVAL: about the longest round trip."""
    target_ns: Unsigned
    """TARGET: acceptable standing delay."""


class FqCodel(Border):
    """FQ-CoDel (RFC 8290): flows served by deficit round robin, each with CoDel."""

    discipline: Literal["fq-codel"] = "fq-codel"
    flows: Unsigned32
    """Number of queues that flows are hashed to."""
    interval_ns: Unsigned
    """INTERVAL of each flow's CoDel."""
    packets: Unsigned32
    """Packets that may wait in all queues together."""
    quantum_bytes: Unsigned32
    """Bytes that a queue may send in its turn."""
    target_ns: Unsigned
    """TARGET of each flow's CoDel."""


QueueSpec = Annotated[DropTail | Codel | FqCodel, Field(discriminator="discipline")]


class SchedulePoint(Border):
    """What holds from an instant on; each absent value means: none (no delay, no limit, no loss)."""

    at_ns: Unsigned
    """From when, counted from the link's first packet."""
    delay_ns: Unsigned | None = None
    """One-way delay. Packets do not overtake one another when it falls."""
    loss: Probability | None = None
    """Loss probability per packet."""
    rate_bps: Unsigned | None = None
    """Rate; 0 means that nothing is sent until the next point."""


class Delay(Border):
    """Propagation delay. With jitter, departures never overtake one another unless `overtaking` is set: a packet
    that would leaves with its predecessor.
    """

    kind: Literal["delay"] = "delay"
    correlation: Probability = Field(default=0.0, exclude_if=is_default)
    """netem's correlation of successive draws (0 to 1)."""
    delay_ns: Unsigned
    """Mean one-way delay."""
    jitter: JitterSpec | None = None
    """Spread around the mean; absent means constant."""
    overtaking: bool = Field(default=False, exclude_if=is_default)
    """Packets leave by their own delay, also before packets that came earlier, as netem's jitter has it."""


class Loss(Border):
    """Loss with the same probability for each packet; independent without `correlation`."""

    kind: Literal["loss"] = "loss"
    correlation: Probability = Field(default=0.0, exclude_if=is_default)
    """netem's correlation of successive draws (0 to 1)."""
    probability: Probability
    """Loss probability per packet."""


class GilbertElliott(Border):
    """Gilbert-Elliott loss in netem's parametrisation and convention: the state before the packet's transition
    decides whether it is lost. Starts in the stationary distribution.
    """

    kind: Literal["gilbert-elliott"] = "gilbert-elliott"
    bad_loss: Probability
    """Loss probability in the bad state (netem's `1-h`)."""
    good_loss: Probability
    """Loss probability in the good state (netem's `1-k`)."""
    p: Probability
    """Probability per packet of moving from the good to the bad state."""
    r: Probability
    """Probability per packet of moving from the bad to the good state."""


class GilbertElliottTime(Border):
    """Gilbert-Elliott loss with a state that evolves in time: a burst passes while a sparse sender is silent. Starts
    stationary.
    """

    kind: Literal["gilbert-elliott-time"] = "gilbert-elliott-time"
    bad_loss: Probability
    """Loss probability in the bad state."""
    bad_ns: Unsigned
    """Mean sojourn in the bad state (exponential)."""
    good_loss: Probability
    """Loss probability in the good state."""
    good_ns: Unsigned
    """Mean sojourn in the good state (exponential)."""


class FourState(Border):
    """netem's `loss state`: a Markov chain of four states (1 received, 2 received within a burst, 3 lost within a
    burst, 4 lost alone) that moves with each packet.
    """

    kind: Literal["four-state"] = "four-state"
    p13: Probability
    """From received to lost within a burst."""
    p14: Probability
    """From received to lost alone."""
    p23: Probability
    """From received within a burst to lost within a burst."""
    p31: Probability
    """From lost within a burst to received."""
    p32: Probability
    """From lost within a burst to received within a burst."""


class Markov(Border):
    """Loss by a Markov chain of any number of states that moves with each packet; the state before the packet's
    transition decides whether it is lost. Starts in the stationary distribution.
    """

    kind: Literal["markov"] = "markov"
    loss: tuple[Probability, ...]
    """Loss probability in each state."""
    transitions: tuple[tuple[Probability, ...], ...]
    """Row by row, the probability of moving from one state to another; each row sums to 1."""


class LossPattern(Border):
    """Loss by a given pattern, one character for each packet: `0` passes, `1` is lost."""

    kind: Literal["loss-pattern"] = "loss-pattern"
    pattern: str
    """At least one character."""
    repeat: bool
    """Begin again at its end; else all packets after it pass."""


class Reorder(Border):
    """Reordering: some packets are delayed, and later ones overtake them (late packets by RFC 4737)."""

    kind: Literal["reorder"] = "reorder"
    by_ns: Unsigned
    """For how long."""
    correlation: Probability = Field(default=0.0, exclude_if=is_default)
    """netem's correlation of successive draws (0 to 1)."""
    probability: Probability
    """Probability per packet of being delayed."""


class Duplicate(Border):
    """Duplication: some packets leave twice, at the same instant."""

    kind: Literal["duplicate"] = "duplicate"
    correlation: Probability = Field(default=0.0, exclude_if=is_default)
    """netem's correlation of successive draws (0 to 1)."""
    probability: Probability
    """Probability per packet."""


class Corrupt(Border):
    """Corruption: one random bit of some packets is inverted, after the link layer's header."""

    kind: Literal["corrupt"] = "corrupt"
    correlation: Probability = Field(default=0.0, exclude_if=is_default)
    """netem's correlation of successive draws (0 to 1)."""
    probability: Probability
    """Probability per packet."""


class Rate(Border):
    """Serialisation at a fixed rate behind a queue."""

    kind: Literal["rate"] = "rate"
    overhead_bytes: Unsigned32 = 0
    """Bytes added to each packet's IP length, for example 14 for an Ethernet header. May be 0."""
    queue: QueueSpec
    """What waits behind the packet being sent, in bytes of the same base as the rate."""
    rate_bps: Unsigned
    """Rate at which packets are serialised, counting IP bytes plus `overhead_bytes` for each packet."""


class TokenBucket(Border):
    """A token bucket: packets leave without delay while there are tokens, which come at a rate. Starts full."""

    kind: Literal["token-bucket"] = "token-bucket"
    burst_bytes: Unsigned
    """Size of the bucket, in bytes of the same base as the rate; a larger packet is dropped."""
    overhead_bytes: Unsigned32 = 0
    """Bytes added to each packet's IP length."""
    queue: QueueSpec
    """What waits for tokens."""
    rate_bps: Unsigned
    """Rate of tokens."""


class DeliveryTrace(Border):
    """Delivery opportunities as mahimahi records them: at each a link can deliver 1500 bytes; unused ones are lost.
    Begins again at its end.
    """

    kind: Literal["delivery-trace"] = "delivery-trace"
    opportunities_ms: tuple[Unsigned32, ...]
    """Milliseconds from the trace's beginning, in order; the last is the trace's length and is above 0."""
    overhead_bytes: Unsigned32 = 0
    """Bytes added to each packet's IP length."""
    queue: QueueSpec
    """What waits for an opportunity."""


class Schedule(Border):
    """Delay, rate and loss that change at given instants, counted from the link's first packet."""

    kind: Literal["schedule"] = "schedule"
    overhead_bytes: Unsigned32 = 0
    """Bytes added to each packet's IP length."""
    points: tuple[SchedulePoint, ...]
    """In order of their instants; the first at 0."""
    queue: QueueSpec
    """What waits behind the packet being sent."""
    repeat_ns: Unsigned | None = None
    """Begin again after this; absent means that the last point holds for ever."""


class Outage(Border):
    """Times without a link, counted from the link's first packet: an outage, or with `hold_bytes` a handover."""

    kind: Literal["outage"] = "outage"
    duration_ns: Unsigned
    """How long each lasts."""
    every_ns: Unsigned | None = None
    """From the beginning of one to that of the next; absent means that there is one only."""
    hold_bytes: Unsigned | None = None
    """IP bytes that are kept meanwhile and leave at its end; absent means that all are dropped."""
    start_ns: Unsigned
    """When the first begins."""


class DutyCycle(Border):
    """A sender that may use only a share of the time: after each packet it is silent for airtime × (1 / share − 1)
    (ETSI EN 300 220, LoRaWAN).
    """

    kind: Literal["duty-cycle"] = "duty-cycle"
    overhead_bytes: Unsigned32 = 0
    """Bytes added to each packet's IP length."""
    queue: QueueSpec
    """What waits."""
    rate_bps: Unsigned
    """Rate at which packets are serialised, counting IP bytes plus `overhead_bytes` for each packet."""
    share: Probability
    """Share of the time that may be used, above 0 and at most 1."""


ImpairmentSpec = Annotated[
    Delay
    | Loss
    | GilbertElliott
    | GilbertElliottTime
    | FourState
    | Markov
    | LossPattern
    | Reorder
    | Duplicate
    | Corrupt
    | Rate
    | TokenBucket
    | DeliveryTrace
    | Schedule
    | Outage
    | DutyCycle,
    Field(discriminator="kind"),
]


class LinkBackend(StrEnum):
    """What delays, drops and holds back a link's packets."""

    WIRELAB = "wirelab"
    """The link process. Its packet log says of each packet whether it was delivered or dropped, and when."""
    NETEM = "netem"
    """The kernel's netem and tbf, after the link process, which passes on every packet immediately: its packet log
    says what entered netem, and a trial's report counts what netem did.
    """


class Serialiser(Border):
    """A serialiser that stations use in turn, without contention or errors."""

    kind: Literal["serialiser"] = "serialiser"
    overhead_bytes: Unsigned32 = 0
    """Bytes added to each packet's IP length."""
    queue_bytes: Unsigned | None = None
    """Bytes that may wait at each station, behind the packet being sent."""
    queue_packets: Unsigned32 | None = None
    """Packets that may wait there. At least one of the two bounds is given."""
    rate_bps: Unsigned
    """Rate at which packets are serialised, counting IP bytes plus `overhead_bytes` for each packet."""


class Wifi(Border):
    """Air shared by CSMA/CA as in IEEE 802.11's distributed coordination function: a frame for each packet, an ACK
    for each frame, retries with doubling contention windows, collisions where two stations count down to the same
    slot.
    """

    kind: Literal["wifi"] = "wifi"
    ack_ns: Unsigned
    """Duration of an ACK frame with its preamble."""
    cw_max: Unsigned32
    """CWmax, slots."""
    cw_min: Unsigned32
    """CWmin, slots."""
    difs_ns: Unsigned
    """DIFS."""
    frame_error: Probability
    """Probability that a data frame is not received, whatever its size."""
    overhead_bytes: Unsigned32
    """Bytes of MAC header, LLC and FCS for each packet."""
    preamble_ns: Unsigned
    """Preamble and PHY header of a data frame."""
    queue_bytes: Unsigned | None = None
    """Bytes that may wait at each station, behind the packet being sent."""
    queue_packets: Unsigned32 | None = None
    """Packets that may wait there. At least one of the two bounds is given."""
    rate_bps: Unsigned
    """Rate of data frames, counting IP bytes plus `overhead_bytes`."""
    retries: Unsigned32
    """Maximum number of retransmissions of a frame before it is dropped; dot11ShortRetryLimit is one more, since it
    counts the first try.
    """
    sifs_ns: Unsigned
    """SIFS."""
    slot_ns: Unsigned
    """Slot time."""


class Ieee802154(Border):
    """IEEE 802.15.4 (2.4 GHz O-QPSK) under 6LoWPAN: fragments (RFC 4944), unslotted CSMA-CA, ACKs and retries; a
    datagram is lost with one frame.
    """

    kind: Literal["ieee802154"] = "ieee802154"
    compressed_bytes: Unsigned32
    """Bytes that header compression (RFC 6282) saves of each datagram's IP and UDP headers."""
    frame_error: Probability
    """Probability that a data frame is not received."""
    mac_bytes: Unsigned32
    """Bytes of MAC header and FCS in each data frame."""
    max_backoffs: Unsigned32
    """macMaxCSMABackoffs."""
    max_be: Unsigned32
    """macMaxBE."""
    min_be: Unsigned32
    """macMinBE."""
    queue_bytes: Unsigned | None = None
    """Bytes that may wait at each station, behind the packet being sent."""
    queue_packets: Unsigned32 | None = None
    """Packets that may wait there. At least one of the two bounds is given."""
    retries: Unsigned32
    """macMaxFrameRetries."""


MediumSpec = Annotated[Serialiser | Wifi | Ieee802154, Field(discriminator="kind")]


class Unmapped(StrEnum):
    """What becomes of a TCP segment that has no mapping and opens no connection."""

    DROP = "drop"
    """It is dropped without notice."""
    RESET = "reset"
    """It is dropped, and its sender gets a reset."""


class NatSpec(Border):
    """Address translation in the terms of RFC 4787 and RFC 5382: a mapping begins with an uplink packet and ends
    after a time without packets, and the next one has another port.
    """

    filtering: Dependence
    """Which remote ends may send through a mapping (RFC 4787, REQ-8)."""
    inbound_refresh: bool
    """Packets from outside refresh a mapping too (RFC 4787, REQ-6)."""
    keep_port: bool
    """A mapping has its host's own port if that is free (RFC 4787, section 4.2.1)."""
    mapping: Dependence
    """Which destinations share a mapping (RFC 4787, REQ-1)."""
    ports: tuple[int, int]
    """The first and the last port that mappings have otherwise."""
    table_size: Unsigned32
    """The most mappings at a time."""
    tcp_established_timeout_ns: Unsigned
    """Idle time after which the mapping of an established TCP connection ends (RFC 5382, REQ-5: at least 2 hours 4
    minutes).
    """
    tcp_transitory_timeout_ns: Unsigned
    """Idle time after which the mapping of a TCP connection ends that opens or closes (RFC 5382, REQ-5: at least 4
    minutes).
    """
    udp_timeout_ns: Unsigned
    """Idle time after which a mapping of UDP ends (RFC 4787, REQ-5: at least 2 minutes)."""
    unmapped_segment: Unmapped
    """What becomes of a TCP segment without a mapping that opens no connection."""


class SleepSpec(Border):
    """One depth of sleep."""

    after_ns: Unsigned
    """How long no packet has passed when it begins."""
    cycle_ns: Unsigned | None = None
    """How often the client listens, from the instant at which this sleep began; absent means never, so that downlink
    packets wait for an uplink packet.
    """
    wake_ns: Unsigned
    """How long waking takes, before an uplink packet may go or after a downlink packet was announced."""


class RadioSpec(Border):
    """How the client's radio goes to sleep while no packet is sent or received, and what waking takes. It starts in
    the deepest sleep.
    """

    buffer_bytes: Unsigned
    """IP bytes that the network keeps for a sleeping client, and as many that the client keeps while its radio
    wakes; beyond them packets are dropped.
    """
    sleeps: tuple[SleepSpec, ...]
    """From light to deep: C-DRX, DRX or eDRX, PSM; or Wi-Fi's power save."""


class LinkSpec(Border):
    """An emulated path between hosts of a slot: one chain of impairments per direction, which all hosts of a side
    share. `uplink` carries packets from the near side (the client's) to the far one (the server's), `downlink`
    the other way.
    """

    backend: LinkBackend | None = None
    """What runs it. Absent means Wirelab's own emulator."""
    downlink: tuple[ImpairmentSpec, ...]
    """Impairments that packets from server to client pass, in this order."""
    family: AddressFamily | None = None
    """Family of the addresses that the endpoints use. Absent means IPv4."""
    medium: MediumSpec | None = None
    """A stage that both directions share (half-duplex air, a gateway's bottleneck); passed after the direction's own
    chain.
    """
    mtu: Unsigned32 | None = None
    """MTU of the endpoints' interfaces, IP bytes: the kernel fragments (IPv4, RFC 791; IPv6, RFC 8200) and TCP
    announces its MSS as on any such interface. Absent means that of the campaign.
    """
    nat: NatSpec | None = None
    """Address translation at the far end of the path: uplink packets pass it after everything else, downlink packets
    before.
    """
    radio: RadioSpec | None = None
    """Sleep of the client's radio, which both directions share: uplink packets pass it before their chain, downlink
    packets after theirs. Only if the client is alone on its side.
    """
    uplink: tuple[ImpairmentSpec, ...]
    """Impairments that packets from client to server pass, in this order."""


SLOTS = {
    "outage": "outage",
    "rate": "rate",
    "token-bucket": "rate",
    "delivery-trace": "rate",
    "schedule": "rate",
    "duty-cycle": "rate",
    "loss": "loss",
    "gilbert-elliott": "loss",
    "gilbert-elliott-time": "loss",
    "four-state": "loss",
    "markov": "loss",
    "loss-pattern": "loss",
    "corrupt": "corrupt",
    "duplicate": "duplicate",
    "delay": "delay",
    "reorder": "reorder",
}
"""Kinds of `ImpairmentSpec` in the order in which packets pass them by default, each with its slot."""
