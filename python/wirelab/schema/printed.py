"""What `verdicts.json` has of all the numbers that a paper prints: how well they are predicted. Judges nothing."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from wirelab.schema.bounds import document
from wirelab.schema.estimates import EstimateRecord

NullModel = Literal["constant", "protocol-median", "null-cell"]
"""`constant`: the geometric mean of the printed numbers of that metric and statistic. `protocol-median`: the median of
those of the same protocol. `null-cell`: the printed number of one cell, such as the lossless one, at the same other
levels.
"""
Skilled = Literal["skill", "no-skill", "not-shown"]


@document
class NullRecord(TypedDict):
    """A null model on the numbers that it can predict, next to our estimates of the same numbers."""

    model: NullModel
    """Which null model."""
    n: int
    """Printed numbers that it can predict without having seen them."""
    error: float
    """Mean absolute natural logarithm of its prediction over the printed number. It is fitted to the other numbers."""
    error_seen: float
    """The same if it is fitted to all numbers, the predicted one included."""
    ours: float
    """Our error on the same numbers."""
    score: EstimateRecord
    """Skill score: 1 less our error over that of the null model. 1 is perfect, and 0 is no better than the model. For
    numbers that we were fitted to, `error_seen` is the model's error.
    """


@document
class PredictionRecord(TypedDict):
    """How well printed numbers are predicted."""

    n: int
    """Printed numbers with an estimate of ours."""
    error: EstimateRecord
    """Mean absolute natural logarithm of our estimate over the printed number: 0.69 is a factor of 2."""
    nulls: list[NullRecord]
    """Null models on the same numbers. One that can predict none is absent."""


@document
class GroupRecord(PredictionRecord):
    """The same for one metric and one statistic."""

    metric: str
    """Name of the metric in the file of claims."""
    statistic: str
    """Which statistic, such as `mean`."""
    used: bool
    """Whether these are numbers that the interpretation was fitted to."""


@document
class LeftOutRecord(PredictionRecord):
    """Numbers that the interpretation was fitted to, predicted without one level of a factor at a time. The others fix
    one scale: the ratio of geometric means.
    """

    path: str
    """Path of the factor."""


@document
class SkillRecord(TypedDict):
    """How well one interpretation predicts the numbers that the paper prints, next to null models."""

    interpretation: str
    """Its name."""
    by_rule: bool
    """Whether our values were filtered by the paper's outlier rule first."""
    null_cell: dict[str, str]
    """Levels of the cell that the null model `null-cell` predicts the others by; empty if there is none."""
    knobs: int
    """Choices that it sets away from their first level."""
    used: int
    """Printed numbers that it was fitted to."""
    predicted: int
    """All other printed numbers."""
    missing: int
    """Of all printed numbers, those without an estimate of ours above 0."""
    error: PredictionRecord | None
    """Over the predicted means and medians; null if none has an estimate. Standard deviations have their own groups."""
    skill: Skilled | None
    """`skill` if the interval of each score lies above 0; `no-skill` if a score is 0 or below. Null without a score."""
    groups: list[GroupRecord]
    """The same for each metric and statistic, and separately for the used numbers, which are no prediction."""
    left_out: list[LeftOutRecord]
    """For each factor of the used numbers; empty if the interpretation is not fitted."""


@document
class PrintedCell(TypedDict):
    """A printed mean."""

    metric: str
    """Name of the metric in the file of claims."""
    levels: dict[str, str]
    """Levels of the factors that the paper varied."""
    value: float
    """The mean in base units, such as seconds."""
    unit: Literal["s", "J", "1"]
    """The base unit."""


@document
class InsideCell(TypedDict):
    """Two printed means that are not in the order that they should have."""

    lower: PrintedCell
    """The mean that should be the lower one."""
    upper: PrintedCell
    """The other."""
    difference: float
    """The lower mean less `factor` times the upper one, in base units. Above 0 it is against the order."""
    z: float | None
    """The same in standard errors, from the printed standard deviations and sample size, as if values were
    independent; null if the paper does not print them.
    """


@document
class InsideRecord(TypedDict):
    """An order that the paper's own printed numbers should have."""

    title: str
    """The order as a sentence."""
    why: str
    """What gives the order."""
    factor: float
    """The lower mean is at most so many times the upper one."""
    compared: int
    """Pairs of printed means that were compared."""
    against: list[InsideCell]
    """Pairs against the order by more than 3 standard errors, or at all if there is no z."""


@document
class FittedConstant(TypedDict):
    """A constant of a one-line model, fitted by least squares."""

    level: str
    """Level of the factor."""
    value_s: float
    """The constant in seconds."""


@document
class ModelCell(TypedDict):
    """One cell of a one-line model."""

    levels: dict[str, str]
    """Levels of the factors that the paper varied."""
    predicted_s: float
    """What the model says, in seconds."""
    mean_s: float
    """The mean, in seconds."""


@document
class ModelError(TypedDict):
    """A one-line model next to means."""

    n: int
    """Means that it was compared with."""
    constants: list[FittedConstant]
    """Constants that were fitted to these means."""
    error: float | None
    """Mean absolute natural logarithm of its time over the mean; null with as many constants as means, or if it gives a
    time below 0.
    """
    cells: list[ModelCell]
    """Each cell."""


@document
class ModelRecord(TypedDict):
    """A one-line model: a number of rounds for each cell, plus constants. Written after the numbers were seen."""

    name: str
    """Its name."""
    text: str
    """The model as a sentence."""
    note: str | None
    """Where it fails, as a sentence."""
    metric: str
    """Name of the metric in the file of claims."""
    interpretation: str | None
    """The interpretation that it applies to; null for the point that is judged first."""
    round_s: float
    """Length of a round, in seconds."""
    printed: ModelError | None
    """Next to the paper's printed means; null if it prints none of them."""
    ours: ModelError | None
    """Next to our means; null if none was measured."""
