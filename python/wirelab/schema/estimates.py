"""`estimates.json`: what `analyze` writes and the report reads (`docs/reference/estimates.md`). Computes nothing.

The types are those of the document itself, so that a number has one name from the file to the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, NotRequired, get_args

from pydantic import Field
from typing_extensions import TypedDict

from wirelab.launcher import launched
from wirelab.schema.bounds import Bounds, document
from wirelab.schema.document import read_document
from wirelab.schema.plan import Level
from wirelab.schema.recovery import RecoveryRecord

ESTIMATES = "estimates.json"
ESTIMATES_VERSION = 1
ENERGY_VERSION = 2

Grade = Literal["good", "limited", "unusable"]
Flag = Literal["good", "limited", "unusable", "not measured"]
"""Quality of a link's direction; `not measured` where nothing passed."""
End = Literal["client", "server"]
Way = Literal["uplink", "downlink"]

EXACT = "exact for this phase"
"""The method of a number that was the same in every trial under the virtual clock."""
EXACT_IN_PHASES = "exact in every phase tried"
"""The same, where each trial had other phases."""


@document
class EstimateRecord(TypedDict):
    """A number with its interval. Times are in seconds, sizes in bytes, rates in bit/s, energies in J."""

    point: float | None
    """The estimate; null if it lies above the time-out or cannot be formed, and `method` says why."""
    low: float | None
    """Lower bound; null if no interval can be given, and `method` says why."""
    high: float | None
    """Upper bound; null if no interval can be given."""
    level: float
    """Confidence level of the interval, as a fraction."""
    n: int
    """Number of values."""
    method: str
    """How the estimate and its interval were made."""


@document
class ModeRecord(TypedDict):
    """One mode of a distribution: its range, and its share of the values."""

    low: float
    """Lower end of its range."""
    high: float
    """Upper end of its range."""
    share: EstimateRecord
    """Share of the values, as a fraction."""


@document
class PublishedRuleRecord(TypedDict):
    """Values beyond three scaled median absolute deviations removed."""

    removed: int
    """Values that were removed."""
    removed_retransmission_hit: int | None
    """Of the removed values those that a retransmission or loss touched; null where these were not seen."""
    retransmission_hit: int | None
    """Values that a retransmission or loss touched; null if these were not seen."""
    mean: EstimateRecord
    """Mean of the other values."""
    sd: EstimateRecord
    """Standard deviation of the other values."""
    note: str | None
    """A sentence if the median absolute deviation is 0, else null."""


@document
class MetricRecord(TypedDict):
    """One metric of one scenario: completed exchanges, or whole trials of what endpoints used."""

    unit: str
    """Unit of all its numbers."""
    n: int
    """Number of values. Of delays it counts those that timed out, as above the time-out."""
    mean: EstimateRecord
    """Mean; of delays with time-outs counted at `horizon_s`, else over completed exchanges."""
    sd: EstimateRecord
    """Standard deviation of completed exchanges."""
    median: EstimateRecord
    """Median."""
    quantiles: dict[str, EstimateRecord | None]
    """Quantiles by probability, such as `"0.95"`. Null where there are too few values: below 100 for 0.05 and 0.95,
    below 1,000 for 0.99.
    """
    modes: list[ModeRecord]
    """Modes of the distribution."""
    horizon_s: NotRequired[float]
    """Seconds at which time-outs count in the mean. Only of delays that a time-out bounds."""
    time_outs_in_mean: NotRequired[float]
    """Fraction of the mean that time-outs make. Above 0.05 the horizon decides the mean. Only with `horizon_s`."""
    late_share: NotRequired[EstimateRecord | None]
    """Fraction of completed and timed-out exchanges with a delay above 1 s; null if the time-out is shorter and some
    timed out. Only with `horizon_s`.
    """
    published_rule: PublishedRuleRecord | None
    """The same after the outlier rule of the papers; null for what is not a time."""


