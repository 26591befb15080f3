"""`estimates.json`: what `analyze` writes and the report reads (`docs/reference/files.md`). Computes nothing.

The types are those of the document itself, so that a number has one name from the file to the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NotRequired, get_args

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from wirelab.launcher import launched
from wirelab.schema.document import read_document
from wirelab.schema.plan import Level

ESTIMATES = "estimates.json"
ESTIMATES_VERSION = 1
ENERGY_VERSION = 1

Grade = Literal["good", "limited", "unusable"]
Flag = Literal["good", "limited", "unusable", "not measured"]
"""Quality of a link's direction; `not measured` where nothing passed."""
End = Literal["client", "server"]
Way = Literal["uplink", "downlink"]

document = with_config(ConfigDict(extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False))
"""Unknown keys are errors, and so are numbers that JSON does not have."""


@document
class EstimateRecord(TypedDict):
    """A number with its interval. Times are in seconds, sizes in bytes, rates in bit/s, energies in J."""

    point: float | None
    """Null where it lies above the time-out or cannot be formed; `method` says why."""
    low: float | None
    """Null where no interval can be given; `method` says why."""
    high: float | None
    level: float
    """Confidence level."""
    n: int
    """Values that it rests on."""
    method: str


@document
class ModeRecord(TypedDict):
    """One mode of a distribution: its range, and its share of the values."""

    low: float
    high: float
    share: EstimateRecord


@document
class PublishedRuleRecord(TypedDict):
    """Values beyond three scaled median absolute deviations removed."""

    removed: int
    removed_retransmission_hit: int | None
    """Of the removed values those that a retransmission or loss touched; null where these were not seen."""
    retransmission_hit: int | None
    mean: EstimateRecord
    sd: EstimateRecord
    note: str | None
    """A sentence where the median absolute deviation is 0."""


@document
class MetricRecord(TypedDict):
    """One metric of one scenario: completed exchanges, or whole trials of what endpoints used."""

    unit: str
    n: int
    """Of delays also those that timed out, as above the time-out."""
    mean: EstimateRecord
    sd: EstimateRecord
    median: EstimateRecord
    quantiles: dict[str, EstimateRecord | None]
    """By probability; null where there are too few values."""
    modes: list[ModeRecord]
    published_rule: PublishedRuleRecord | None
    """Null for what is not a time."""


Outcomes = TypedDict(
    "Outcomes",
    {
        "exchanges": int,
        "completed": int,
        "failed": int,
        "timed-out": int,
        "unsupported": int,
        "trials": int,
        "failed_trials": int,
        "unsupported_trials": int,
        "exchanges_of_failed_trials": int,
        "excluded_trials": int,
    },
)
"""How many exchanges ended how, in how many trials. Excluded trials, and exchanges of failed ones, are in no other
count.
"""
document(Outcomes)


OutcomeKey = Literal[
    "exchanges", "completed", "failed", "timed-out", "unsupported", "trials", "failed_trials", "unsupported_trials",
    "exchanges_of_failed_trials", "excluded_trials",
]  # fmt: skip


@document
class Messages(TypedDict):
    """Messages that subscribers lost or received twice, over all trials that are done."""

    lost: int
    duplicate: int
    stalls: int | None
    """Null without a player."""


SizeOutcomes = TypedDict("SizeOutcomes", {"bytes": int, "exchanges": int, "completed": int, "timed-out": int})
"""Downloads of one size, and how they ended."""
document(SizeOutcomes)


@document
class Downloads(TypedDict):
    """Of downloads of several sizes the largest and the smallest."""

    largest: SizeOutcomes
    smallest: SizeOutcomes


@document
class Programs(TypedDict):
    """Who plays each role."""

    client: str
    server: str


@document
class EndpointWaits(TypedDict):
    """What a scenario's endpoints waited for a CPU."""

    wait_s: float | None
    """Of both endpoints, for each exchange."""
    share: float | None
    """Of the exchange."""
    steal: float | None
    """CPUs that a hypervisor gave to others."""
    flag: Grade
    why: str
    cure: str | None
    """What to do about it; null where the quality is good."""


