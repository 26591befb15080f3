"""Field types of experiment files: quantities with units, read by `wirelab.units`, described for editors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from wirelab.errors import did_you_mean
from wirelab.units import (
    AT_MOST,
    UnitError,
    duration_ns,
    level_dbm,
    offset_ns,
    packet_count,
    rate_bps,
    share,
    size_bytes,
)

MOST_16 = 2**16 - 1
"""What IP holds as the length of a packet."""
LEAST_CPU = 0.001
"""The kernel takes 1 ms of CPU time at least, in a period of 1 s at most."""
MOST_32 = 2**32 - 1
"""What the data plane holds in fields of 32 bits."""


class Table(BaseModel):
    """A table of an experiment file: keys in kebab case, no other keys."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=lambda name: name.replace("_", "-"),
        defer_build=True,
    )


def _in_parts(schema: dict[str, Any]) -> None:
    """Say what is required of all layers together where no editor asks one of them for it."""
    if "required" in schema:
        schema["x-required"] = schema.pop("required")


class PartTable(Table):
    """A table of which a layer of a link may have a part: an editor cannot tell what is missing."""

    model_config = ConfigDict(json_schema_extra=_in_parts)


def quantity(read: Callable[[object], Any], example: str) -> tuple[PlainValidator, WithJsonSchema]:
    """Validator and editor schema of a quantity."""
    return PlainValidator(read), WithJsonSchema({"type": "string", "pattern": r"^\s*[0-9.]", "examples": [example]})


def positive(read: Callable[[object], Any], example: str) -> tuple[PlainValidator, WithJsonSchema]:
    """The same of a quantity that must not be 0."""

    def above_0(value: object) -> Any:
        if (found := read(value)) == 0:
            raise UnitError("must be more than 0", hint=f'such as "{example}"')
        return found

    return quantity(above_0, example)


def signed(read: Callable[[object], Any], example: str) -> tuple[PlainValidator, WithJsonSchema]:
    """The same of a quantity that may be negative."""
    return PlainValidator(read), WithJsonSchema({"type": "string", "pattern": r"^\s*[-+0-9.]", "examples": [example]})


def below_100_percent(value: float) -> float:
    """Refuse a correlation of 100 %."""
    if value == 1:
        raise UnitError("never changes", hint="a correlation of 100 % repeats the first draw for ever; take less")
    return value


def none(value: object) -> object:
    """Read `"none"` as nothing, so that a later layer can take away what an earlier one has."""
    return None if value == "none" else value


def fits_a_packet(value: int) -> int:
    """Refuse more bytes than a packet may have: no link layer adds as many to it."""
    if value > MOST_16:
        raise UnitError("is too much", hint=f"at most {MOST_16}")
    return value


def fits_32_bits(value: int) -> int:
    """Refuse what the data plane cannot hold."""
    if value > MOST_32:
        raise UnitError("is too much", hint=f"at most {MOST_32}")
    return value


def cpu_share(value: object) -> float | None:
    """A share of one CPU that the kernel can hold a host to, or `"none"` for no limit."""
    if value == "none":
        return None
    hint = 'from "0.1 %" to "100 %", or "none" for no limit'
    try:
        found = share(value)
    except UnitError as error:
        raise UnitError(str(error), hint if error.hint in {None, AT_MOST} else error.hint) from None
    if found < LEAST_CPU:
        raise UnitError("is not a share of a CPU", hint)
    return found


def choose(tag: str, models: Mapping[str, type[Table]], value: object, info: ValidationInfo, default: str = "") -> Any:
    """Read a table by the one of several models that its key `tag` names."""
    if not isinstance(value, Mapping):
        raise UnitError("should be a table")
    word = value.get(tag, default)
    if word == "":
        raise UnitError(f"has no '{tag}'", hint=f"known: {', '.join(sorted(models))}")
    if not isinstance(word, str) or word not in models:
        raise inside(tag, word, UnitError("unknown value", did_you_mean(str(word), models)))
    known = [field.alias or name for name, field in models[word].model_fields.items()]
    for key in value:
        if key not in known:
            raise inside(key, value[key], UnitError("unknown key", did_you_mean(str(key), known)))
    return models[word].model_validate(value, context=info.context)


def inside(key: str, value: object, error: UnitError) -> ValidationError:
    """The error of one key, for a reader of the whole table."""
    kind = PydanticCustomError("value_error", "cannot be read", {"error": error})
    return ValidationError.from_exception_data("table", [InitErrorDetails(type=kind, loc=(key,), input=value)])


Duration = Annotated[int, *quantity(duration_ns, "20 ms")]
PositiveDuration = Annotated[int, *positive(duration_ns, "10 s")]
Offset = Annotated[int, *signed(offset_ns, "-1 ms")]
Size = Annotated[int, *quantity(size_bytes, "3.5 kB")]
PositiveSize = Annotated[int, *positive(size_bytes, "64 kB")]
Overhead = Annotated[int, *quantity(size_bytes, "14 B"), AfterValidator(fits_a_packet)]
Packets = Annotated[int, *positive(packet_count, "100 packets"), AfterValidator(fits_32_bits)]
BitRate = Annotated[int, *positive(rate_bps, "250 kbit/s")]
BitRateOrZero = Annotated[int, *quantity(rate_bps, "250 kbit/s")]
Share = Annotated[float, *quantity(share, "10 %")]
Correlation = Annotated[float, *quantity(share, "25 %"), AfterValidator(below_100_percent)]
PositiveShare = Annotated[float, *positive(share, "1 %")]
CpuShare = Annotated[
    float | None,
    PlainValidator(cpu_share),
    WithJsonSchema({"type": "string", "pattern": r"^\s*([0-9.]|none$)", "examples": ["10 %"]}),
]
"""None: no limit."""
SignalLevel = Annotated[float, *signed(level_dbm, "-85 dBm")]