Outcomes = TypedDict(
    "Outcomes",
    {
        "exchanges": Annotated[int, Field(description="Exchanges of trials that count.")],
        "completed": Annotated[int, Field(description="Exchanges that completed.")],
        "sent": Annotated[int, Field(description="Messages that were sent and that nothing answers.")],
        "arrived": Annotated[
            int | None,
            Field(description="Of these, messages that the link delivered; null if not compared, or without any."),
        ],
        "failed": Annotated[int, Field(description="Exchanges that failed.")],
        "timed-out": Annotated[int, Field(description="Exchanges that timed out.")],
        "unsupported": Annotated[int, Field(description="Exchanges that the protocol or program does not do.")],
        "trials": Annotated[int, Field(description="Trials, without the excluded ones.")],
        "failed_trials": Annotated[int, Field(description="Of these, trials that are neither done nor unsupported.")],
        "unsupported_trials": Annotated[
            int, Field(description="Of these, trials of what a protocol or program does not do.")
        ],
        "exchanges_of_failed_trials": Annotated[
            int, Field(description="Exchanges that failed trials recorded. They are in no other count.")
        ],
        "not-confirmed": Annotated[
            int, Field(description="Of these, exchanges that the packets of the link do not confirm.")
        ],
        "excluded_trials": Annotated[int, Field(description="Attempts that were discarded and run again.")],
    },
)
"""How many exchanges ended how, in how many trials. Excluded trials, and exchanges of failed ones, are in no other
count.
"""
document(Outcomes)


OutcomeKey = Literal[
    "exchanges", "completed", "sent", "arrived", "failed", "timed-out", "unsupported",
    "trials", "failed_trials", "unsupported_trials", "exchanges_of_failed_trials", "not-confirmed", "excluded_trials",
]  # fmt: skip


@document
class Messages(TypedDict):
    """Messages that subscribers lost or received twice, over all trials that are done."""

    lost: int
    """Messages that a subscriber never got."""
    duplicate: int
    """Messages that a subscriber got again."""
    stalls: int | None
    """How often players had to stop; null without a player."""


NatResponse = Literal[
    "continued", "migrated", "resumed", "new handshake", "new connection", "another connection", "timed out",
    "nothing sent after", "not known",
]  # fmt: skip
"""What a client did when the NAT had forgotten its mapping."""
RESPONSES: tuple[NatResponse, ...] = get_args(NatResponse)


@document
class NatRecord(TypedDict):
    """What happened when a client sent and the NAT had forgotten its mapping, over all trials that are done."""

    forgotten: int
    """How often it had."""
    new_end: int
    """Of these, how often the NAT gave another port."""
    dropped: int
    """How often it dropped the packets without a word."""
    reset: int
    """How often it answered with a reset."""
    not_completed: int
    """Exchanges of these connections that did not complete from then on."""
    responses: dict[NatResponse, int]
    """How often the client did what: it used the same association further, the same QUIC connection, a new connection
    that resumed the session, that made a full handshake, or that has none, or one that it had before; no later exchange
    completed; none was begun; nothing answers the messages, or only listens.
    """


SizeOutcomes = TypedDict(
    "SizeOutcomes",
    {
        "bytes": Annotated[int, Field(description="The size.")],
        "exchanges": Annotated[int, Field(description="Exchanges with it.")],
        "completed": Annotated[int, Field(description="Exchanges that completed.")],
        "timed-out": Annotated[int, Field(description="Exchanges that timed out.")],
    },
)
"""Downloads of one size, and how they ended."""
document(SizeOutcomes)


@document
class Downloads(TypedDict):
    """Of downloads of several sizes the largest and the smallest."""

    largest: SizeOutcomes
    """Downloads of the largest size."""
    smallest: SizeOutcomes
    """Downloads of the smallest size."""


@document
class Programs(TypedDict):
    """The program of each role."""

    client: str
    """Program of the client."""
    server: str
    """Program of the server."""