@document
class CpuLimit(TypedDict):
    """What a limit on a host's CPU time did."""

    share: float
    """Of one CPU."""
    periods: int
    """With work, in all trials."""
    throttled: int
    """Of these periods."""
    throttled_s: float | None
    """In a trial."""


@document
class SettingInForce(TypedDict):
    """A setting of one end: as configured, and as connections showed it."""

    setting: str
    configured: int
    unit: str | None
    end: End | None
    """Null where nothing is known."""
    announced: list[int] | None
    """Least and most."""
    effective: list[int] | None
    """Least and most."""
    used: int | None
    """The most that the other end used."""
    source: str | None
    trials: int
    connections: int
    in_force: bool | None
    """Null where nothing is known."""
    why: str | None
    """Why it was not in force, or why that is not known."""


@document
class Spent(TypedDict):
    """Bytes of one direction, for one exchange."""

    packets: float
    total: float
    ip: float
    transport: float
    connection: float
    acknowledgements: float
    retransmitted: float
    handshake: float
    protection: float
    application: float
    sealed: float
    other: float
    payload: float | None
    headers: float | None
    """`application` without `payload`."""
    link_layer: float | None
    """Beyond the total; null of a link without frames."""


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
    assumed: bool
    """Whether nothing says how often a message is sent."""
    messages: float
    one_connection: bool
    parts: dict[str, float | None]


@document
class LedgerRecord(TypedDict):
    """What the bytes of a captured scenario were spent on."""

    exchanges: int
    trials: int
    total: EstimateRecord
    """Of both directions for one exchange, over trials."""
    up: NotRequired[Spent]
    down: NotRequired[Spent]
    connections: int
    """That its exchanges opened."""
    day: NotRequired[Day]


@document
class Bounds(TypedDict):
    """A figure of an energy model, with its constants typical and at their bounds."""

    low: float
    typical: float
    high: float


@document
class StateEnergy(Bounds):
    """Time and joules in one state of the radio, for one exchange."""

    seconds: float


@document
class Counted(TypedDict):
    """How many exchanges of how many trials."""

    exchanges: int
    trials: int


@document
class EnergyOfScenario(TypedDict):
    """What a message costs the client's radio and processor, and a day of them; null where it is not known."""

    exchanges: int
    trials: int
    with_cpu_time: Counted | None
    """Those whose CPU time is known; null unless it was measured on the device."""
    radio_j: Bounds | None
    message_j: Bounds | None
    """Of radio and processor."""
    states: dict[str, StateEnergy]
    days: int
    """Exchanges that have a day's energy."""
    day_j: Bounds | None
    day_states: dict[str, Bounds] | None
    battery_days: Bounds | None


@document
class AnalysedScenario(TypedDict):
    """Everything estimated of one scenario."""

    key: str
    name: str
    levels: dict[str, Level]
    protocol: str
    implementation: Programs
    denominators: Outcomes
    messages: NotRequired[Messages]
    """Of `pubsub` and `stream` only."""
    downloads: NotRequired[Downloads]
    """Only where downloads of several sizes take turns."""
    metrics: dict[str, MetricRecord]
    endpoints: EndpointWaits | None
    """Null if no trial counts."""
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


@document
class Family(TypedDict):
    """The comparisons whose error rate is controlled together."""

    name: str
    size: int
    method: str
    error_rate: float


@document
class Quality(TypedDict):
    """What a comparison is good for."""

    flag: Grade
    why: str
    causes: list[str]
    """Which of `the link`, `the machine` and `the effect` make it worse than good."""
    error_s: float | None
    """The link's mean error over a round trip."""


@document
class ComparisonRecord(TypedDict):
    """Two scenarios in one metric: `a` over, and minus, `b`."""

    metric: str
    a: str
    """Key of a scenario."""
    b: str
    """Key of a scenario."""
    ratio_of_means: EstimateRecord
    ratio_of_medians: EstimateRecord
    shift: EstimateRecord
    """Hodges-Lehmann."""
    cliffs_delta: EstimateRecord
    p: float
    """Permutation of whole trials."""
    p_adjusted: float
    family: Family
    link: Quality


