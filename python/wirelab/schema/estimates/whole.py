"""`estimates.json` as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from wirelab.launcher import launched
from wirelab.schema.bounds import document
from wirelab.schema.document import read_document
from wirelab.schema.estimates.comparisons import ComparisonRecord
from wirelab.schema.estimates.endpoints import CpuLimit, EndpointWaits, OfferedRecord, Programs, SettingInForce
from wirelab.schema.estimates.energy import EnergyModel, EnergyOfScenario
from wirelab.schema.estimates.enumerated import EnumeratedRecord
from wirelab.schema.estimates.expectations import ExpectationRecord
from wirelab.schema.estimates.ledger import LedgerRecord
from wirelab.schema.estimates.links import CertificateRecord, LaneLateness, LinkRecord, Replay
from wirelab.schema.estimates.numbers import End, EstimateRecord, MetricRecord
from wirelab.schema.estimates.outcomes import Downloads, Messages, NatRecord, Outcomes
from wirelab.schema.plan import Level
from wirelab.schema.recovery import RecoveryRecord

ESTIMATES = "estimates.json"
ESTIMATES_VERSION = 1


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
    enumerated: NotRequired[EnumeratedRecord]
    """Only where `wirelab exact` enumerated its losses."""


@document
class PartRecord(TypedDict):
    """One part of a campaign that was merged: what one machine ran at one time, and how it differs from the others."""

    part: int
    """Its number, as in the column `part` of `trials.parquet`."""
    trials: int
    """Trials that it ran."""
    ratio: EstimateRecord
    """The headline metric over its mean of all parts, over blocks. The interval is of all parts together."""


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
    expectations: NotRequired[list[ExpectationRecord]]
    """Whether scenarios keep the bounds of the experiment. Only if it has some."""
    parts: NotRequired[list[PartRecord]]
    """Parts of a campaign that was merged, in real time; only of two or more."""
    notes: list[str]
    """Sentences that the reader must know: few values, pooled seeds, exclusions by protocol."""


def read_estimates(campaign: Path) -> Estimates:
    """A campaign's estimates. Raises `WirelabError` if they are damaged, or of another version."""
    hint = f"make it again: {launched(f'analyze {campaign}')}"
    return read_document(campaign / ESTIMATES, Estimates, ESTIMATES_VERSION, hint)