@document
class EndpointWaits(TypedDict):
    """CPU waiting of a scenario's endpoints."""

    wait_s: float | None
    """Seconds for each exchange that both endpoints were ready to run and had no CPU; null if not counted."""
    median_wait_s: NotRequired[float | None]
    """The same in the median trial."""
    most_wait_s: NotRequired[float | None]
    """The same in the trial with the most."""
    share: float | None
    """The wait as a fraction of the exchange."""
    steal: float | None
    """CPUs that a hypervisor gave to others, on average."""
    flag: Grade
    """Quality with regard to CPU contention."""
    why: str
    """The reason, as a sentence."""
    cure: str | None
    """What to do about it; null if the quality is good."""


@document
class EndUse(TypedDict):
    """How busy an endpoint was, from the first exchange's start to the last one's end."""

    cpu: float | None
    """CPUs that it used beyond its idle cost: 1 is one CPU all the time. Null if not counted."""
    waited: float | None
    """Time for which its threads were ready and had no CPU, as a fraction of that time. Null if not counted."""


@document
class GrowthParts(TypedDict):
    """Where the delays of a scenario grow, as fractions of the whole growth."""

    places: float | None
    """In the wait while all places were taken; null if the client does not say when one was free."""
    late: float | None
    """In the wait with a free place: the client was late. Null likewise."""
    inside: float
    """From the start to the end of messages."""


OfferedLimit = Literal["none", "client", "places", "protocol", "server", "link", "not known"]
"""What limits the rate at which messages are served."""


@document
class OfferedRecord(TypedDict):
    """Messages of an open loop: the rate at which they came, and that at which they were served."""

    offered_hz: float
    """Messages a second that were due, of all clients; those to several subscribers count once."""
    served_hz: float
    """Messages a second that were served: the offered rate over 1 and `slope`, and the offered rate if it keeps up."""
    slope: EstimateRecord
    """Growth of the delay in s for each second of intended starts."""
    keeps_up: bool
    """False if delays grow by more than 0.05 s a second, by the interval of `slope` or by that of each trial. Delays
    of such a scenario are not compared.
    """
    limit: OfferedLimit
    """What limits the rate that is served; `none` if it keeps up. `places` are those of `concurrency`."""
    why: str
    """How that is known, as half a sentence; empty if it keeps up."""
    cure: str | None
    """What to do about it; null without."""
    flag: Grade
    """`unusable` if our own client limits, or a server without a CPU."""
    ends: dict[End, EndUse]
    """How busy each endpoint was."""
    growth: NotRequired[GrowthParts]
    """Only if it does not keep up."""


@document
class CpuLimit(TypedDict):
    """The effect of a CPU limit of a host."""

    share: float
    """The limit as a fraction of one CPU."""
    periods: int
    """Periods with work, in all trials."""
    throttled: int
    """Of these, periods in which the host used up its share."""
    throttled_s: float | None
    """Seconds in a trial for which the host was held back."""


@document
class SettingInForce(TypedDict):
    """A setting of one end: as configured, and as connections showed it."""

    setting: str
    """Name of the setting."""
    configured: int
    """The value that the experiment asks for."""
    unit: str | None
    """Unit of the setting; null without one."""
    end: End | None
    """The end whose setting it is; null if nothing is known."""
    announced: list[int] | None
    """Least and most that it announced; null if nothing is known."""
    effective: list[int] | None
    """Least and most that was in effect; null if nothing is known."""
    used: int | None
    """The most that the other end used; null if nothing is known."""
    source: str | None
    """The end that recorded it; null if nothing is known."""
    trials: int
    """Trials that were seen."""
    connections: int
    """Connections that were seen."""
    in_force: bool | None
    """Whether the configured value was in force; null if not known."""
    why: str | None
    """Why it was not in force, or why that is not known."""


