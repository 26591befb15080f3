"""What `compare` says of two campaigns, or of two sides of one (`docs/reference/changes.md`)."""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from wirelab.schema.bounds import document
from wirelab.schema.estimates import EstimateRecord
from wirelab.schema.exact import ExactBounds

CHANGES_VERSION = 1

Change = Literal["larger", "smaller", "unchanged", "inconclusive"]
"""The new side against the old one, beyond the margin or within it."""
Outcome = Literal["slower", "changed", "unchanged", "inconclusive"]
"""Of all comparisons: `slower` if one is worse, `changed` if one is larger or smaller."""


@document
class ComparedSide(TypedDict):
    """A campaign, or those scenarios of it that are one side."""

    campaign: str
    """Name of the campaign's folder."""
    experiment: str
    """Name of its experiment."""
    differs: dict[str, str]
    """What it has and the other side has not, by its path, if that is the same in all scenarios."""
    version: str | None
    """Version of Wirelab that measured; null if not recorded."""
    kernel: str | None
    """Kernel of the machine, or of the virtual clock; null if not recorded."""
    measured: str | None
    """Day of the last trial; null without any."""


@document
class MeasureChange(TypedDict):
    """One statistic of one scenario, old and new."""

    of: str
    """The statistic: `median`, `mean`, a percentile such as `p95`, or `completed`."""
    metric: str | None
    """Name of the metric; null of the share of exchanges that completed."""
    unit: str
    """Its unit; `share` of that share."""
    old: EstimateRecord
    """The old side's, at 95 %."""
    new: EstimateRecord
    """The new side's, at 95 %."""
    effect: EstimateRecord
    """New over old, at the level that decides; of a share the new one minus the old one."""
    change: Change
    """By the whole interval of the effect and the margin."""
    worse: bool
    """Whether the change is to the worse: longer, or fewer completed. More bytes are no worse."""
    why: str | None
    """Why it is inconclusive, or why no interval is needed; else null."""


@document
class FirstDifference(TypedDict):
    """The first packet in which two packet logs differ."""

    replicate: int
    """Number of the trial."""
    trials: list[str]
    """Names of the old and of the new trial."""
    packet: int
    """Number of the packet in its trial, from 1."""
    at_s: float
    """Seconds after the trial's first packet, in the log that has it; of both the old one."""
    old: str | None
    """The packet in the old log, in words; null if that has none."""
    new: str | None
    """The packet in the new log; null if that has none."""
    more_bytes: int | None
    """IP bytes of the new one less those of the old one; null if one has none."""
    phase: str | None
    """In which phase of its exchange it was sent; null if not known."""


@document
class PacketsChange(TypedDict):
    """The packet logs of pairs of trials with the same random numbers."""

    trials: int
    """Pairs that were compared."""
    differing: int
    """Those with another packet, or with a packet at another time."""
    first: FirstDifference | None
    """In the first of these; null if all are the same."""
    packets: list[int]
    """Packets of the old and of the new logs, of the pairs that differ."""
    size_bytes: list[int]
    """Their IP bytes."""
    flights: list[int]
    """How often the direction changes, plus one for each trial, over packets with payload that were delivered."""


@document
class ScenarioChange(TypedDict):
    """One scenario, old and new."""

    name: str
    """Its name on the new side."""
    old_name: str
    """Its name on the old side."""
    protocol: str
    """Its protocol on the new side."""
    keys: list[str]
    """Keys of the old and of the new scenario."""
    measures: list[MeasureChange]
    """What was compared."""
    packets: NotRequired[PacketsChange]
    """Its packets. Absent in real time, and if the two sides have other random numbers."""


@document
class Changes(TypedDict):
    """Two sides of measurements, scenario by scenario."""

    schema_version: int
    """Version of the format."""
    version: str
    """Version of Wirelab that compared."""
    clock: str
    """`live` or `virtual`, of both."""
    metric: str
    """The headline metric."""
    by: str | None
    """What may differ between the sides: a path of a scenario. Null if nothing may but programs."""
    old: ComparedSide
    """The old side."""
    new: ComparedSide
    """The new side."""
    margin: float
    """A relative change up to this, as a fraction, is none; of shares a difference."""
    level: float
    """The chance that no interval that decides misses its true effect is at least this."""
    comparisons: int
    """How many share it."""
    each_level: float
    """Level of each interval that decides."""
    verdict: Outcome
    """Of all comparisons together."""
    scenarios: list[ScenarioChange]
    """In the order of the new side's plan."""
    only_old: list[str]
    """Scenarios that the new side has not."""
    only_new: list[str]
    """Scenarios that the old side has not."""
    warnings: list[str]
    """What limits the comparison."""


@document
class ProbabilityChange(TypedDict):
    """The probability that an exchange takes longer than a delay, old and new."""

    loss: str
    """Name of the loss model."""
    delay_s: float
    """The delay in seconds."""
    old: ExactBounds
    """The old probability lies between them."""
    new: ExactBounds
    """The new one."""
    change: Change
    """By the bounds and the margin."""


@document
class PriceChange(TypedDict):
    """What losing a packet costs, old and new. The packet is the same in both runs without losses."""

    packet: int
    """Its place among the packets, from 1."""
    words: str
    """What it is."""
    old_s: float | None
    """Seconds that its loss added to the delay; null if the exchange had no end then."""
    new_s: float | None
    """Seconds that it adds now."""


@document
class EnumeratedChange(TypedDict):
    """One scenario that was enumerated, with one seed, old and new."""

    name: str
    """Its name."""
    seed: int
    """Number of the seed, from 1."""
    delay_s: list[float | None]
    """Old and new delay without losses; null if it did not complete."""
    packets: list[int]
    """Packets of the runs without losses."""
    first: str | None
    """The first packet in which these differ, in words; null if they are the same."""
    prices: list[PriceChange]
    """Packets up to that one whose loss costs something else now."""
    probabilities: list[ProbabilityChange]
    """Under each loss model and of each delay that both sides have."""


@document
class ExactChanges(TypedDict):
    """Two enumerations, scenario by scenario. Nothing in them is random."""

    schema_version: int
    """Version of the format."""
    version: str
    """Version of Wirelab that compared."""
    old: str
    """Name of the old folder."""
    new: str
    """Name of the new folder."""
    margin: float
    """A relative change of a probability up to this, as a fraction, is none."""
    asked: list[str]
    """Loss models that both sides were asked for."""
    verdict: Outcome
    """Of all probabilities together; other packets are a change."""
    scenarios: list[EnumeratedChange]
    """In the order of the new side."""
    only_old: list[str]
    """Scenarios that the new side has not."""
    only_new: list[str]
    """Scenarios that the old side has not."""
    warnings: list[str]
    """What limits the comparison."""
