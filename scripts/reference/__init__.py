"""The pages of `docs/reference/`, made of what the program knows: schemas, tables, metrics, protocols and verbs.

`python -m scripts.reference [FOLDER]` writes them, as `make generate` does. Prose and examples are in `templates/`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from scripts.reference import program
from scripts.reference.keys import Schema
from scripts.reference.markdown import code, linked, table

from wirelab.experiment.file.workload import ABOUT, KEYS
from wirelab.units import QUANTITIES

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "schema"
FOLDER = ROOT / "docs" / "reference"
TEMPLATES = Path(__file__).parent / "templates"


def pages() -> dict[str, str]:
    """Every page by its file's name."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    environment.globals |= {
        "keys": _keys, "quantities": _quantities(), "kinds": _kinds(), "tables": program.tables(),
        "metrics": program.metrics(), "protocols": program.protocols(),
        "confirmed": program.confirmed(), "misbehaving": program.misbehaving(),
        "in_each_protocol": program.in_each_protocol(), "verbs": program.verbs(),
        "exit_codes": program.exit_codes(), "default_order": _default_order(),
    }  # fmt: skip
    names = sorted(path.name for path in TEMPLATES.glob("*.md.j2"))
    return {name.removesuffix(".j2"): linked(environment.get_template(name).render()) for name in names}


def _schema(name: str) -> Any:
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


def _keys(name: str, *, start: str = "", without: tuple[str, ...] = (), defaults: bool = False) -> str:
    """Sections of all keys of `schema/NAME.json`, from the type `start` on; `without` are types of other pages."""
    outside = {} if defaults else _of_others()
    return Schema(_schema(name), outside, without, defaults=defaults).text(start)


def _of_others() -> dict[str, tuple[str, set[str]]]:
    """Types that the data plane defines, each with its schema's file and its keys: a page names them, no more."""
    from wirelab.schema.files import FILES

    found: dict[str, tuple[str, set[str]]] = {}
    # A type stands in several schemas: it belongs to the one with its name.
    for path in sorted(SCHEMAS.glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        if path.stem in {*FILES, "experiment"} or "title" not in schema:
            continue
        for title, each in schema.get("$defs", {}).items():
            found.setdefault(title, (path.name, set(each.get("properties", {}))))
        found[schema["title"]] = (path.name, set(schema.get("properties", {})))
    return found


def _quantities() -> str:
    examples = dict.fromkeys(re.findall(r'"([-\d.]+ [^\s"]+)"', json.dumps(_schema("experiment"), ensure_ascii=False)))
    rows = []
    for name, units in QUANTITIES.items():
        shown = next(each for each in examples if each.partition(" ")[2] in units)
        rows.append((name, ", ".join(map(code, units)), f'`"{shown}"`'))
    return table(("quantity", "units", "example"), rows)


def _kinds() -> str:
    return table(
        ("`kind`", "what happens", "keys"),
        [(f'`"{kind}"`', about, ", ".join(map(code, KEYS[kind]))) for kind, about in ABOUT.items()],
    )


def _default_order() -> str:
    order = _schema("experiment")["$defs"]["LinkTable"]["properties"]["order"]["default"]
    return code(json.dumps(order))