@document
class Spent(TypedDict):
    """Bytes of one direction, for one exchange."""

    packets: float
    """Packets."""
    total: float
    """IP bytes that reached the link."""
    ip: float
    """IP headers."""
    transport: float
    """Headers of TCP and UDP, and frames of QUIC."""
    connection: float
    """TCP segments that open or close a connection."""
    acknowledgements: float
    """TCP segments and QUIC datagrams that only acknowledge."""
    retransmitted: float
    """Payload that TCP retransmitted."""
    handshake: float
    """Handshakes, tickets and alerts of TLS, DTLS and QUIC."""
    protection: float
    """Headers, nonces and tags that protect the application's bytes."""
    application: float
    """What the application protocol made: headers and payload."""
    sealed: float
    """Bytes that could not be opened without a secret."""
    other: float
    """Packets that are neither TCP nor UDP, and fragments."""
    payload: float | None
    """Bytes of messages in `application`; null if an exchange failed or something could not be opened."""
    headers: float | None
    """`application` without `payload`."""
    link_layer: float | None
    """What the link's own frames add to `total`; null of a link without frames."""


Part = Literal[
    "packets", "total", "ip", "transport", "connection", "acknowledgements", "retransmitted", "handshake", "protection",
    "application", "sealed", "other", "payload", "headers", "link_layer",
]  # fmt: skip
SPENT: tuple[Part, ...] = get_args(Part)
"""Keys of `Spent`."""


@document
class Day(TypedDict):
    """Bytes of a day of messages, both directions."""

    interval_s: float
    """Seconds between messages."""
    assumed: bool
    """True if nothing says how often a message is sent."""
    messages: float
    """Messages of a day."""
    one_connection: bool
    """True if one connection carries them all."""
    parts: dict[str, float | None]
    """Bytes of each part, both directions."""


@document
class LedgerRecord(TypedDict):
    """The bytes of a captured scenario by purpose."""

    exchanges: int
    """Exchanges that were captured."""
    trials: int
    """Trials that were captured."""
    total: EstimateRecord
    """IP bytes of both directions for one exchange, over trials."""
    up: NotRequired[Spent]
    """Uplink."""
    down: NotRequired[Spent]
    """Downlink."""
    connections: int
    """Connections that the exchanges opened."""
    day: NotRequired[Day]
    """A day of such messages."""


@document
class StateEnergy(Bounds):
    """Time and joules in one state of the radio, for one exchange."""

    seconds: float
    """Seconds in the state, for one exchange."""


@document
class Counted(TypedDict):
    """How many exchanges of how many trials."""

    exchanges: int
    """Number of exchanges."""
    trials: int
    """Number of trials."""


@document
class EnergyParts(TypedDict):
    """What the client's radio took in a trial, and for what: means over trials. The first three make up the last."""

    setup_j: Bounds
    """Joules before the first message, and of opening persistent connections."""
    messages_j: Bounds
    """Joules from each message to the next, the last one's interval included."""
    closing_j: Bounds
    """Joules after the last interval."""
    trial_j: Bounds
    """Joules of the whole trial."""


@document
class EnergyOfScenario(TypedDict):
    """The energy of a message and of a day for the client's radio and processor; null if not known."""

    exchanges: int
    """Completed exchanges that the means of exchanges by themselves are over."""
    trials: int
    """Their trials."""
    with_cpu_time: Counted | None
    """Those whose CPU time is known; null unless it was measured on the device."""
    radio_j: Bounds | None
    """Joules of the radio for one exchange by itself."""
    message_j: Bounds | None
    """Joules of radio and processor for one exchange by itself."""
    states: dict[str, StateEnergy]
    """Joules and seconds by state of the radio, for one exchange by itself."""
    interval_s: float | None
    """Mean seconds from one message to the next; null of exchanges that follow one another."""
    interval_j: Bounds | None
    """Joules of the radio from one message to the next, whatever the message's outcome."""
    setup_j: Bounds | None
    """Joules of the radio for one set-up: of a persistent connection, or of what comes before the first message."""
    setups: int
    """How many set-ups there were."""
    parts: EnergyParts | None
    """The energy of a trial and its parts."""
    days: int
    """Messages that a day's energy is the mean of: not those that opened a connection."""
    no_day: str | None
    """Why there is no day's energy and no battery life; null if there is one, or if only the processor's energy is
    missing.
    """
    day_j: Bounds | None
    """Joules of a day."""
    day_states: dict[str, Bounds] | None
    """Joules of a day by state."""
    battery_days: Bounds | None
    """Life of the battery in days."""


