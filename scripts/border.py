"""Writes the Python models of links and their facts from the JSON Schemas of the Rust types, for `make generate`.

It knows JSON Schema as schemars writes it, and no impairment: `python scripts/border.py [FOLDER]`.
`docs/design/border.md` says why datamodel-code-generator does not do this.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = Mapping[str, Any]

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = ROOT / "schema"
PACKAGE = ROOT / "python" / "wirelab" / "schema"
BASES = {"link-spec": "Border", "link-facts": "Received"}
"""Schemas with the base of their models: of what is written, or of what is read."""
SUFFIXES = {"JitterSpec": "Jitter"}
"""Of the variants of a type whose tags alone say too little."""
UNIT = re.compile(r"_(ns|ms|bps|bytes|hz)$")
"""A number of a link's description without a unit is a fraction (`crates/wirelab-link/src/impairment/spec.rs`)."""
WIDTH = 110


@dataclass
class Module:
    """One schema as Python source."""

    schema: Json
    base: str
    used: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)

    def text(self, name: str) -> str:
        """The whole module, not formatted."""
        blocks = [block for definition in self.schema.get("$defs", {}) for block in self._definition(definition)]
        if "properties" in self.schema:
            blocks += self._class(self.schema["title"], self.schema)
        blocks += self._slots()
        imports = sorted(self.used | {self.base})
        head = [
            *textwrap.wrap(f'"""{_about(self.schema)}', WIDTH),
            "",
            f"Generated from `schema/{name}.json` by `make generate`; do not edit.",
            '"""',
            "from __future__ import annotations",
            "from enum import StrEnum" if any("StrEnum" in block for block in blocks) else "",
            "from typing import Annotated, Literal" if any("Literal" in block for block in blocks) else "",
            "from pydantic import Field" if any("Field(" in block for block in blocks) else "",
            f"from wirelab.schema.base import {', '.join(imports)}",
        ]
        return "\n".join([*(line for line in head if line is not None), *blocks, ""])

    def _definition(self, name: str) -> Iterator[str]:
        """The type, after those that it is made of."""
        if name in self.done:
            return
        self.done.add(name)
        schema = self.schema["$defs"][name]
        for other in _references(schema):
            yield from self._definition(other)
        if (words := _words(schema)) is not None:
            yield (
                f"class {name}(StrEnum):\n"
                + _doc(_about(schema))
                + "".join(f'    {word.upper().replace("-", "_")} = "{word}"\n' + _doc(about) for word, about in words)
            )
        elif "oneOf" in schema:
            yield from self._variants(name, schema)
        elif schema.get("type") == "object":
            yield from self._class(name, schema)
        else:
            yield f"{name} = {self._type(schema)}"

    def _variants(self, name: str, schema: Json) -> Iterator[str]:
        names = []
        for variant in schema["oneOf"]:
            whole = self._merged(variant)
            tag, word = next((key, each["const"]) for key, each in whole["properties"].items() if "const" in each)
            own = _camel(word) + SUFFIXES.get(name, "")
            names.append(own)
            yield from self._class(own, whole, tag)
        union = " | ".join(names)
        yield f'{name} = Annotated[{union}, Field(discriminator="{tag}")]'

    def _merged(self, variant: Json) -> Json:
        """A variant with the properties of the type that it refers to."""
        if "$ref" not in variant:
            return variant
        other = self.schema["$defs"][variant["$ref"].rpartition("/")[2]]
        return {
            "description": variant.get("description", other.get("description", "")),
            "properties": {**variant.get("properties", {}), **other.get("properties", {})},
            "required": [*variant.get("required", []), *other.get("required", [])],
        }

    def _class(self, name: str, schema: Json, tag: str | None = None) -> Iterator[str]:
        lines = [f"class {name}({self.base}):\n", _doc(_about(schema))]
        properties, required = dict(schema.get("properties", {})), schema.get("required", [])
        if tag is not None:
            lines.append(f'    {tag}: Literal["{properties[tag]["const"]}"] = "{properties[tag]["const"]}"\n')
            del properties[tag]
        for key, each in properties.items():
            fraction = self.base == "Border" and UNIT.search(key) is None
            kind = self._type(each, fraction=fraction)
            lines.append(f"    {key}: {kind}{self._default(key, each, required)}\n{_doc(_about(each))}")
        yield "".join(lines)

    def _default(self, key: str, schema: Json, required: list[str]) -> str:
        if key in required:
            return ""
        if _is_nullable(schema):
            return " = None"
        if "default" in schema:
            return f" = {schema['default']!r}"
        # What Rust skips when it is the default has none in the schema.
        empty = {"boolean": False, "number": 0.0, "integer": 0}[schema["type"]]
        self.used.add("is_default")
        return f" = Field(default={empty!r}, exclude_if=is_default)"

    def _type(self, schema: Json, *, fraction: bool = False) -> str:
        if schema is True:
            return "object"
        if "$ref" in schema:
            return str(schema["$ref"].rpartition("/")[2])
        if "anyOf" in schema:
            return " | ".join(self._type(each, fraction=fraction) for each in schema["anyOf"])
        kind = schema.get("type")
        if isinstance(kind, list):
            return " | ".join(self._type({**schema, "type": each}, fraction=fraction) for each in kind)
        match kind:
            case "integer":
                found = {"uint64": "Unsigned", "uint32": "Unsigned32"}.get(schema.get("format", ""), "int")
            case "number":
                found = "Probability" if fraction else "float"
            case "array":
                return self._tuple(schema, fraction=fraction)
            case _:
                found = {"boolean": "bool", "string": "str", "null": "None"}[str(kind)]
        if found[0].isupper() and found != "None":
            self.used.add(found)
        return found

    def _tuple(self, schema: Json, *, fraction: bool) -> str:
        if "prefixItems" in schema:
            return f"tuple[{', '.join(self._type(each) for each in schema['prefixItems'])}]"
        item = self._type(schema["items"], fraction=fraction)
        if "minItems" in schema and schema["minItems"] == schema.get("maxItems"):
            return f"tuple[{', '.join([item] * schema['minItems'])}]"
        return f"tuple[{item}, ...]"

    def _slots(self) -> Iterator[str]:
        for name, schema in self.schema.get("$defs", {}).items():
            if "x-slots" in schema:
                words = ", ".join(f'"{kind}": "{slot}"' for slot, kind in schema["x-slots"])
                what = f"Kinds of `{name}` in the order in which packets pass them by default, each with its slot."
                yield f"SLOTS = {{{words}}}\n" + _doc(what, "")


