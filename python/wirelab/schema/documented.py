"""JSON Schemas in which each key has the text below its field: what editors show, and what pages are made of.

Pydantic would read the source of every model when it is imported; this reads it when a schema is made.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from wirelab.schema.generated import generated

_BORDER = ("workload-spec", "description", "host-reply", "host-request", "endpoint-parameters")
"""Schemas of the Rust types, whose models here have no texts of their own."""


class Documented(GenerateJsonSchema):
    """Describes the keys of models by the texts below their fields, or by what the data plane says of them."""

    def model_schema(self, schema: core_schema.ModelSchema) -> dict[str, Any]:
        """The model's schema with a description of each key that has a text."""
        return _described(super().model_schema(schema), schema["cls"])

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> dict[str, Any]:
        """The same of a typed dictionary."""
        return _described(super().typed_dict_schema(schema), schema["cls"])


def _described(schema: dict[str, Any], model: type) -> dict[str, Any]:
    texts = field_texts(model)
    for key, each in schema.get("properties", {}).items():
        text = texts.get(key) or border_text(model.__name__, key)
        if text and "description" not in each:
            each["description"] = text
    return schema


def field_texts(model: type) -> Mapping[str, str]:
    """What stands below each field of a model, and of those that it extends."""
    found: dict[str, str] = {}
    # A typed dictionary has no other class among its bases but in this attribute.
    for base in getattr(model, "__orig_bases__", model.__bases__):
        if getattr(base, "__module__", "").startswith("wirelab."):
            found.update(field_texts(base))
    return {**found, **_classes(model.__module__).get(model.__name__, {})}


@cache
def _classes(module: str) -> Mapping[str, Mapping[str, str]]:
    """The texts of a module's classes."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: dict(_texts(node.body)) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def _texts(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, text in pairwise(body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                yield name, " ".join(words.split())


def border_text(model: str, key: str) -> str | None:
    """What the Rust type of the same name, or of the same kind, says of a key."""
    return _border().get((model.replace("-", "").lower(), key))


@cache
def _border() -> Mapping[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for name in _BORDER:
        schema = json.loads(generated(f"{name}.json"))
        types = {schema["title"]: schema, **schema.get("$defs", {})}
        for title, each in types.items():
            for variant in (each, *each.get("oneOf", [])):
                properties = variant.get("properties", {})
                tag = next((value["const"] for value in properties.values() if "const" in value), title)
                for key, value in properties.items():
                    if text := value.get("description"):
                        found.setdefault((tag.replace("-", "").lower(), key), " ".join(text.split()))
    return found
