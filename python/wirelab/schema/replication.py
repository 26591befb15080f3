"""`replication.json`: what `replicate` makes of the campaigns of one paper (`docs/reference/replication.md`). Judges
nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from wirelab.launcher import launched
from wirelab.schema.bounds import document
from wirelab.schema.document import read_document
from wirelab.schema.estimates import EstimateRecord
from wirelab.schema.printed import InsideRecord, ModelRecord, NullModel, SkillRecord
from wirelab.schema.verdicts import (
    Deciding,
    EffectRange,
    GridRecord,
    OverGrid,
    PublishedVerdict,
    Standing,
    Verdict,
    VerdictQuality,
)

REPLICATION = "replication.json"
REPLICATION_VERSION = 1


@document
class CampaignSummary(TypedDict):
    """One campaign that the verdicts rest on."""

    name: str
    """Name of its folder."""
    experiment: str
    """Name of its experiment."""
    sets: dict[str, list[str]]
    """Values that its command line set, by path."""
    clock: str
    """`live` or `virtual`."""
    why: NotRequired[str]
    """What it is for, from the file of claims."""
    version: str | None
    """Version of Wirelab that measured; null if not recorded."""
    kernel: str | None
    """Kernel of the emulation: of this machine, or of the virtual clock; null if not recorded."""
    measured: str | None
    """Day of the last trial; null without any."""
    began: NotRequired[str | None]
    """When the first trial was done (RFC 3339); null without any. Absent if an earlier version combined it."""
    scenarios: int
    """Number of scenarios."""
    trials: int
    """Number of trials that count."""
    exchanges: int
    """Number of exchanges in them."""
    completed: int
    """Of these, those that completed."""
    seconds: float | None
    """Duration of all its runs in seconds of this machine's clock; null if not recorded."""
    stopped: NotRequired[bool]
    """True if a run was stopped, so that `seconds` lacks the trials that it was in. Absent if none was."""
    quality: str
    """Quality of its scenarios, as a count with the worst and its cause."""
    lacks: NotRequired[list[str]]
    """Claims that were written after it was judged, so that it says nothing on them. Absent if there is none."""
    quick: str | None
    """How a budget scaled it down, so that it is not conclusive; null of a whole campaign."""
    digest: str | None
    """SHA-256 of all records of its trials, which is known under the virtual clock; null else."""


@document
class Needed(TypedDict):
    """What would decide a claim that is inconclusive: an extrapolation, since a width falls with the root of n."""

    n: int | None
    """Values of the part that needs most; null if no number of values decides it."""
    hours: float | None
    """Hours of this machine for them, at the pace of the campaign; null if not known."""
    why: str
    """The reason, as a sentence."""


@document
class LivePart(TypedDict):
    """A part in real time, at the point where the virtual clock gives its verdict."""

    verdict: Verdict
    """The verdict of that campaign."""
    why: str
    """The reason of that verdict, as a sentence."""
    ours: EstimateRecord
    """Its estimate, in the unit of the part's."""
    link: VerdictQuality | None
    """Quality of what it rests on; null if nothing of it was graded."""
    campaign: int
    """Index of the campaign."""


@document
class ReplicatedPart(TypedDict):
    """A part of a claim, from the largest campaign that ran all of it."""

    id: str
    """Name of the part."""
    form: str
    """Form of the part."""
    text: str
    """The part as a sentence."""
    verdict: Verdict
    """The verdict."""
    why: str
    """The reason, as a sentence."""
    decides: bool
    """False for a part that is shown outside the verdict."""
    title: NotRequired[str]
    """What a part outside the verdict asks. Absent from a part without a title."""
    after_the_fact: NotRequired[str]
    """When a part was written that was written after data existed. Absent from others."""
    paper: float | str | None
    """What the paper says: a number or a text."""
    ours: EstimateRecord | None
    """Our estimate; null if there is none."""
    judged: list[Deciding]
    """The estimates whose intervals decided."""
    bounds: NotRequired[list[float]]
    """Bounds of the region in which an interval confirms the part. Absent from a form without such bounds."""
    along: NotRequired[list[str]]
    """Levels of the factor whose places the estimate counts, from 0. Absent from a part whose estimate is no place."""
    range: NotRequired[EffectRange]
    """Of a claim in several parts: the range of this part's estimate over the points that count. Absent without any."""
    n: int
    """Number of values."""
    link: VerdictQuality | None
    """Quality of what it rests on; null if nothing of it was graded."""
    campaign: int
    """Index of its campaign."""
    live: NotRequired[LivePart]
    """The same in real time. Absent if `campaign` is live, or if no live campaign ran this point."""


@document
class PointVerdict(TypedDict):
    """A claim at one point of the grid."""

    at: int
    """Index of its levels in `points`."""
    standing: Standing | None
    """The verdict there; null if a scenario was not run or must not be used."""
    counts: bool
    """Whether it is counted: it was run, is of the grid, and the claim is not fitted there."""
    value: float | None
    """Our estimate; null if there is none."""
    low: float | None
    """Lower bound of its interval; null if there is none."""
    high: float | None
    """Upper bound of its interval; null if there is none."""
    n: int
    """Number of values; 0 at a point where an earlier version did not record it."""
    campaign: int
    """Index of its campaign."""


