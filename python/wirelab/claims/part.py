"""The base of all forms of claims: their keys in a file, and the methods of each form. Judges nothing itself."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import product
from typing import Annotated, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    ValidationInfo,
    field_validator,
)

from wirelab.claims.judgement import Context, Judgement
from wirelab.experiment.file.quantities import PositiveDuration
from wirelab.units import UnitError

Levels = dict[str, str]
Grid = dict[str, list[str]]
OF_COMPLETED = "mean-of-completed"
Statistic = Literal["mean", "sd", "median", "mean-of-completed"]
"""A mean counts time-outs at the time-out; that of completed exchanges leaves them out."""


def _of_means(horizon_ns: int | None, info: ValidationInfo[object]) -> int | None:
    """Refused next to another statistic, which no horizon changes (a median) or which it makes small (an sd)."""
    for statistic in (info.data.get("statistic"), *info.data.get("statistics", [])):
        if horizon_ns is not None and statistic not in {None, "mean"}:
            raise UnitError(f'a horizon cuts the values of a mean, not of "{statistic}"', 'statistic = "mean"')
    return horizon_ns


def _zoned(value: object) -> object:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value
    raise ValueError("should be a time with its zone, such as 2026-11-26T00:00:00Z")


Time = Annotated[datetime, BeforeValidator(_zoned)]
LATER = "after-the-fact"
"""The key of a time at which something was written, if data existed by then."""


def _outside(when: datetime | None, info: ValidationInfo[object]) -> datetime | None:
    """Refused without a title, which says that the part decides nothing: its author knew what it would find."""
    if when is not None and not info.data.get("beside"):
        raise UnitError("a part that was written after data existed decides nothing", "give it a title: beside")
    return when


Horizon = Annotated[PositiveDuration | None, AfterValidator(_of_means)]
"""Nanoseconds at which each value of a mean is cut: the restricted mean, which a few endless exchanges do not
decide.
"""


def _holding(printed: tuple[float, float], info: ValidationInfo[object]) -> tuple[float, float]:
    low, high = printed
    if low > high:
        raise UnitError("does not ascend", "write the smaller bound first")
    published = info.data.get("published")
    if isinstance(published, float) and not low <= published <= high:
        raise UnitError(
            f"does not hold the published {published:g}", "write the smallest and the largest number that rounds to it"
        )
    return printed


Printed = Annotated[tuple[StrictFloat, StrictFloat], AfterValidator(_holding)]
"""What the rounding or truncation of a number in print allows: its smallest and its largest value."""


def as_compared(level: object) -> str:
    """A level without spaces and case, as levels are compared: `3.5 KB` is `3.5 kB`."""
    return "".join(str(level).split()).lower()


def _finite(value: object) -> object:
    """Refuses what TOML has and JSON has not, in one sentence: a union would give one for each of its types."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, float) and not math.isfinite(each):
            raise UnitError("should be a finite number", "write a number, or leave the row out")
    return value


Entry = Annotated[str | float, BeforeValidator(_finite)]
"""A name or a number in a row."""
Entries = Annotated[str | list[float], BeforeValidator(_finite)]
"""A name or a list of numbers in a row."""


