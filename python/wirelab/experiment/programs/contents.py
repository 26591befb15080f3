"""Digests of third-party programs by their contents: trials of a changed program are trials of another program."""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from wirelab.errors import Where
from wirelab.experiment.library import BUILTIN
from wirelab.experiment.programs.implementations import CATALOGUE
from wirelab.toml import parse_toml, read_text

BESIDE, SCRIPTS = "beside", "scripts"
_PLACE = re.compile(r"\{\{-?\s*(?P<place>beside|scripts)\s*-?\}\}/(?P<rest>.+)", re.DOTALL)
_WORDS = frozenset({"title", "about", "homepage", "install"})
"""Of an entry, for people."""
_ESTIMATES = frozenset({"starts_in_s", "each_takes_s", "each_computes_s"})
"""Of a role, for a plan's minutes alone: what is measured does not change with them."""
_WORD = re.compile(r"[^\s\"',;]+")


def program_digests(names: Iterable[str], folder: Path) -> dict[str, str]:
    """SHA-256 of each program: of its entry as written but for words to people, of every file that the entry names in
    its own folder (`{{ beside }}/FILE`) or among the shipped scripts, and of the Python modules there that such a file
    imports.

    The version of what is installed on a machine is no part of it: it is in `campaign.json`.
    """
    entries = _entries(folder)
    return {name: _digest(*entries[name]) for name in sorted({*names} - {BUILTIN}) if name in entries}


def missing_files(names: Iterable[str], folder: Path) -> dict[str, list[str]]:
    """Files that these programs' entries name in a folder of their own and that are not there."""
    entries = _entries(folder)
    found = {name: named_files(*entries[name]) for name in names if name in entries}
    missing = {name: [str(path) for path in files.values() if not path.exists()] for name, files in found.items()}
    return {name: files for name, files in missing.items() if files}


def named_files(entry: Any, places: Mapping[str, Path]) -> dict[str, Path]:
    """The files that an entry names in a folder of its own, by their names as written, there or not."""
    found = {}
    for text in _texts(entry):
        if (match := _PLACE.search(text)) is None or match["place"] not in places:
            continue
        whole, word = match["rest"], _WORD.match(match["rest"])
        # An argument may contain a blank; a longer text continues after the name.
        name = whole if word is None or (places[match["place"]] / whole).is_file() else word[0]
        found[name] = places[match["place"]] / name
    return found


def _entries(folder: Path) -> dict[str, tuple[Any, Mapping[str, Path]]]:
    """Each entry as written, and the folders that it may name; a folder's own win."""
    shipped = Path(str(resources.files("wirelab.data")))
    found: dict[str, tuple[Any, Mapping[str, Path]]] = {}
    for file, places in (
        (shipped / CATALOGUE, {SCRIPTS: shipped / "clients"}),
        (folder / CATALOGUE, {BESIDE: folder}),
    ):
        if file.exists():
            where = Where(str(file))
            found |= {name: (entry, places) for name, entry in parse_toml(read_text(file, where), where).items()}
    return found


def _digest(entry: Any, places: Mapping[str, Path]) -> str:
    files: dict[str, str] = {}
    for name, path in named_files(entry, places).items():
        for file in (path, *_imported(path)):
            key = name if file == path else f"{name}: {file.relative_to(path.parent)}"
            files[key] = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
    # A date that TOML knows is none of JSON's, and the entry's model refuses it later.
    known = {key: value for key, value in entry.items() if key not in _WORDS} if isinstance(entry, dict) else entry
    if isinstance(known, dict) and isinstance(roles := known.get("roles"), dict):
        known["roles"] = {role: _without_estimates(each) for role, each in roles.items()}
    text = json.dumps({"entry": known, "files": files}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _without_estimates(role: Any) -> Any:
    return {key: value for key, value in role.items() if key not in _ESTIMATES} if isinstance(role, dict) else role


def _imported(script: Path) -> list[Path]:
    """The modules in a Python script's folder that it imports, directly or indirectly."""
    found: list[Path] = []
    waiting = [script] if script.suffix == ".py" and script.is_file() else []
    while waiting:
        try:
            tree = ast.parse(waiting.pop().read_bytes())
        except (SyntaxError, ValueError):
            continue
        for name in _modules(tree):
            module = script.parent.joinpath(*name.split("."))
            for file in (module.with_suffix(".py"), module / "__init__.py"):
                if file.is_file() and file not in (script, *found):
                    found.append(file)
                    waiting.append(file)
    return sorted(found)


def _modules(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from _texts(part)
        case list():
            for part in value:
                yield from _texts(part)
