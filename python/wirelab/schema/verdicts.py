"""`verdicts.json`: what `analyze` writes of claims (`docs/reference/verdicts.md`). Judges nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from wirelab.launcher import launched
from wirelab.schema.bounds import document
from wirelab.schema.document import read_document
from wirelab.schema.estimates import EstimateRecord, Grade
from wirelab.schema.plan import Level
from wirelab.schema.printed import InsideRecord, ModelRecord, SkillRecord

VERDICTS = "verdicts.json"
VERDICTS_VERSION = 1

Verdict = Literal["confirmed", "contradicted", "inconclusive"]
Standing = Literal["confirmed", "contradicted", "inconclusive", "depends-on-outlier-rule", "fitted"]
"""A verdict at a point of the grid of choices. `fitted` agrees by construction and judges nothing."""
Basis = Literal["text", "baseline", "fitted", "rival"]
"""What an interpretation was chosen by."""


@document
class ClaimFamily(TypedDict):
    """The claims whose error rate is controlled together."""

    error_rate: float
    """Error rate that is controlled over all these claims."""
    claims: int
    """Number of claims."""
    decidable: NotRequired[int]
    """Claims that data of this campaign can decide. Only they share the error rate."""
    method: str
    """How it is controlled."""
    published_level: float | None
    """Confidence level that the paper asked for; null if the claims name none."""


@document
class Deciding(EstimateRecord):
    """An estimate with the interval that decided, at its own level."""

    of: str
    """What the estimate is of; empty where that is `ours`."""


@document
class PublishedVerdict(TypedDict):
    """The same judgement on the paper's own printed numbers."""

    verdict: Verdict
    """The verdict on the paper's own printed numbers."""
    why: str
    """A sentence."""


@document
class VerdictQuality(TypedDict):
    """The quality of a verdict: the worst of its comparisons, links and endpoints."""

    flag: Grade
    """The worst quality of the comparisons, links and endpoints that the verdict rests on."""
    why: str
    """The reason, as a sentence."""


@document
class PartRecord(TypedDict):
    """A part of a claim."""

    id: NotRequired[str]
    """Name of the part. Absent from a part's own parts."""
    form: str
    """Form of the part, such as `order` or `ratio`."""
    text: str
    """The part as a sentence."""
    verdict: Verdict
    """The verdict."""
    why: str
    """The reason, as a sentence."""
    paper: float | str | None
    """What the paper says: a number or a text."""
    ours: EstimateRecord | None
    """Our estimate; null if there is none. A count is an estimate too."""
    judged: list[Deciding]
    """The estimates whose intervals decided, each at its own level. If the verdict is inconclusive it is the widest
    interval that was tried; empty if no interval decides.
    """
    n: int
    """Number of values."""
    tolerance: NotRequired[float]
    """The smallest factor around the published magnitude at which the interval would confirm it. Only of ratios,
    shares, quotients and equivalences with an interval.
    """
    after_the_fact: NotRequired[str]
    """When a part was written that was written after data existed. Absent from others."""
    parts: list[PartRecord]
    """Parts of this part."""
    published: NotRequired[PublishedVerdict]
    """The same judgement on the paper's own printed numbers."""
    contradiction: NotRequired[str | None]
    """A sentence if the paper's own numbers contradict it; else null."""
    link: NotRequired[VerdictQuality | None]
    """Quality of what the verdict rests on; null if nothing of it was graded."""


@document
class ChoiceVerdict(TypedDict):
    """The verdict at one combination of the levels that the paper leaves open."""

    levels: dict[str, Level]
    """Level of each choice. The key `response-time` names the definition of response time if the claim uses one."""
    verdict: Verdict
    """The verdict at these levels."""
    missing: bool
    """Inconclusive because a scenario was not run with these levels, or with a setting that was not in force, or was
    offered more than it served.
    """
    link: VerdictQuality | None
    """Quality of what the verdict rests on."""
    ours: NotRequired[EstimateRecord | None]
    """Our estimate at these levels; null if there is none."""
    n: NotRequired[int]
    """Number of values at these levels; each scenario counts once. Absent if an earlier version judged."""
    under_published_rule: NotRequired[Verdict]
    """The verdict after the paper's outlier removal. Absent if the claims name no `outlier_rule`."""


@document
class EffectAt(TypedDict):
    """An estimate, and where in the grid of choices it is found."""

    value: float
    """The estimate, in base units; a ratio has none."""
    levels: dict[str, str]
    """Level of each choice."""


@document
class EffectRange(TypedDict):
    """The range of our estimate over the points that count."""

    least: EffectAt
    """The smallest estimate."""
    largest: EffectAt
    """The largest estimate."""


@document
class DecidingChoice(TypedDict):
    """The choice that turns the verdict most often."""

    path: str
    """Path of the choice."""
    flips: int
    """Pairs of points that differ in this choice alone, one confirmed and the other contradicted."""
    pairs: int
    """All pairs of points that count and differ in this choice alone."""


@document
class OverGrid(TypedDict):
    """A claim over the grid of choices. A point counts if it was run, is of the grid, and the claim is not fitted
    there.
    """

    size: int | None
    """Points of the whole grid, run or not; null if the claims declare no choices."""
    points: int
    """Points that count."""
    confirmed: int
    """Points at which it is confirmed, by the paper's outlier rule too if there is one."""
    contradicted: int
    """Points at which it is contradicted, by the paper's outlier rule too if there is one."""
    not_decided: int
    """The other points that count."""
    depends_on_outlier_rule: int
    """Of the points that are not decided: those at which the verdicts with and without the outlier rule differ."""
    missing: int
    """Points of which a scenario was not run, or must not be used."""
    fitted: int
    """Points at which the claim is fitted."""
    outside: int
    """Points that were run and are not of the grid."""
    robust: bool
    """Whether there are two points or more that count, and all are confirmed or all are contradicted."""
    effect: EffectRange | None
    """Null without an estimate at any point that counts."""
    deciding: DecidingChoice | None
    """Null if no choice alone turns the verdict."""
    interpretations: dict[str, Standing | None]
    """The verdict in each named interpretation; null if it was not run."""