@document
class AnalysedScenario(TypedDict):
    """Everything estimated of one scenario."""

    key: str
    """Key of the scenario in `plan.json`."""
    name: str
    """Levels, joined for people."""
    levels: dict[str, Level]
    """Level of each factor, as written."""
    protocol: str
    """Name of the protocol."""
    implementation: Programs
    """Program of each role."""
    denominators: Outcomes
    """How many exchanges and trials ended how."""
    messages: NotRequired[Messages]
    """Of `pubsub` and `stream` only."""
    nat: NotRequired[NatRecord]
    """Only with a link that translates addresses."""
    downloads: NotRequired[Downloads]
    """Only where downloads of several sizes take turns."""
    metrics: dict[str, MetricRecord]
    """Metrics by name (`wirelab list metrics`)."""
    endpoints: EndpointWaits | None
    """CPU contention of its endpoints; null if no trial counts."""
    cpu: NotRequired[dict[End, CpuLimit]]
    """Only of hosts with a limit."""
    ledger: NotRequired[LedgerRecord]
    """Only of captured scenarios."""
    settings: NotRequired[list[SettingInForce]]
    """Only where numbers are given that may be left to the library."""
    background_bps: NotRequired[EstimateRecord]
    """Only with background traffic: the mean over trials of what it delivered."""
    energy: NotRequired[EnergyOfScenario]
    """Only with a radio."""
    offered: NotRequired[OfferedRecord]
    """Only of an open loop, with 10 messages or more in a trial."""
    recovery: NotRequired[RecoveryRecord]
    """Only with an outage of a link or of the server that a message met."""


@document
class Family(TypedDict):
    """The comparisons whose error rate is controlled together."""

    name: str
    """Name of the family."""
    size: int
    """Number of comparisons."""
    method: str
    """How the error rate is controlled."""
    error_rate: float
    """The error rate that is controlled."""


@document
class Quality(TypedDict):
    """The quality of a comparison."""

    flag: Grade
    """The worst quality of the link, of the endpoints (not for counts), and, of a delay, of the link's mean error
    in relation to the difference.
    """
    why: str
    """The reason, as a sentence."""
    causes: list[str]
    """Which of `the link`, `the machine` and `the effect` make it worse than good. `disturbed exchanges` stands next to
    the link if the difference is not there without the exchanges during which the link was late.
    """
    error_s: float | None
    """The link's mean error over a round trip, in seconds; null if it does not apply."""


@document
class ComparisonRecord(TypedDict):
    """Two scenarios in one metric: `a` over, and minus, `b`."""

    metric: str
    """Name of the metric."""
    a: str
    """Key of a scenario."""
    b: str
    """Key of a scenario that differs in protocol or implementation alone."""
    ratio_of_means: EstimateRecord
    """Mean of `a` over mean of `b`."""
    ratio_of_medians: EstimateRecord
    """Median of `a` over median of `b`."""
    shift: EstimateRecord
    """Hodges-Lehmann estimate of `a` minus `b`."""
    cliffs_delta: EstimateRecord
    """Cliff's delta."""
    p: float
    """p-value of a permutation of whole trials."""
    p_adjusted: float
    """The same, adjusted for the family."""
    family: Family
    """The comparisons whose error rate is controlled together."""
    link: Quality
    """Quality of the comparison of medians, and of what is not a delay."""
    link_of_means: NotRequired[Quality]
    """Quality of the ratio of means. Only of delays."""
    ratio_of_percentiles: NotRequired[EstimateRecord]
    """Ratio of the percentiles that rank. Only if `statistic` is a percentile."""
    link_of_percentiles: NotRequired[Quality]
    """Quality of the ratio of percentiles. Only with `ratio_of_percentiles`."""


