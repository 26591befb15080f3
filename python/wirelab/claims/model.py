"""Claims as data: a file of claims, validated before anything is judged by it.

A claim has parts, each of one form. A part names its metric (a key of `[metrics]`), the statistic, and scenarios by the
levels of `[grid]`: those of `where` and those of its own selectors; `over` repeats the part in every cell of a grid.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

Levels = dict[str, str]
Grid = dict[str, list[str]]
Statistic = Literal["mean", "sd", "median"]


class Table(BaseModel):
    """A table of the file; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Part(Table):
    """What every form has. `beside` says why a part stands beside the verdict and does not decide it."""

    metric: str
    statistic: Statistic = "mean"
    where: Levels = {}
    over: Grid = {}
    beside: str | None = None


class Order(Part):
    """The first is the smallest, and so on; each is more than `by` times the one before."""

    form: Literal["order"]
    ascending: list[Levels] = Field(min_length=2)
    by: float = Field(default=1, ge=1)


class Ratio(Part):
    """`upper` over `lower` has a published value. `printed` is what its rounding or truncation in print allows."""

    form: Literal["ratio"]
    upper: Levels
    lower: Levels
    published: float = Field(gt=0)
    printed: tuple[float, float]


class Equivalence(Part):
    """`upper` over `lower` lies between 1 / `margin` and `margin`."""

    form: Literal["equivalence"]
    upper: Levels
    lower: Levels
    margin: float = Field(gt=1)


class Count(Table):
    """In how many cells of the grid `winner` is below `loser`; a cell for each metric, statistic and combination of
    `over`.

    `majority` adds the direction: more than half. `counted` is what the publication's own tables give, where its text
    says something else; both are judged, and `published` decides.
    """

    form: Literal["count"]
    winner: Levels
    loser: Levels
    metrics: list[str] = Field(min_length=1)
    statistics: list[Statistic] = Field(min_length=1)
    over: Grid
    where: Levels = {}
    published: int = Field(ge=1)
    counted: int | None = None
    majority: bool = False


class Along(Table):
    """An ordered factor and its levels, in order. A trend with `least` is judged along those that were run, if they are
    as many.
    """

    path: str
    levels: list[str] = Field(min_length=2)
    least: int | None = Field(default=None, ge=2)


class Trend(Part):
    """`upper` (over `lower`, if given) rises or falls along a factor: the slope of its logarithm over the levels'
    ranks.
    """

    form: Literal["trend"]
    upper: Levels
    lower: Levels | None = None
    along: Along
    direction: Literal["rising", "falling"]


class Place(Part):
    """Somewhere along a factor, between two published ones of its levels, all of which must have been run: places are
    counted in them.
    """

    along: Along
    published: tuple[str, str]

    @field_validator("along")
    @classmethod
    def _all_levels(cls, along: Along) -> Along:
        if along.least is not None:
            raise ValueError("`least` is for trends alone: a place needs every level")
        return along

    @field_validator("published")
    @classmethod
    def _levels_along(cls, published: tuple[str, str], info: ValidationInfo) -> tuple[str, str]:
        along = info.data.get("along")
        unknown = [level for level in published if isinstance(along, Along) and level not in along.levels]
        if unknown:
            raise ValueError(f"{unknown[0]} is none of the levels of `along`")
        return published


class ChangePoint(Place):
    """Along a factor, `upper` over `lower` crosses 1 between the two published levels."""

    form: Literal["change-point"]
    upper: Levels
    lower: Levels


class Bend(Place):
    """Along a factor `upper` (over `lower`, if given) is level up to a place between the two published levels, and
    rises or falls behind it: of the pairs of lines that meet, the first of them level, those that fit its logarithm
    over the levels' ranks best meet there.
    """

    form: Literal["bend"]
    upper: Levels
    lower: Levels | None = None
    direction: Literal["rising", "falling"]


class Quotient(Part):
    """`metric` over the metric `per`, both of the case `of`: it is `published` (`printed` is what its rounding or
    truncation in print allows), or it is `above` a number.
    """

    form: Literal["quotient"]
    per: str
    of: Levels
    published: float | None = Field(default=None, gt=0)
    printed: tuple[float, float] | None = None
    above: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _one_claim(self) -> Self:
        if (self.above is None) != (self.published is not None) or (self.published is None) != (self.printed is None):
            raise ValueError("needs either `above`, or `published` and `printed`")
        return self


class Existence(Part):
    """There is a cell of `over` in which `upper` is above `lower`."""

    form: Literal["existence"]
    upper: Levels
    lower: Levels