def generated(folder: Path) -> dict[str, str]:
    """The modules by their names, formatted."""
    found = {}
    for name, base in BASES.items():
        schema = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        found[name.replace("-", "_")] = _formatted(Module(schema, base).text(name))
    return found


def _formatted(text: str) -> str:
    for arguments in (["check", "--fix", "--quiet", "--select", "I,UP", "-"], ["format", "-"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", str(PACKAGE / "generated.py")],
            input=text, capture_output=True, text=True, check=False, cwd=ROOT,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"ruff {arguments[0]}: {done.stderr}")
        text = done.stdout
    return text


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for each in schema:
            yield from _references(each)
    elif isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        for each in schema.values():
            yield from _references(each)


def _words(schema: Json) -> list[tuple[str, str]] | None:
    """Words of an enumeration without values, each with what it means."""
    if "enum" in schema:
        return [(word, "") for word in schema["enum"]]
    variants = schema.get("oneOf", [])
    if variants and all(each.get("type") == "string" for each in variants):
        return [(each["const"], _about(each)) for each in variants]
    return None


def _is_nullable(schema: Json) -> bool:
    kind = schema.get("type")
    return (isinstance(kind, list) and "null" in kind) or {"type": "null"} in schema.get("anyOf", [])


def _about(schema: Json) -> str:
    return " ".join(str(schema.get("description", "")).split())


def _camel(word: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in word.split("-"))


def _doc(text: str, indent: str = "    ") -> str:
    """A docstring, wrapped; nothing without words."""
    if not text:
        return ""
    lines = textwrap.wrap(text.replace("\\", "\\\\"), WIDTH)
    body = f"\n{indent}".join(lines)
    return f'{indent}"""{body}"""\n' if len(lines) == 1 else f'{indent}"""{body}\n{indent}"""\n'


def main() -> None:
    """Write all modules to the package, or to the folder that is named."""
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE
    for name, text in generated(SCHEMAS).items():
        (place / f"{name}.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
