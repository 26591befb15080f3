"""What pydantic found wrong, as errors for people: place, key, value, hint."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from wirelab.errors import Where, WirelabError, did_you_mean, nearest
from wirelab.experiment.file.positions import Path

_KINDS = {
    "string_type": "should be a string",
    "int_type": "should be a whole number",
    "int_from_float": "should be a whole number",
    "int_parsing": "should be a whole number",
    "float_type": "should be a number",
    "float_parsing": "should be a number",
    "bool_type": "should be true or false",
    "finite_number": "should be a finite number",
    "list_type": "should be a list",
    "tuple_type": "should be a list",
    "dict_type": "should be a table",
    "model_type": "should be a table",
    "model_attributes_type": "should be a table",
}
_BOUNDS = {
    "greater_than": ("must be above", "gt"),
    "greater_than_equal": ("must be at least", "ge"),
    "less_than": ("must be below", "lt"),
    "less_than_equal": ("must be at most", "le"),
}
"""By the kind of a mistake: what is said of a bound, and its key in the context."""


def problems(error: ValidationError, model: type[BaseModel], locate: Callable[[Path], Where]) -> list[WirelabError]:
    """One error for each thing that is wrong, in the file's order."""
    details = error.errors(include_url=False)
    misspelt = {meant for detail in details if (meant := _meant(detail, model)) is not None}
    found = [
        _problem(detail, model, locate)
        for detail in details
        if not (detail["type"] == "missing" and detail["loc"] in misspelt)
    ]
    return sorted(
        found, key=lambda item: (getattr(item.where, "line", None) or 0, getattr(item.where, "column", 0) or 0)
    )


def shown(value: object) -> str:
    """A value as the file might have it, cut to what fits a line."""
    text = f'"{value}"' if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, datetime):
        text = value.isoformat().replace("+00:00", "Z")
    return text if len(text) <= 60 else f"{text[:57]}..."


def quoted_path(path: str, value: object) -> str:
    """The hint for a path whose dots TOML took for tables."""
    while isinstance(value, dict) and len(value) == 1:
        [(key, value)] = value.items()
        path = f"{path}.{key}"
    return f'a factor that is a path is one key, in quotes: "{path}" = {json.dumps(value, default=str)}'


def field_names(model: type[BaseModel]) -> list[str]:
    """A model's keys as written in the file."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _meant(detail: Any, model: type[BaseModel]) -> Path | None:
    """The key that an unknown one looks like: it is not missing as well."""
    path: Path = tuple(detail["loc"])
    owner = _model_at(model, path[:-1]) if detail["type"] == "extra_forbidden" else None
    near = nearest(str(path[-1]), field_names(owner)) if owner else None
    return None if near is None else (*path[:-1], near)


def _problem(detail: Any, model: type[BaseModel], locate: Callable[[Path], Where]) -> WirelabError:
    path: Path = tuple(detail["loc"])
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    hint: str | None = None
    match kind:
        case "extra_forbidden":
            owner = _model_at(model, path[:-1])
            hint = did_you_mean(str(path[-1]), field_names(owner)) if owner else None
            what = "unknown key"
        case "missing":
            return WirelabError("is missing", locate(path), hint=None)
        case "literal_error":
            known = [word.strip("'") for word in context["expected"].replace(" or ", ", ").split(", ")]
            what, hint = "unknown value", did_you_mean(str(value), known)
        case kind if kind in _BOUNDS:
            words, key = _BOUNDS[kind]
            what = f"{words} {context[key]:g}" if isinstance(context[key], float) else f"{words} {context[key]}"
        case "too_short":
            entries = context["actual_length"]
            what = f"has {entries} of at least {context['min_length']} entries" if entries else "is empty"
        case "too_long":
            what = f"has {context['actual_length'] or 'too many'} entries, at most {context['max_length']}"
        case "value_error":
            what, hint = str(context["error"]), getattr(context["error"], "hint", None)
        case _:
            what = _KINDS.get(kind, detail["msg"])
            if kind == "list_type":
                hint = _list_hint(value, locate(path))
    if isinstance(value, str) and what.startswith(f"{value}:"):
        return WirelabError(what, locate(path), hint)
    return WirelabError(f"{what} ({shown(value)})", locate(path), hint)


def _list_hint(value: object, where: Where) -> str:
    word = json.dumps(value, ensure_ascii=False, default=str)
    if where.source != "--set":
        if isinstance(value, dict) and where.key is not None:
            return quoted_path(where.key.rpartition(".")[2], value)
        return f"write [{word}]" if isinstance(value, str) else "write it in brackets"
    return f"""write the list in brackets: --set '{where.key}=[{word}, ...]'; commas outside them are between levels"""


def _model_at(model: type[BaseModel], path: Iterable[str | int]) -> type[BaseModel] | None:
    """The model that the path leads to, through fields, lists and tables of tables."""
    current: Any = model
    for part in path:
        if isinstance(current, type) and issubclass(current, BaseModel):
            fields = {field.alias or name: field for name, field in current.model_fields.items()}
            if part not in fields:
                return None
            current = _bare(fields[str(part)].annotation)
        else:
            current = _bare(get_args(current)[-1]) if get_args(current) else None
    return current if isinstance(current, type) and issubclass(current, BaseModel) else None


def _bare(annotation: Any) -> Any:
    """The annotation without `| None` and without what is said about it."""
    if get_origin(annotation) in (Union, types.UnionType):
        return _bare(next(argument for argument in get_args(annotation) if argument is not type(None)))
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    return annotation
