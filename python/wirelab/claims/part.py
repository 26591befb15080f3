"""The base of all forms of claims: their keys in a file, and the methods of each form. Judges nothing itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from itertools import product
from typing import Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from wirelab.claims.judgement import Context, Judgement

Levels = dict[str, str]
Grid = dict[str, list[str]]
Statistic = Literal["mean", "sd", "median"]


class Table(BaseModel):
    """A table of the file; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


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
    """A part on one metric. `over` repeats it in each cell of a grid. `beside` is the title of a part that is shown
    outside the verdict and does not decide it. `cannot_confirm` says why agreement would not show the claim, and
    `cannot_contradict` why disagreement would not contradict it, as where the set-up lacks the claimed cause.
    """

    metric: str
    statistic: Statistic = "mean"
    where: Levels = {}
    over: Grid = {}
    beside: str | None = None
    cannot_confirm: str | None = None
    cannot_contradict: str | None = None

    @property
    def decides(self) -> bool:
        return not self.beside

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
    least: int | None = Field(default=None, ge=2)


class Steps(Part):
    """A quantity of `upper` (over `lower`, if given) at each level of a factor."""

    upper: Levels
    lower: Levels | None = None
    along: Along


class Place(Steps):
    """A place along a factor, between two published levels. All levels must have been run: places are counted in
    levels.
    """

    published: tuple[str, str]

    @field_validator("along")
    @classmethod
    def _all_levels(cls, along: Along) -> Along:
        if along.least is not None:
            raise ValueError("`least` is for trends alone: a place needs every level")
        return along

    @field_validator("published")
    @classmethod
    def _levels_along(cls, published: tuple[str, str], info: ValidationInfo[object]) -> tuple[str, str]:
        along = info.data.get("along")
        unknown = [level for level in published if isinstance(along, Along) and level not in along.levels]
        if unknown:
            raise ValueError(f"{unknown[0]} is not one of the levels of `along`")
        return published


def cells_of(grid: Grid) -> Iterator[Levels]:
    """Every combination of a grid's levels."""
    for levels in product(*grid.values()):
        yield dict(zip(grid, levels, strict=True))