@document
class LinkConfigured(TypedDict):
    """One direction of a link as configured."""

    delay_s: float
    """Mean delay without queues, in seconds."""
    loss: float | None
    """Loss on purpose, as a fraction; null if it depends on when packets are sent."""
    rate_bps: int | None
    """Rate that the link sustains; null without a limit."""
    duplicated: NotRequired[float | None]
    """Fraction of packets that leave twice; null if it depends on when packets are sent. Absent without logs."""
    corrupted: NotRequired[float | None]
    """Fraction of packets with an inverted bit; null and absent likewise."""
    reordered: NotRequired[float | None]
    """Fraction of packets that are overtaken; null and absent likewise."""


@document
class DelayErrors(TypedDict):
    """The emulator's timing error; null with netem."""

    p50: float | None
    """Median in seconds."""
    p99: float | None
    """99th percentile in seconds."""
    max: float | None
    """Maximum in seconds."""


@document
class LinkMeasured(TypedDict):
    """One direction of a link as measured."""

    delay_error_s: DelayErrors
    """Timing error of the emulator."""
    loss: EstimateRecord
    """Fraction of packets that were lost."""
    packets: int
    """Packets that reached the link."""
    duplicated: NotRequired[EstimateRecord]
    """Fraction of packets that left twice."""
    corrupted: NotRequired[EstimateRecord]
    """Fraction of packets with an inverted bit."""
    reordered: NotRequired[EstimateRecord]
    """Fraction of packets that were overtaken."""


@document
class LinkRecord(TypedDict):
    """One direction of one distinct link, over the trials that count."""

    link_name: str
    """Name of the link."""
    direction: Way
    """Direction."""
    backend: str
    """`wirelab` or `netem`."""
    configured: LinkConfigured
    """As configured. Of a schedule it is over the time that its trials lasted."""
    measured: LinkMeasured
    """As measured."""
    flag: Flag
    """Quality of the emulation."""
    why: str
    """The reason, as a sentence."""


@document
class LaneLateness(TypedDict):
    """The emulator's timing error in the trials of one job, over all packets."""

    lane: int
    """Number of the job, from 0."""
    packets: int
    """Packets."""
    p50_s: float | None
    """Median in seconds."""
    p99_s: float | None
    """99th percentile in seconds."""
    p999_s: float | None
    """99.9th percentile in seconds."""
    max_s: float
    """Maximum in seconds."""


@document
class Replay(TypedDict):
    """Trials with a replayed packet log."""

    trials: int
    """Trials that are done."""
    replayed: int
    """Of these, trials whose packet log could be replayed."""
    reproduced: int
    """Of these, trials without a mismatch."""
    packets: int
    """Packets that were replayed."""
    mismatches: int
    """Packets that differ."""


@document
class CertificateLine(TypedDict):
    """One property of one direction, or of both, as probes found it."""

    name: str
    """Name of the property."""
    direction: Literal["uplink", "downlink", "both"]
    """Direction."""
    unit: str
    """`s`, `bit/s`, `share` or `packets`."""
    configured: float | None
    """The configured value."""
    measured: EstimateRecord | None
    """The measured value. The level of its interval is that of the whole family."""
    tolerance: float | None
    """The tolerated difference."""
    verdict: Literal["in", "out", "open", "unjudged"]
    """`in` or `out` of tolerance; `open` if the probes cannot tell; `unjudged`."""
    grade: Grade
    """Quality by this property."""
    why: str | None
    """The reason, as a sentence."""