class SameOrder(Part):
    """Cases stand in one order, whichever it is, in every cell of `across`."""

    form: Literal["same-order"]
    of: list[Levels] = Field(min_length=2)
    across: Grid


class CausalContrast(Part):
    """What `treated` adds over `control` is compared between a case `upper` and a case `lower`.

    `expect` says what the claimed cause predicts of the ratio of the two additions: `equal` (the cause acts alike in
    both; within `margin`), or `above` (it acts in `upper` alone). `per` divides each addition by the sum of these
    metrics' means under control. `cannot_hold` says why agreement would not show the cause. A `rival` explanation
    stands beside the verdict and does not decide it.
    """

    form: Literal["causal-contrast"]
    upper: Levels
    lower: Levels
    treated: Levels
    control: Levels
    expect: Literal["equal", "above"]
    margin: float = Field(default=1.25, ge=1)
    per: list[str] = []
    cannot_hold: str | None = None
    rival: str | None = None


class Unanswered(Table):
    """Some exchanges of the cases `of` stay unanswered: they time out or fail. A share below `least` counts as none; it
    is of the exchanges of all cells of `over` together.
    """

    form: Literal["unanswered"]
    of: Levels
    where: Levels = {}
    over: Grid = {}
    least: float = Field(gt=0, lt=1)


class NotMeasured(Table):
    """Nothing that is measured here tells: undecided whatever comes, and `reason` says why."""

    form: Literal["not-measured"]
    reason: str


AnyPart = (
    Order
    | Ratio
    | Equivalence
    | Count
    | Trend
    | ChangePoint
    | Bend
    | Quotient
    | Existence
    | SameOrder
    | CausalContrast
    | Unanswered
    | NotMeasured
)

FORMS: dict[str, type[BaseModel]] = {
    "order": Order,
    "ratio": Ratio,
    "equivalence": Equivalence,
    "count": Count,
    "trend": Trend,
    "change-point": ChangePoint,
    "bend": Bend,
    "quotient": Quotient,
    "existence": Existence,
    "same-order": SameOrder,
    "causal-contrast": CausalContrast,
    "unanswered": Unanswered,
    "not-measured": NotMeasured,
}


class ClaimTable(Table):
    """A claim as the file has it; its parts are validated by their form."""

    id: str
    text: str
    note: str | None = None
    part: list[dict[str, Any]] = Field(min_length=1)


Unit = Literal["ms", "s", "1", "mJ", "J"]


class PublishedTable(Table):
    """The publication's numbers: rows of metric, levels in the order of the grid, then one number for each
    statistic; and where it prints every value, rows of metric, levels, then the list of them. `unit` is that of all
    metrics, or one for each by its name.
    """

    unit: Unit | dict[str, Unit]
    statistics: list[Statistic] = []
    rows: list[list[str | float]] = []
    values: list[list[str | list[float]]] = []


class ClaimsFile(Table):
    """A file of claims. `metrics` maps a name to the metrics that may be meant by it; the first is the one judged
    by. `choices` are paths outside the grid at which some claims name the levels themselves. `outlier_rule` is what the
    publication removed outliers by, if it did (`wirelab.stats.published_rule`), and `published_level` the level of
    confidence that it asked for, each claim by itself.
    """

    paper: str
    doi: str | None = None
    error_rate: Annotated[float, Field(gt=0, lt=1)] = 0.05
    factor: Annotated[float, Field(gt=1)] = 1.25
    outlier_rule: Literal["three-scaled-mads"] | None = None
    published_level: Annotated[float, Field(gt=0.5, lt=1)] | None = None
    metrics: dict[str, list[str]]
    grid: Grid
    choices: Grid = {}
    labels: dict[str, str] = {}
    primary: Levels = {}
    claim: list[ClaimTable] = Field(min_length=1)
    published: PublishedTable | None = None


def decides(part: AnyPart) -> bool:
    """Whether a part decides its claim, or stands beside the verdict."""
    if isinstance(part, Part) and part.beside:
        return False
    return not (isinstance(part, CausalContrast) and part.rival)


def metrics_of(part: AnyPart) -> list[str]:
    """A part's names of metrics; none if it is judged by outcomes, or not measured."""
    match part:
        case NotMeasured() | Unanswered():
            return []
        case Count():
            return part.metrics
        case Quotient():
            return [part.metric, part.per]
    return [part.metric]


def statistics_of(part: AnyPart) -> list[Statistic]:
    """The statistics that it is judged by."""
    match part:
        case NotMeasured() | Unanswered():
            return []
        case Count():
            return part.statistics
    return [part.statistic]


class Claim(Table):
    """A claim whose parts have been validated."""

    id: str
    text: str
    note: str | None
    parts: list[AnyPart]