class Table(BaseModel):
    """A table of the file; unknown keys are errors, and so are infinity and not-a-number."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)


class Form(Table):
    """A part of a claim. A subclass has `form: Literal[...]`, the name that files give, and the keys of its table."""

    form: str

    @classmethod
    def name(cls) -> str:
        """Its name in a file."""
        [name] = get_args(cls.model_fields["form"].annotation)
        return str(name)

    @property
    def decides(self) -> bool:
        """Whether the part decides its claim, or is shown outside the verdict."""
        return True

    def metric_names(self) -> list[str]:
        """Names of the metrics that it is judged by; none if it is judged by outcomes, or not at all."""
        return []

    def statistic_names(self) -> list[Statistic]:
        """The statistics of them."""
        return []

    def expand(self) -> list[Form]:
        """The part as parts that need one decision each."""
        return [self]

    @abstractmethod
    def judge(self, context: Context) -> Judgement:
        """The verdict on a part that `expand` gave."""


class Part(Form):
    """A part on one metric. `over` repeats it in each cell of a grid. `horizon` cuts each value of its means there.
    `beside` is the title of a part that is shown outside the verdict and does not decide it. `cannot_confirm` says why
    agreement would not show the claim, and `cannot_contradict` why disagreement would not contradict it, as where the
    set-up lacks the claimed cause. A part that was written after data existed decides nothing.
    """

    metric: str
    statistic: Statistic = "mean"
    horizon: Horizon = None
    where: Levels = {}
    over: Grid = {}
    beside: str | None = None
    after_the_fact: Annotated[Time | None, AfterValidator(_outside)] = Field(default=None, alias=LATER)
    cannot_confirm: str | None = None
    cannot_contradict: str | None = None

    @property
    def decides(self) -> bool:
        return not self.beside

    @property
    def title(self) -> str | None:
        """What a part outside the verdict asks, and when it was written if that was after data existed."""
        late = f", written on {self.after_the_fact:%Y-%m-%d} after data existed" if self.after_the_fact else ""
        return f"{self.beside}{late}" if self.beside else None

    def metric_names(self) -> list[str]:
        return [self.metric]

    def statistic_names(self) -> list[Statistic]:
        return [self.statistic]

    def expand(self) -> list[Form]:
        return [*self.cells()]

    def cells(self) -> Iterator[Self]:
        """The same part in each cell of `over`."""
        for cell in cells_of(self.over):
            yield self.model_copy(update={"where": {**self.where, **cell}, "over": {}})


class Along(Table):
    """An ordered factor and its levels, in order. A trend with `least` uses the levels that were run, if they are at
    least so many.
    """

    path: str
    levels: list[str] = Field(min_length=2)
    least: StrictInt | None = Field(default=None, ge=2)


class Steps(Part):
    """A quantity of `upper` (over `lower`, if given) at each level of a factor."""

    upper: Levels
    lower: Levels | None = None
    along: Along


class EveryStep(Steps):
    """All levels must have been run: places along the factor are counted in levels."""

    @field_validator("along")
    @classmethod
    def _all_levels(cls, along: Along) -> Along:
        if along.least is not None:
            raise ValueError("`least` is for trends alone: a place needs every level")
        return along


class Place(EveryStep):
    """A place along a factor, between two published levels."""

    published: tuple[str, str]

    @field_validator("published")
    @classmethod
    def _levels_along(cls, published: tuple[str, str], info: ValidationInfo[object]) -> tuple[str, str]:
        known_along(published, info)
        return published


def selectors(part: Form) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The levels that a part names: for each of its keys, paths with a level."""
    for key in type(part).model_fields:
        value: object = getattr(part, key)
        for table in value if isinstance(value, list) else [value]:
            if isinstance(table, dict):
                pairs = [(path, levels if isinstance(levels, list) else [levels]) for path, levels in table.items()]
                yield key, [(path, level) for path, levels in pairs for level in levels]


def known_along(levels: Iterable[str], info: ValidationInfo[object]) -> None:
    """Raises `ValueError` if one is not a level of the table's `along`."""
    along = info.data.get("along")
    unknown = [level for level in levels if isinstance(along, Along) and level not in along.levels]
    if unknown:
        raise ValueError(f"{unknown[0]} is not one of the levels of `along`")


def seconds(duration_ns: int | None) -> float | None:
    """A duration of a file, as statistics have it."""
    return None if duration_ns is None else duration_ns / 1e9


def cells_of(grid: Grid) -> Iterator[Levels]:
    """Every combination of a grid's levels."""
    for levels in product(*grid.values()):
        yield dict(zip(grid, levels, strict=True))
