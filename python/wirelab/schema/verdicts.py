"""`verdicts.json`: what `analyze` writes of claims and the report reads (`docs/reference/files.md`). Judges nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NotRequired

from typing_extensions import TypedDict

from wirelab.launcher import launched
from wirelab.schema.document import read_document
from wirelab.schema.estimates import EstimateRecord, Grade, document
from wirelab.schema.plan import Level

VERDICTS = "verdicts.json"
VERDICTS_VERSION = 1

Verdict = Literal["confirmed", "contradicted", "inconclusive"]


@document
class ClaimFamily(TypedDict):
    """The claims whose error rate is controlled together."""

    error_rate: float
    claims: int
    method: str
    published_level: float | None
    """The confidence level that the paper asked for."""


@document
class Deciding(EstimateRecord):
    """An estimate with the interval that decided, at its own level."""

    of: str
    """What it is of; empty where that is `ours`."""


@document
class PublishedVerdict(TypedDict):
    """The same judgement on the paper's own printed numbers."""

    verdict: Verdict
    why: str


@document
class VerdictQuality(TypedDict):
    """What a verdict is good for: the worst of the comparisons, links and endpoints that it rests on."""

    flag: Grade
    why: str


@document
class PartRecord(TypedDict):
    """A part of a claim."""

    id: NotRequired[str]
    """Absent of a part's own parts."""
    form: str
    text: str
    verdict: Verdict
    why: str
    paper: float | str | None
    ours: EstimateRecord | None
    """A count is an estimate too."""
    judged: list[Deciding]
    """Of what is inconclusive the widest interval that was tried; none where no interval decides."""
    n: int
    parts: list[PartRecord]
    published: NotRequired[PublishedVerdict]
    contradiction: NotRequired[str | None]
    """A sentence if the paper's own numbers contradict it."""
    link: NotRequired[VerdictQuality | None]


@document
class ChoiceVerdict(TypedDict):
    """The verdict at one combination of the levels that the paper leaves open."""

    levels: dict[str, Level]
    verdict: Verdict
    missing: bool
    """Inconclusive because a scenario was not run with these levels, or with a setting that was not in force."""
    link: VerdictQuality | None


@document
class ClaimRecord(TypedDict):
    """A claim."""

    id: str
    form: str
    """`composite` for parts of several forms."""
    text: str
    verdict: Verdict
    why: str
    paper: float | str | None
    ours: EstimateRecord | None
    judged: list[Deciding]
    n: int
    parts: list[PartRecord]
    published: PublishedVerdict
    contradiction: str | None
    under_published_rule: Verdict | None
    """After the paper's outlier removal; null if the claims name none."""
    at_published_level: Verdict | None
    """On the claim alone, at the confidence level that the paper asked for; null if the claims name none."""
    choices: list[ChoiceVerdict]
    """The first is the one judged."""
    link: VerdictQuality | None


@document
class PublishedNumber(TypedDict):
    """A number that the paper printed, in base units."""

    metric: str
    levels: dict[str, str]
    statistic: str
    value: float


@document
class Verdicts(TypedDict):
    """The document."""

    schema_version: int
    claims_file: str
    claims_sha256: str
    family: ClaimFamily
    claims: list[ClaimRecord]
    published_numbers: list[PublishedNumber]


def read_verdicts(campaign: Path) -> Verdicts | None:
    """A campaign's verdicts; None without any. Raises `RunError` if they are damaged, or of another version."""
    path = campaign / VERDICTS
    if not path.exists():
        return None
    hint = f"make it again: {launched(f'analyze {campaign}')}"
    return read_document(path, Verdicts, VERDICTS_VERSION, hint)
