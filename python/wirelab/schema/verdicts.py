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

VERDICTS = "verdicts.json"
VERDICTS_VERSION = 1

Verdict = Literal["confirmed", "contradicted", "inconclusive"]


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


def read_verdicts(campaign: Path) -> Verdicts | None:
    """A campaign's verdicts; None without any. Raises `WirelabError` if they are damaged, or of another version."""
    path = campaign / VERDICTS
    if not path.exists():
        return None
    hint = f"make it again: {launched(f'analyze {campaign}')}"
    return read_document(path, Verdicts, VERDICTS_VERSION, hint)
