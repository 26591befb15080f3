"""The keys of a JSON Schema as sections, each with a table. It knows JSON Schema as pydantic writes it, and no key."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from scripts.reference.markdown import code, sentences, slug, table

from wirelab.units import QUANTITIES

Json = Mapping[str, Any]
FEW = 3
"""A section is headed by so many places at most, else by its type's name."""
_PLAIN = {
    "null": "null",
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "array": "list",
}
_LARGEST = 2**31
"""A bound above it says no more than that a number is whole."""


class Schema:
    """One schema. `outside` are types that other schemas have, `without` those that another page has."""

    def __init__(
        self, schema: Json, outside: Mapping[str, tuple[str, set[str]]], without: tuple[str, ...], *, defaults: bool
    ) -> None:
        self._defs: Json = schema.get("$defs", {})
        self._root = schema
        # Of two types of one name that have other keys, neither is the other.
        self._outside = {
            name: file
            for name, (file, keys) in outside.items()
            if set(self._defs.get(name, {}).get("properties", {})) in (set(), keys)
        }
        self._without = without
        self._defaults = defaults
        self._places: dict[str, list[str]] = {}
        self._start = ""
        self._part: str | None = None
        self._quiet = False

    def text(self, start: str = "") -> str:
        """Every section from a type on: the document's own without a name."""
        self._start, self._part = start, self._part_of(start)
        self._find(start, "")
        parts = [start, *self._places] if self._part is None else [self._part, start, *self._places]
        return "\n\n".join(self._section(name) for name in parts)

    def _type(self, name: str) -> Json:
        found: Json = self._defs[name] if name else self._root
        return found

    def _find(self, name: str, place: str) -> None:
        """Every type below one, breadth first, with the places that have it."""
        waiting = [(name, place)]
        while waiting:
            name, place = waiting.pop(0)
            for key, each in self._type(name).get("properties", {}).items():
                for other, suffix in _references(each):
                    if other == self._part or other in self._outside or other in self._without:
                        continue
                    here = f"{place}.{key}{suffix}".lstrip(".")
                    if "properties" not in self._type(other):
                        continue
                    known = self._places.get(other)
                    if known is None:
                        waiting.append((other, here))
                    if here not in (known or []) and len(known or []) <= FEW:
                        self._places.setdefault(other, []).append(here)

    def _part_of(self, name: str) -> str | None:
        """A type that it refers to, and whose keys all are keys of this one as well: they are described once."""
        own = self._type(name).get("properties", {})
        for other in dict.fromkeys(found for each in own.values() for found, _ in _references(each)):
            properties = self._type(other).get("properties", {})
            if FEW < len(properties) < len(own) and all(own.get(key) == each for key, each in properties.items()):
                return other
        return None

    def _heading(self, name: str) -> str:
        schema = self._type(name)
        if name in {self._start, self._part}:
            return sentences(schema["description"])[0].rstrip(".")
        tags = [f'{key} = "{each["const"]}"' for key, each in schema["properties"].items() if "const" in each]
        places = self._places[name]
        if len(places) > FEW:
            return code(name)
        return ", ".join(map(code, places)) + "".join(f" with {code(tag)}" for tag in tags)

    def _section(self, name: str) -> str:
        schema = self._type(name)
        heading = self._heading(name)
        lines = sentences(schema.get("description", ""))[1 if name in {self._start, self._part} else 0 :]
        required = schema.get("required", schema.get("x-required", []))
        hidden: set[str] = set()
        if name == self._start and self._part is not None:
            hidden = set(self._type(self._part)["properties"])
            shared = self._heading(self._part)
            lines.append(f"All of [{shared.lower()}](#{slug(shared)}), and:")
        rows = [
            self._row(key, each, required=key in required)
            for key, each in schema.get("properties", {}).items()
            if key not in hidden
        ]
        head = ("key", "type", "default", "meaning") if self._defaults else ("key", "type", "meaning")
        return "\n".join([f"## {heading}", "", *lines, *([""] if lines else []), table(head, rows)])

    def _row(self, key: str, each: Json, *, required: bool) -> tuple[str, ...]:
        examples = _examples(each)
        self._quiet = bool(examples)
        words = self._words(each)
        if self._defaults:
            default = each.get("default")
            shown = "required" if required else "none" if default is None else code(_toml(default))
            about = each.get("description", _constant(each))
            if examples:
                about += f" Example: {', '.join(code(_toml(value)) for value in examples)}."
            return code(key), words, shown, about
        absent = "" if required else ", may be absent"
        return code(key), words + absent, each.get("description", _constant(each))

    def _words(self, each: Json) -> str:
        """The type of a value, and its unit or its bounds."""
        if "$ref" in each:
            return self._reference(each["$ref"].rpartition("/")[2])
        if "const" in each:
            return code(_toml(each["const"]))
        if "enum" in each:
            return ", ".join(code(_toml(value)) for value in each["enum"])
        for several in ("anyOf", "oneOf"):
            if several in each:
                kinds = [one for one in each[several] if not (self._defaults and one.get("type") == "null")]
                return _either([self._words(one) for one in kinds])
        return self._of_kind(each, each.get("type"))

    def _of_kind(self, each: Json, kind: str | None) -> str:
        """The type of a value that is no alternative."""
        match kind:
            case "array" if "prefixItems" in each:
                return f"list of {' and '.join(self._words(one) for one in each['prefixItems'])}"
            case "array":
                return f"list of {self._words(each.get('items', {}))}"
            case "object" if each.get("properties"):
                return f"table with {', '.join(code(key) for key in each['properties'])}"
            case "object":
                values = each.get("additionalProperties")
                what = "table" if self._defaults else "object"
                return f"{what} of {self._words(values)} by name" if isinstance(values, dict) and values else what
            case None:
                return "any value"
        return _quantity(each, example=not self._quiet) or _bounded(each)

    def _reference(self, name: str) -> str:
        if name in self._outside:
            return f"[`{name}`](../../schema/{self._outside[name]})"
        if name in self._without:
            return "[link](link.md)"
        schema = self._type(name)
        if "enum" in schema:
            return self._words(schema)
        if name not in self._places and name != self._part:
            return self._words(schema)
        tags = [each["const"] for each in schema.get("properties", {}).values() if "const" in each]
        plain = "table" if self._defaults else code(name) if len(self._places.get(name, [])) > FEW else "object"
        label = f"table {code(tags[0])}" if tags else plain
        return f"[{label}](#{slug(self._heading(name))})"


