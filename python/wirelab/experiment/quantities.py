"""Field types of experiment files: quantities with units, read by `wirelab.units`, described for editors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainValidator, WithJsonSchema

from wirelab.units import UnitError, duration_ns, rate_bps, share, size_bytes


class Table(BaseModel):
    """A table of an experiment file: keys in kebab case, no other keys."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=lambda name: name.replace("_", "-")
    )


def quantity(read: Callable[[object], Any], example: str) -> tuple[PlainValidator, WithJsonSchema]:
    """Validator and editor schema of a quantity."""
    return PlainValidator(read), WithJsonSchema({"type": "string", "pattern": r"^\s*[0-9.]", "examples": [example]})


def positive(value: float) -> float:
    """Refuse 0."""
    if value == 0:
        raise UnitError("must be more than 0")
    return value


Duration = Annotated[int, *quantity(duration_ns, "20 ms")]
PositiveDuration = Annotated[int, *quantity(duration_ns, "10 s"), AfterValidator(positive)]
Size = Annotated[int, *quantity(size_bytes, "3.5 kB")]
BitRate = Annotated[int, *quantity(rate_bps, "250 kbit/s"), AfterValidator(positive)]
Share = Annotated[float, *quantity(share, "10 %")]