@document
class ClaimRecord(TypedDict):
    """A claim and its verdict."""

    id: str
    """Name of the claim."""
    form: str
    """Form of the claim, such as `order` or `ratio`; `composite` for parts of several forms."""
    text: str
    """The claim as a sentence."""
    verdict: Verdict
    """The verdict."""
    why: str
    """The reason, as a sentence."""
    paper: float | str | None
    """What the paper says: a number or a text."""
    ours: EstimateRecord | None
    """Our estimate; null if there is none. A count is an estimate too."""
    judged: list[Deciding]
    """The estimates whose intervals decided, each at its own level. If the verdict is inconclusive it is the widest
    interval that was tried; empty for a claim in parts, or if no interval decides.
    """
    n: int
    """Number of values."""
    parts: list[PartRecord]
    """Parts of a claim that is made of several."""
    published: PublishedVerdict
    """The same judgement on the paper's own printed numbers."""
    contradiction: str | None
    """A sentence if the paper's own numbers contradict it; else null."""
    tolerance: NotRequired[float]
    """The smallest factor around the published magnitude at which the interval would confirm it."""
    rests_on_sd: NotRequired[bool]
    """Whether standard deviations decide it. They are descriptive: their intervals cover too rarely."""
    under_published_rule: Verdict | None
    """The verdict after the paper's outlier removal; null if the claims name no `outlier_rule`."""
    at_published_level: Verdict | None
    """The verdict on the claim alone, at the confidence level that the paper asked for; null if the claims name
    none.
    """
    choices: list[ChoiceVerdict]
    """One entry for each combination of levels that the paper leaves open. The first is the one judged."""
    link: VerdictQuality | None
    """Quality of what the verdict rests on: the worst of the comparisons between its scenarios. If none is
    compared, the worst of their links and endpoints; null if nothing was graded.
    """
    over_grid: NotRequired[OverGrid]
    """The claim over all points of the grid of choices. Absent if one point was run and no choices are declared."""


@document
class GridChoice(TypedDict):
    """A choice that the paper leaves open."""

    path: str
    """Path of the experiment, or name of a metric if its definition is open."""
    title: str
    """The choice in words."""
    levels: list[str]
    """Its levels. The first applies unless another is named."""
    after_the_fact: bool
    """Whether it was written after data existed."""


@document
class GridInterpretation(TypedDict):
    """A named point of the grid of choices."""

    name: str
    """Its name."""
    title: str
    """The interpretation in words."""
    basis: Basis
    """What it was chosen by: the paper's text, its printed baseline, a fit to its numbers, or a rival explanation."""
    levels: dict[str, str]
    """Level of each choice."""
    used: int
    """Rows of printed numbers that it was chosen by."""
    used_claims: NotRequired[list[str]]
    """Claims that it was chosen by, of a paper that prints no numbers."""
    after_the_fact: bool
    """Whether it was written after data existed."""


@document
class Frozen(TypedDict):
    """When the claims and the grid were fixed."""

    digest: str
    """SHA-256 over the claims, choices and interpretations that were not written after `at`."""
    at: str
    """Time of freezing (RFC 3339)."""


@document
class GridRecord(TypedDict):
    """The grid of choices, from the file of claims."""

    frozen: Frozen | None
    """Null if the grid is not frozen."""
    first_trial: NotRequired[str]
    """When the first trial was done (RFC 3339); what was frozen later was written with data. Absent without a trial, or
    if an earlier version judged.
    """
    primary: str | None
    """Name of the interpretation that leads; null if the paper has none."""
    choices: list[GridChoice]
    """What the paper leaves open."""
    interpretations: list[GridInterpretation]
    """Named points of the grid."""


@document
class PublishedNumber(TypedDict):
    """A number that the paper printed, in base units."""

    metric: str
    """Name of the metric, as in `estimates.json`."""
    levels: dict[str, str]
    """Levels of the factors that the paper varied, the protocol included."""
    statistic: str
    """Which statistic, such as `mean`."""
    value: float
    """The number in base units, such as seconds."""


@document
class Verdicts(TypedDict):
    """`verdicts.json`: verdicts on the claims of an experiment."""

    schema_version: int
    """Version of the format."""
    claims_file: str
    """Name of the file of claims."""
    claims_sha256: str
    """Its digest."""
    family: ClaimFamily
    """The error rate that is controlled."""
    claims: list[ClaimRecord]
    """One entry for each claim."""
    published_numbers: list[PublishedNumber]
    """The paper's own numbers as data."""
    grid: NotRequired[GridRecord]
    """The grid of choices."""
    skill: NotRequired[list[SkillRecord]]
    """How well each interpretation that was run predicts the printed numbers. Absent if the paper prints none."""
    inside: NotRequired[list[InsideRecord]]
    """Orders that the paper's own numbers should have. Absent if the file of claims names none."""
    models: NotRequired[list[ModelRecord]]
    """One-line models of the means. Absent if the file of claims names none."""


def read_verdicts(campaign: Path) -> Verdicts | None:
    """A campaign's verdicts; None without any. Raises `WirelabError` if they are damaged, or of another version."""
    path = campaign / VERDICTS
    if not path.exists():
        return None
    hint = f"make it again: {launched(f'analyze {campaign}')}"
    return read_document(path, Verdicts, VERDICTS_VERSION, hint)
