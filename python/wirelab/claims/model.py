"""A file of claims, validated before anything is judged by it. Judges nothing.

A claim has parts, each of one form (`forms/`). A part names its metric (a key of `[metrics]`), the statistic, and
scenarios by the levels of `[grid]`: those of `where` and those of its own selectors; `over` repeats the part in every
cell of a grid.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StrictFloat, StrictInt

from wirelab.claims.campaigns import CampaignTable
from wirelab.claims.future import FutureTable
from wirelab.claims.inside import InsideTable
from wirelab.claims.interpretations import ChoiceTable, Dated, FrozenTable, InterpretationTable, primary_form
from wirelab.claims.one_line import ModelTable
from wirelab.claims.part import Entries, Entry, Form, Grid, Levels, Statistic, Table
from wirelab.units import UnitError


def _widens(factor: float) -> float:
    if factor <= 1:
        raise UnitError(
            "must be above 1", "a magnitude holds within the printed one divided and multiplied by it: 1.25"
        )
    return factor


class ClaimTable(Dated):
    """A claim as the file has it; its parts are validated by their form."""

    id: str
    text: str
    note: str | None = None
    part: list[dict[str, object]] = Field(min_length=1)


Unit = Literal["ms", "s", "1", "mJ", "J"]


class PublishedTable(Table):
    """The publication's numbers: rows of metric, levels in the order of the grid, then one number for each
    statistic; and where it prints every value, rows of metric, levels, then the list of them. `unit` is that of all
    metrics, or one for each by its name. `sample-size` is how many values each mean of `rows` has.
    """

    unit: Unit | dict[str, Unit]
    sample_size: StrictInt | None = Field(default=None, ge=2, alias="sample-size")
    statistics: list[Statistic] = Field(default_factory=list)
    rows: list[list[Entry]] = Field(default_factory=list)
    values: list[list[Entries]] = Field(default_factory=list)


class ClaimsFile(Table):
    """A file of claims. `metrics` maps a name to the metrics that may be meant by it; the first is the one judged
    by. `choices` are paths outside the grid at which some claims name the levels themselves. `outlier_rule` is what the
    publication removed outliers by, if it did (`wirelab.stats.estimate.published_rule`), and `published_level` the
    level of confidence that it asked for, each claim by itself.

    `choice` are what the publication leaves open, and `interpretation` named points of their grid. `primary` names the
    one that leads; in a file without choices it has the levels that are judged first. `frozen` says when the claims and
    the grid were fixed. `campaign` are the runs that they are judged by, the confirmatory one first. `null-cell` has
    levels of the cell that a null model predicts the others by; without it that is the first level of the grid's second
    factor. `inside` are orders that its own numbers should have, and `model` one-line models of them. `future` is the
    work that it leaves.
    """

    paper: str
    doi: str | None = None
    error_rate: Annotated[StrictFloat, Field(gt=0, lt=1)] = 0.05
    factor: Annotated[StrictFloat, AfterValidator(_widens)] = 1.25
    outlier_rule: Literal["three-scaled-mads"] | None = None
    published_level: Annotated[StrictFloat, Field(gt=0.5, lt=1)] | None = None
    metrics: dict[str, list[str]]
    grid: Grid
    choices: Grid = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)
    primary: Annotated[str | Levels, BeforeValidator(primary_form)] = Field(default_factory=dict)
    choice: list[ChoiceTable] = Field(default_factory=list)
    interpretation: list[InterpretationTable] = Field(default_factory=list)
    null_cell: Levels = Field(default_factory=dict, alias="null-cell")
    inside: list[InsideTable] = Field(default_factory=list)
    model: list[ModelTable] = Field(default_factory=list)
    future: list[FutureTable] = Field(default_factory=list)
    frozen: FrozenTable | None = None
    campaign: list[CampaignTable] = Field(default_factory=list)
    claim: list[ClaimTable] = Field(min_length=1)
    published: PublishedTable | None = None


class Claim(Table):
    """A claim whose parts have been validated. `later` are those that were written after data existed: they stand at
    its end, and change nothing of what is said of the claim.
    """

    id: str
    text: str
    note: str | None
    parts: list[Form]
    later: list[Form] = Field(default_factory=list)