@document
class CertificateRecord(TypedDict):
    """The calibration record of one link."""

    link_names: list[str]
    """Its names as the client's link."""
    topology_links: list[str]
    """Its names as another link of a topology."""
    flag: Grade
    """Quality by what is out of tolerance, without regard to how busy the machine was."""
    why: str
    """The reason, as a sentence."""
    probes: str
    """Folder of the probes."""
    backend: str
    """`wirelab` or `netem`."""
    grade: Grade
    """Quality."""
    lines: list[CertificateLine]
    """One entry for each property."""


@document
class Constant(TypedDict):
    """A constant of a radio's or device's model, and its source."""

    constant: str
    """Name of the constant."""
    value: str
    """Its value with the unit."""
    source: str
    """Where it comes from."""


@document
class DeviceRecord(TypedDict):
    """A device."""

    name: str
    """Name."""
    title: str
    """Name for people."""
    validated: bool
    """True if the model was compared with measured power."""
    sources: list[Constant]
    """Its constants."""


@document
class RadioRecord(DeviceRecord):
    """A radio."""

    inputs: dict[str, str | int | float]
    """Inputs of the radio, as written."""


@document
class Battery(TypedDict):
    """A battery."""

    capacity_mah: float
    """Capacity in mAh."""
    voltage_v: float
    """Mean voltage in V."""


@document
class LinkRadioRecord(TypedDict):
    """The radio of the client on some links."""

    links: list[str]
    """Names of the links."""
    radio: RadioRecord
    """The radio."""
    device: DeviceRecord | None
    """The device around it; null without one."""


@document
class EnergyModel(TypedDict):
    """`energy.json`: the radios and devices that energies were computed for."""

    schema_version: int
    """Version of the format."""
    radios: list[LinkRadioRecord]
    """Each radio with its links."""
    measured_on_device: bool
    """The client's CPU time was measured on the device."""
    battery: Battery | None
    """The battery; null without one."""
    no_day: dict[str, str]
    """By the key of a scenario, why it has no day's energy and no battery life."""
    notes: list[str]
    """Sentences that the reader must know."""


def radio_of(model: EnergyModel, link_name: str) -> LinkRadioRecord | None:
    """The radio of the client on this link; None if it has none."""
    return next((each for each in model["radios"] if link_name in each["links"]), None)


@document
class Estimates(TypedDict):
    """`estimates.json`: estimates, comparisons, and links as configured and measured."""

    schema_version: int
    """Version of the format."""
    level: float
    """Confidence level of intervals, as a fraction."""
    metric: str
    """The headline metric."""
    statistic: NotRequired[str]
    """The statistic of it that ranks protocols: `median`, `mean`, or a percentile such as `p95`. Median if missing."""
    seed: int
    """Seed of the campaign."""
    scenarios: list[AnalysedScenario]
    """One entry for each scenario."""
    comparisons: list[ComparisonRecord]
    """Pairs of scenarios that differ in the protocol or implementation alone."""
    links: list[LinkRecord]
    """One entry for each distinct link and direction, over the trials that count."""
    link_lateness: list[LaneLateness]
    """Timing error of the emulator by parallel trial."""
    replay: Replay | None
    """What the replay of packet logs showed; null without a log."""
    certificates: list[CertificateRecord]
    """One entry for each link that was probed before the first block."""
    energy: NotRequired[EnergyModel]
    """The contents of `energy.json`. Only with a radio."""
    notes: list[str]
    """Sentences that the reader must know: few values, pooled seeds, exclusions by protocol."""


def read_energy_model(path: Path) -> EnergyModel:
    """`energy.json`. Raises `WirelabError` if it is damaged, or of another version."""
    hint = f"make it again: {launched(f'measure {path.parent}')}"
    return read_document(path, EnergyModel, ENERGY_VERSION, hint)


def read_estimates(campaign: Path) -> Estimates:
    """A campaign's estimates. Raises `WirelabError` if they are damaged, or of another version."""
    hint = f"make it again: {launched(f'analyze {campaign}')}"
    return read_document(campaign / ESTIMATES, Estimates, ESTIMATES_VERSION, hint)
