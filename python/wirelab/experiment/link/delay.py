"""Delay's spread, reordering, and what else happens to a packet with a probability."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, PlainValidator, ValidationInfo, model_validator

from wirelab.experiment.file.quantities import Correlation, Duration, Offset, PositiveDuration, Share, Table, choose
from wirelab.experiment.link.files import Files, delays
from wirelab.schema import (
    JitterSpec,
    NormalJitter,
    ParetoJitter,
    ParetoNormalJitter,
    Reorder,
    TableJitter,
    UniformJitter,
)
from wirelab.units import UnitError, duration_ns, share

MAX_QUANTILES = 4097
"""Quantiles that a table keeps of a file of delays."""


class NormalTable(Table):
    """Normal jitter."""

    distribution: Literal["normal"]
    sigma: Duration = Field(description="Standard deviation.")

    def spec(self) -> JitterSpec:
        return NormalJitter(sigma_ns=self.sigma)


class UniformTable(Table):
    """Uniform jitter."""

    distribution: Literal["uniform"]
    half_width: Duration = Field(description="Half of the width: the delay is at most so far from its mean.")

    def spec(self) -> JitterSpec:
        return UniformJitter(half_width_ns=self.half_width)


class ParetoTable(Table):
    """Pareto jitter, as netem's `pareto`."""

    distribution: Literal["pareto"]
    sigma: Duration = Field(description="netem's jitter.")

    def spec(self) -> JitterSpec:
        return ParetoJitter(sigma_ns=self.sigma)


class ParetoNormalTable(Table):
    """A mixture of normal and Pareto jitter, as netem's `paretonormal`."""

    distribution: Literal["pareto-normal"]
    sigma: Duration = Field(description="netem's jitter.")

    def spec(self) -> JitterSpec:
        return ParetoNormalJitter(sigma_ns=self.sigma)


def read_delays(value: object, info: ValidationInfo) -> tuple[int, ...]:
    """A file of delays as offsets from their mean at equally spaced probabilities."""
    found = Files.of(info).read(value, delays)
    count = min(len(found), MAX_QUANTILES)
    quantiles = [_quantile(found, step / (count - 1)) for step in range(count)]
    mean = (sum(quantiles) - (quantiles[0] + quantiles[-1]) / 2) / (count - 1)
    return tuple(round(quantile - mean) for quantile in quantiles)


class OffsetsTable(Table):
    """Jitter by a table of quantiles."""

    distribution: Literal["table"]
    offsets: Annotated[list[Offset], Field(max_length=MAX_QUANTILES)] | None = Field(
        default=None,
        description="Ascending quantiles at equally spaced probabilities from 0 to 1. They are added to the delay "
        "unchanged, so their mean moves it.",
        examples=[["-1 ms", "0 ms", "5 ms"]],
    )
    file: Annotated[tuple[int, ...], PlainValidator(read_delays, json_schema_input_type=str)] | None = Field(
        default=None,
        description="File with a delay on each line. Their offsets from their mean are used.",
        examples=["delays.txt"],
    )

    @model_validator(mode="after")
    def _one_source(self) -> OffsetsTable:
        if (self.offsets is None) == (self.file is None):
            raise UnitError("needs either offsets or file")
        if self.offsets is not None and len(self.offsets) < 2:
            raise UnitError("needs at least two offsets", hint="from the shortest delay to the longest")
        for before, after in pairwise(self.offsets or ()):
            if after < before:
                raise UnitError("offsets must ascend", hint="from the shortest delay to the longest")
        return self

    def spec(self) -> JitterSpec:
        return TableJitter(offsets_ns=tuple(self.offsets or ()) or self.file or ())


_JITTERS: dict[str, type[NormalTable | UniformTable | ParetoTable | ParetoNormalTable | OffsetsTable]] = {
    "normal": NormalTable,
    "uniform": UniformTable,
    "pareto": ParetoTable,
    "pareto-normal": ParetoNormalTable,
    "table": OffsetsTable,
}


def read_jitter(value: object, info: ValidationInfo) -> JitterSpec | None:
    """`"normal 5 ms"` (standard deviation), `"uniform 5 ms"` (half-width), `"pareto 5 ms"`, `"pareto-normal 5 ms"`
    (netem's jitter), `"none"`, or a table.
    """
    hint = (
        'write "normal 5 ms" (standard deviation), "uniform 5 ms" (half-width), "pareto 5 ms" or "pareto-normal 5 ms" '
        '(netem\'s jitter), or "none"'
    )
    if value == "none":
        return None
    if isinstance(value, Mapping):
        table: NormalTable | UniformTable | ParetoTable | ParetoNormalTable | OffsetsTable = choose(
            "distribution", _JITTERS, value, info
        )
        return table.spec()
    if not isinstance(value, str):
        raise UnitError("is not a jitter", hint=hint)
    distribution, _, spread = value.strip().partition(" ")
    match distribution:
        case "normal":
            return NormalJitter(sigma_ns=duration_ns(spread))
        case "uniform":
            return UniformJitter(half_width_ns=duration_ns(spread))
        case "pareto":
            return ParetoJitter(sigma_ns=duration_ns(spread))
        case "pareto-normal":
            return ParetoNormalJitter(sigma_ns=duration_ns(spread))
    raise UnitError(f"unknown distribution '{distribution}'", hint=hint)


_Text = Annotated[str, Field(pattern="^(none|(normal|uniform|pareto|pareto-normal) .+)$", examples=["normal 5 ms"])]
Jitter = Annotated[
    JitterSpec | None,
    PlainValidator(
        read_jitter,
        json_schema_input_type=_Text | NormalTable | UniformTable | ParetoTable | ParetoNormalTable | OffsetsTable,
    ),
]


class ReorderTable(Table):
    """Reordering: some packets are held back."""

    probability: Share = Field(description="Share of packets that are held back.")
    by: PositiveDuration = Field(description="How long such a packet is held back.")
    correlation: Correlation = Field(default=0.0, description="netem's correlation of successive draws.")

    def spec(self) -> Reorder | None:
        """What the data plane gets; None where nothing happens."""
        if self.probability == 0:
            return None
        return Reorder(probability=self.probability, by_ns=self.by, correlation=self.correlation)


class ChanceTable(Table):
    """What happens to each packet with a probability."""

    probability: Share = Field(description="Probability for each packet.")
    correlation: Correlation = Field(default=0.0, description="netem's correlation of successive draws.")


def read_chance(value: object, info: ValidationInfo) -> ChanceTable:
    """`"1 %"`, or a table of `probability` and `correlation`."""
    if not isinstance(value, Mapping):
        share(value)
        value = {"probability": value}
    return ChanceTable.model_validate(value, context=info.context)


Chance = Annotated[
    ChanceTable,
    PlainValidator(
        read_chance, json_schema_input_type=Annotated[str, Field(pattern=r"^\s*[0-9.]", examples=["1 %"])] | ChanceTable
    ),
]


def _quantile(values: tuple[int, ...], probability: float) -> float:
    """Of sorted values, linear between them."""
    position = probability * (len(values) - 1)
    index = min(int(position), len(values) - 2)
    return values[index] + (values[index + 1] - values[index]) * (position - index)