@document
class LinkConfigured(TypedDict):
    """One direction of a link as configured."""

    delay_s: float
    """Mean delay without queues."""
    loss: float | None
    """On purpose; null where it depends on when packets are sent."""
    rate_bps: int | None
    duplicated: NotRequired[float | None]
    corrupted: NotRequired[float | None]
    reordered: NotRequired[float | None]


@document
class DelayErrors(TypedDict):
    """How late the emulator was; null of a link that netem ran."""

    p50: float | None
    p99: float | None
    max: float | None


@document
class LinkMeasured(TypedDict):
    """One direction of a link as measured."""

    delay_error_s: DelayErrors
    loss: EstimateRecord
    packets: int
    duplicated: NotRequired[EstimateRecord]
    corrupted: NotRequired[EstimateRecord]
    reordered: NotRequired[EstimateRecord]


@document
class LinkRecord(TypedDict):
    """One direction of one distinct link, over the trials that count."""

    link_name: str
    direction: Way
    backend: str
    configured: LinkConfigured
    measured: LinkMeasured
    flag: Flag
    why: str


@document
class LaneLateness(TypedDict):
    """How late the emulator was in one lane, over all packets."""

    lane: int
    packets: int
    p50_s: float | None
    p99_s: float | None
    p999_s: float | None
    max_s: float


@document
class Replay(TypedDict):
    """Trials whose packet log was run again through a fresh link."""

    trials: int
    """That are done."""
    replayed: int
    reproduced: int
    """Without a mismatch."""
    packets: int
    mismatches: int


@document
class CertificateLine(TypedDict):
    """One property of one direction, or of both, as probes found it."""

    name: str
    direction: Literal["uplink", "downlink", "both"]
    unit: str
    configured: float | None
    measured: EstimateRecord | None
    """At the level of the whole family."""
    tolerance: float | None
    verdict: Literal["in", "out", "open", "unjudged"]
    """`open`: the probes do not show it as closely."""
    grade: Grade
    why: str | None


@document
class CertificateRecord(TypedDict):
    """What probes found of one link."""

    link_names: list[str]
    """As the client's link."""
    topology_links: list[str]
    """As another link of a topology."""
    flag: Grade
    """By what is out of tolerance, but for how busy the machine was."""
    why: str
    probes: str
    """Their folder."""
    backend: str
    grade: Grade
    lines: list[CertificateLine]


@document
class Constant(TypedDict):
    """A constant of a radio's or device's model, and where it comes from."""

    constant: str
    value: str
    source: str


@document
class DeviceRecord(TypedDict):
    """A device."""

    name: str
    title: str
    validated: bool
    sources: list[Constant]


@document
class RadioRecord(DeviceRecord):
    """A radio."""

    inputs: dict[str, str | int | float]


@document
class Battery(TypedDict):
    """A battery."""

    capacity_mah: float
    voltage_v: float


@document
class EnergyModel(TypedDict):
    """`energy.json`: the radio and the device that energies were computed for."""

    schema_version: int
    radio: RadioRecord
    device: DeviceRecord | None
    measured_on_device: bool
    interval_s: float | None
    battery: Battery | None
    notes: list[str]


@document
class Estimates(TypedDict):
    """The document."""

    schema_version: int
    level: float
    metric: str
    """The headline metric."""
    seed: int
    scenarios: list[AnalysedScenario]
    comparisons: list[ComparisonRecord]
    links: list[LinkRecord]
    link_lateness: list[LaneLateness]
    replay: Replay | None
    certificates: list[CertificateRecord]
    energy: NotRequired[EnergyModel]
    """Only with a radio."""
    notes: list[str]
    """Sentences that the reader must know."""


def read_energy_model(path: Path) -> EnergyModel:
    """`energy.json`. Raises `RunError` if it is damaged, or of another version."""
    hint = f"make it again: {launched(f'measure {path.parent}')}"
    return read_document(path, EnergyModel, ENERGY_VERSION, hint)


def read_estimates(campaign: Path) -> Estimates:
    """A campaign's estimates. Raises `RunError` if they are damaged, or of another version."""
    hint = f"make it again: {launched(f'analyze {campaign}')}"
    return read_document(campaign / ESTIMATES, Estimates, ESTIMATES_VERSION, hint)