@document
class ReplicatedClaim(TypedDict):
    """A claim over all campaigns."""

    id: str
    """Name of the claim."""
    form: str
    """Form of the claim; `composite` for parts of several forms."""
    text: str
    """The claim as a sentence."""
    verdict: Standing | None
    """The verdict in the primary interpretation; null if the paper has none, or if a scenario of it was not run."""
    shown: Standing | None
    """The verdict at the point that `ours` and `parts` are of: the primary one, else the first that was judged. Null if
    a scenario was not run there.
    """
    verdicts: NotRequired[list[Verdict]]
    """Of a paper with an outlier rule: the verdicts without and with it that `shown` rests on. Absent if a scenario was
    not run there.
    """
    levels: dict[str, str]
    """That point."""
    why: str
    """The reason, as a sentence."""
    paper: float | str | None
    """What the paper says: a number or a text."""
    ours: EstimateRecord | None
    """Our estimate; null if there is none."""
    n: int
    """Number of values."""
    link: VerdictQuality | None
    """Quality of what it rests on: the worst of its parts. Null if nothing was graded."""
    parts: list[ReplicatedPart]
    """Its parts; a claim that is not made of parts is one."""
    over_grid: OverGrid | None
    """The claim over all points of all campaigns; null without a grid."""
    points: list[PointVerdict]
    """The claim at each point."""
    published: PublishedVerdict
    """The same judgement on the paper's own printed numbers."""
    contradiction: str | None
    """A sentence if the paper's own numbers contradict it; else null."""
    needed: Needed | None
    """What would decide it; null if it is decided or fitted."""


@document
class ReplicatedNumber(TypedDict):
    """A number that the paper prints, and ours in one interpretation. Both are in base units."""

    interpretation: str | None
    """Name of the interpretation; null of the point where each choice is at its first level."""
    metric: str
    """Name of the metric, as in `estimates.json`."""
    levels: dict[str, str]
    """Levels of the factors that the paper varied."""
    statistic: str
    """Which statistic, such as `mean`."""
    paper: float
    """The printed number."""
    ours: EstimateRecord
    """Our estimate."""
    fitted: bool
    """Whether the interpretation was chosen by this number."""
    nulls: dict[NullModel, float]
    """What null models that have not seen it predict for it; without those that cannot."""
    campaign: int
    """Index of its campaign."""


@document
class FutureWork(TypedDict):
    """A line of what the paper leaves for future work."""

    text: str
    """What it leaves."""
    found: str | None
    """What was measured; null if nothing was."""
    run: NotRequired[str]
    """What follows `wirelab run` to measure it again. Absent if nothing was measured, or by several runs."""
    digest: NotRequired[str]
    """Digest of that run. Absent of a live one."""
    not_yet: str | None
    """Why nothing was measured; null if something was."""


@document
class Replication(TypedDict):
    """`replication.json`: one paper over all its campaigns."""

    schema_version: int
    """Version of the format."""
    paper: str
    """Name of the paper."""
    doi: str | None
    """Its DOI; null without one."""
    version: str
    """Version of Wirelab that combined the campaigns."""
    claims_file: str
    """Name of the file of claims."""
    claims_sha256: str
    """Its digest."""
    error_rate: float
    """Chance of a wrong verdict or more among the claims of one campaign."""
    factor: float
    """A published magnitude holds within itself divided and multiplied by this."""
    labels: dict[str, str]
    """Levels and metrics in words."""
    units: dict[str, str]
    """Unit of each metric of `numbers`."""
    outlier_rule: bool
    """Whether the paper has an outlier rule: a verdict is then decided only if both verdicts agree."""
    primary: str | None
    """Name of the interpretation that leads; null if the paper has none."""
    grid: GridRecord
    """The grid of choices."""
    campaigns: list[CampaignSummary]
    """The campaigns, the confirmatory one first."""
    left_out: list[str]
    """Campaigns that the paper lists and that were not run or not given, each with the reason."""
    width: float | None
    """Median of the upper over the lower bound of the intervals of parts; null without any above 0."""
    claims: list[ReplicatedClaim]
    """One entry for each claim."""
    points: list[dict[str, str]]
    """Levels of the points of the grid that were run."""
    printed: int
    """Numbers that the paper prints."""
    numbers: list[ReplicatedNumber]
    """Printed numbers and ours, in each interpretation that was run."""
    skill: list[SkillRecord]
    """How well each interpretation that was run predicts the printed numbers."""
    models: list[ModelRecord]
    """One-line models of the means."""
    inside: list[InsideRecord]
    """Orders that the paper's own numbers should have."""
    future: list[FutureWork]
    """What the paper leaves for future work."""


def read_replication(path: Path) -> Replication:
    """One such file. Raises `WirelabError` if it is damaged, or of another version."""
    hint = f"make it again: {launched('replicate PAPER --from FOLDER')}"
    return read_document(path, Replication, REPLICATION_VERSION, hint)