def _either(words: list[str]) -> str:
    """Alternatives, tables last and together."""
    tables = [each.replace("[table ", "[") for each in words if each.startswith("[table ")]
    others = [each for each in words if not each.startswith("[table ")]
    found = [*others, *([f"table {', '.join(tables)}"] if tables else [])]
    return " or ".join(dict.fromkeys(found))


def _references(each: Any, suffix: str = "") -> Iterator[tuple[str, str]]:
    """Types of tables that a value refers to, with what leads from the key to them."""
    if "$ref" in each:
        yield each["$ref"].rpartition("/")[2], suffix
    for several in ("anyOf", "oneOf", "prefixItems"):
        for one in each.get(several, []):
            yield from _references(one, suffix)
    if isinstance(each.get("items"), dict):
        yield from _references(each["items"], f"{suffix}[]")
    if isinstance(each.get("additionalProperties"), dict):
        yield from _references(each["additionalProperties"], f"{suffix}.NAME")


def _examples(each: Json) -> list[Any]:
    """A key's examples; of a quantity the type has one already."""
    found = list(each.get("examples", []))
    return [] if each.get("type") == "string" and _quantity(each) else found


def _quantity(each: Json, *, example: bool = True) -> str | None:
    """The name of a quantity and an example of it, by the unit of the example."""
    names = []
    for written in each.get("examples", []):
        number, _, unit = str(written).partition(" ")
        names += [name for name, units in QUANTITIES.items() if unit in units and number.lstrip("-")[:1].isdigit()]
    if not names:
        return None
    shown = f", {' or '.join(code(_toml(written)) for written in each['examples'])}" if example else ""
    return " or ".join(dict.fromkeys(names)) + shown


def _bounded(each: Json) -> str:
    words = _PLAIN[each["type"]]
    low, high = each.get("minimum"), each.get("maximum")
    if words != "integer":
        return words
    if high is not None and high < _LARGEST:
        return f"integer, {low} to {high}"
    return f"integer, from {low}" if low else words


def _constant(each: Json) -> str:
    return "Selects this table." if "const" in each else ""


def _toml(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
