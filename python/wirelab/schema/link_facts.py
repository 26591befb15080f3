"""What `wirelab-agent link-facts` answers to each [`LinkSpec`], one line each.

Generated from `schema/link-facts.json` by `make generate`; do not edit.
"""

from __future__ import annotations

from enum import StrEnum

from wirelab.schema.base import Received, Unsigned, Unsigned32


class Airtime(Received):
    """For how long a packet holds a medium that it alone uses: means, to about a twelfth."""

    compressed_bytes: Unsigned32
    """IP bytes that are not sent, for their headers are compressed."""
    frame_bytes: Unsigned32 | None = None
    """Bytes sent in a frame; `None`: a frame for each packet."""
    per_byte_ns: float
    """For each byte sent."""
    per_frame_ns: float
    """For each frame."""


class Away(Received):
    """Times without a link."""

    duration_ns: Unsigned
    """How long each lasts."""
    every_ns: Unsigned | None = None
    """From the beginning of one to that of the next; `None` if there is only one."""
    holds: bool
    """True if packets are held until its end."""


class Chance(Received):
    """What befalls packets with a probability."""

    by_ns: Unsigned | None = None
    """For how long a packet is delayed."""
    correlated: bool
    """True if draws are correlated."""
    probability: float
    """As configured."""
    share: float
    """Share of packets in the long run."""


class DelayFacts(Received):
    """Delay without queues."""

    mean_ns: float
    """Mean; of a schedule over its repetition, else at its end."""
    random: bool
    """True if it differs by chance."""
    reach_ns: float
    """How far jitter moves 999 of 1,000 packets from the mean at most."""
    spread_ns: Unsigned
    """About how far a packet may be moved, a coarse bound."""


class Kept(StrEnum):
    """Where packets are counted that a stage keeps: inside at the end, or dropped with this cause."""

    AQM = "aqm"
    """Dropped by active queue management."""
    HELD = "held"
    """Inside."""
    NAT = "nat"
    """Dropped without an address mapping."""
    OUTAGE = "outage"
    """Dropped while there was no link."""
    QUEUE_FULL = "queue-full"
    """Dropped for want of room."""
    RETRIES = "retries"
    """Dropped by the link layer after its last retry."""


class Step(Received):
    """A stage on a packet's path."""

    copies: bool
    """True if it makes packets."""
    keeps: tuple[Kept, ...]
    """Where packets are counted that enter and do not leave, sorted."""
    loses: bool
    """True if it loses packets on purpose."""


class LossChain(Received):
    """A Markov chain that moves with each packet."""

    loss: tuple[float, ...]
    """Loss probability in each state."""
    stationary: tuple[float, ...]
    """Share of each state in the long run, from the first state on."""
    transitions: tuple[tuple[float, ...], ...]
    """Row by row, the probability of moving from one state to another."""


class InTime(Received):
    """A loss probability that moves between two values with time."""

    decay_per_ns: float
    """The states of two instants are correlated by exp(-decay x the time between them)."""
    variance: float
    """Variance of the loss probability."""


class Pattern(Received):
    """Packets that are lost by their number."""

    lost: tuple[Unsigned, ...]
    """Positions that are lost, ascending, from 0."""
    period: Unsigned
    """Length of the pattern, packets."""
    repeat: bool
    """It begins again at its end; else all later packets pass."""


class LossFacts(Received):
    """Loss on purpose."""

    again: float
    """Probability that its repetition is lost too."""
    chain: LossChain | None = None
    """A chain of states that moves with each packet."""
    design_effect: float | None = None
    """Variance of a long run's loss count over that of independent loss; `None` if it is not known."""
    first: float
    """Probability that a packet after a time without loss is lost."""
    in_time: InTime | None = None
    """A state that moves with time."""
    pattern: Pattern | None = None
    """Losses that are known beforehand."""
    share: float | None = None
    """Share of packets lost in the long run; `None` if it depends on when packets are sent."""


class SchedulePoint(Received):
    """What holds from an instant on; each absent value means: none (no delay, no limit, no loss)."""

    at_ns: Unsigned
    """From when, counted from the link's first packet."""
    delay_ns: Unsigned | None = None
    """One-way delay. Packets do not overtake one another when it falls."""
    loss: float | None = None
    """Loss probability per packet."""
    rate_bps: Unsigned | None = None
    """Rate; 0 means that nothing is sent until the next point."""


class OverTime(Received):
    """What holds from each instant on."""

    points: tuple[SchedulePoint, ...]
    """In order of their instants, the first at 0."""
    repeat_ns: Unsigned | None = None
    """They begin again after this; `None`: the last point holds for ever."""


class QueueFacts(Received):
    """What may wait."""

    aqm: str | None = None
    """The name of its active queue management."""
    bytes: Unsigned | None = None
    """Bytes, if they are bounded."""
    fair: bool
    """True if a packet's wait depends on its flow."""
    packets: Unsigned32 | None = None
    """Packets, if they are bounded."""


class RateFacts(Received):
    """How fast packets pass."""

    busy_bps: float
    """What a sender gets that always has a packet."""
    changes: str | None = None
    """Why the rate varies."""
    lone_bps: Unsigned | None = None
    """The rate at which a packet is sent that meets no other; `None` if it leaves without delay or the rate varies."""
    mean_bps: Unsigned | None = None
    """Sustained rate; `None` if there is not always a limit."""
    overhead_bytes: Unsigned32
    """Bytes counted for each packet in addition to its IP length."""
    quantum_bytes: Unsigned32 | None = None
    """A packet that meets no other uses whole quanta of so many bytes."""
    sparse: str | None = None
    """Why few packets pass in a given time."""
    steady_bps: Unsigned | None = None
    """The one rate that a train of packets shows."""


