"""Keys of a link for impairments whose parameters are all single values, made from their models. It knows no kind.

`drop-every = { every = 10 }` means the model's `every`. A parameter's unit is its name's ending in the model (`by_ns`
is written `by = "5 ms"`), and a fraction is a share. An impairment with one parameter may be written as its value
alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from types import NoneType
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import BaseModel, Field, PlainValidator, ValidationInfo, create_model
from pydantic.fields import FieldInfo

from wirelab.experiment.file.quantities import BitRateOrZero, Duration, Share, Size, Table
from wirelab.units import UnitError

_UNITS: Mapping[str, Any] = {"ns": Duration, "bps": BitRateOrZero, "bytes": Size}
"""What is written for a number, by the ending of its name in the model."""
_ENDING = "_"


class _Plain(Table):
    """A table of single values."""


def plain_keys(models: Iterable[type[BaseModel]]) -> type[Table]:
    """A table with a key for each of these models that has single values alone; its values are the models'."""
    keys: dict[str, Any] = {}
    for model in models:
        if (table := _table(model)) is not None:
            keys[kind_of(model).replace("-", "_")] = _key(model, table)
    return create_model("PlainKeys", __base__=Table, __doc__="Impairments with single values.", **keys)


def kind_of(model: type[BaseModel]) -> str:
    """What an impairment's model is called in JSON."""
    return str(model.model_fields["kind"].default)


def _key(model: type[BaseModel], table: type[_Plain]) -> tuple[Any, Any]:
    written = {_written(name)[0]: name for name in _parameters(model)}
    [alone] = written if len(written) == 1 else [None]

    def read(value: object, info: ValidationInfo) -> BaseModel | None:
        if value == "none":
            return None
        if not isinstance(value, Mapping):
            if alone is None:
                raise UnitError("should be a table", f"such as {{ {', '.join(f'{key} = …' for key in written)} }}")
            value = {alone: value}
        found = table.model_validate(value, context=info.context)
        return model(**{name: getattr(found, key) for key, name in written.items() if key in found.model_fields_set})

    accepted = [table, Literal["none"], *([] if alone is None else [table.model_fields[alone].rebuild_annotation()])]
    validator = PlainValidator(read, json_schema_input_type=reduce(or_, accepted))
    return Annotated[model | None, validator], Field(default=None, description=" ".join((model.__doc__ or "").split()))


def _table(model: type[BaseModel]) -> type[_Plain] | None:
    """None if a parameter is more than a single value."""
    fields: dict[str, Any] = {}
    for name, info in _parameters(model).items():
        key, unit = _written(name)
        kind = _kind(info, unit)
        if kind is None:
            return None
        fields[key] = (kind, ... if info.is_required() else Field(default=info.default))
    return cast(type[_Plain], create_model(f"{model.__name__}Table", __base__=_Plain, __doc__=model.__doc__, **fields))


def _parameters(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {name: info for name, info in model.model_fields.items() if name != "kind"}


def _written(name: str) -> tuple[str, str | None]:
    """A parameter's name in an experiment file, and its unit."""
    key, _, unit = name.rpartition(_ENDING)
    return (key, unit) if unit in _UNITS else (name, None)


def _kind(info: FieldInfo, unit: str | None) -> Any:
    """What is written for a parameter; None if it is more than a single value."""
    kinds = [kind for kind in get_args(info.annotation) or (info.annotation,) if kind is not NoneType]
    if len(kinds) != 1:
        return None
    # Of `X | None` the bounds are X's own.
    kind, bounds = (kinds[0].__origin__, kinds[0].__metadata__) if hasattr(kinds[0], "__metadata__") else (kinds[0], ())
    if kind not in {int, float, bool, str} or (unit is not None and kind is not int):
        return None
    found = _UNITS[unit] if unit is not None else Share if kind is float else _bounded(kind, (*info.metadata, *bounds))
    return found | None if NoneType in get_args(info.annotation) else found


def _bounded(kind: type, bounds: Iterable[Any]) -> Any:
    found: Any = kind
    for bound in bounds:
        found = Annotated[found, bound]
    return found