class Facts(Received):
    """What is known of one stage of a chain. Every field has to be given: a fact that does not apply is said to be
    none.
    """

    away: Away | None = None
    """Times without a link."""
    corrupted: Chance | None = None
    """Packets with an inverted bit."""
    delay: DelayFacts | None = None
    """What it adds to a packet's delay without queues and other packets; `None` if nothing."""
    duplicated: Chance | None = None
    """Packets that leave twice."""
    held_back: Chance | None = None
    """Packets that are delayed, so that later ones overtake them."""
    keeps: tuple[Kept, ...]
    """Where packets are counted that enter and do not leave, sorted."""
    loss: LossFacts | None = None
    """What it loses on purpose; `None` if nothing."""
    of_one_packet: bool
    """True if it needs packets as they are on a wire, with their checksums and no larger than the MTU; with offloads
    they are not.
    """
    over_time: OverTime | None = None
    """Delay, rate and loss that change with time."""
    overtakes: bool
    """True if a packet may overtake an earlier one of its flow."""
    per_packet: bool
    """True if it does something to packets one by one, so that many have to be sent to measure it."""
    queue: QueueFacts | None = None
    """What may wait; `None` of a stage without a queue."""
    rate: RateFacts | None = None
    """How fast packets pass; `None` without a limit."""
    varies: str | None = None
    """Why the delay of a packet that meets no other has no one figure."""
    words: str
    """In people's words, with every number."""


class DirectionFacts(Received):
    """What is known of one direction."""

    path: tuple[Step, ...]
    """All stages that a packet passes, in order, those shared by both directions included."""
    stages: tuple[Facts, ...]
    """Its own chain, stage by stage."""


class SharedQueue(Received):
    """What may wait at a shared stage."""

    downlink: QueueFacts | None = None
    """Of the downlink's packets."""
    uplink: QueueFacts | None = None
    """Of the uplink's packets."""


class Service(Received):
    """How long a packet takes of one lone sender, for sizes of a range: means, linear in the packet's IP bytes."""

    busy_ns: float
    """From one packet to the next that waits already: of a packet without bytes."""
    busy_ns_per_byte: float
    """For each byte."""
    from_bytes: Unsigned32
    """Smallest size."""
    idle_ns: float
    """From arrival to the last bit if no other station sends: of a packet without bytes."""
    idle_ns_per_byte: float
    """For each byte."""
    to_bytes: Unsigned32
    """Largest size, itself included."""


class SleepSpec(Received):
    """One depth of sleep."""

    after_ns: Unsigned
    """How long no packet has passed when it begins."""
    cycle_ns: Unsigned | None = None
    """How often the client listens, from the instant at which this sleep began; absent means never, so that downlink
    packets wait for an uplink packet.
    """
    wake_ns: Unsigned
    """How long waking takes, before an uplink packet may go or after a downlink packet was announced."""


class SharedFacts(Received):
    """What is known of one stage that both directions share. Every field has to be given: a fact that does not apply
    is said to be none.
    """

    airtime: Airtime | None = None
    """For how long packets hold it."""
    contends: bool
    """True if its senders contend for it, so that frames of two may collide."""
    frame_loss: float
    """Share of frames lost although they were repeated. A packet is lost with any of its frames."""
    keeps: tuple[tuple[Kept, ...], tuple[Kept, ...]]
    """Where packets are counted that enter and do not leave, by direction: uplink, downlink; sorted."""
    key: str
    """Its key in the link's description."""
    opened_by_uplink: bool
    """True if downlink packets pass only after an uplink packet of their flow."""
    queue: SharedQueue | None = None
    """What may wait, by direction."""
    random: bool
    """True if the delay of a packet that meets no other differs by chance."""
    rate_bps: Unsigned | None = None
    """Rate of its frames."""
    service: tuple[Service, ...]
    """How long a packet of a lone sender takes, by its size; sizes outside all pieces: not known. Empty if it takes
    no time.
    """
    silence_ns: Unsigned | None = None
    """How long no packet has passed when a UDP flow's state ends."""
    silence_words: str | None = None
    """What that time is called."""
    sleeps: tuple[SleepSpec, ...]
    """The depths of a radio's sleep, from light to deep."""
    tells_flows_apart: bool
    """True if the treatment of a packet depends on its flow."""
    words: str
    """In people's words, with every number."""


class LinkFacts(Received):
    """What is known of a link without sending a packet through it."""

    downlink: DirectionFacts
    """From server to client."""
    shared: tuple[SharedFacts, ...]
    """What both directions share, from the near end to the far end."""
    uplink: DirectionFacts
    """From client to server."""
    words: tuple[tuple[str, str], ...]
    """Where, and what happens there in people's words, from the client's radio to the far end."""


class LinkRefusal(Received):
    """Why the link is refused."""

    at: str
    """Where in the description, for example `uplink[1].queue`; empty for all of it."""
    direction: str | None = None
    """`uplink` or `downlink`, if it is a stage of a direction's chain."""
    hint: str | None = None
    """What to write instead."""
    key: str
    """The key of an experiment file's link that says it, for example `queue`; a stage that has no other key is said
    by its kind.
    """
    stage: int | None = None
    """Which stage of the chain, from 0."""
    what: str
    """What is wrong, with the value."""
