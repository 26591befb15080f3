"""Prints the files of tests that a change touches: `touched.py FILE...`, each a path from the root of the checkout.

Of a test, itself. Of a module, the tests of its room, the tests that import it, and those of the architecture. Of a
helper of tests, those that import it. Of what ships or is generated, the tests of the rooms that read it. Tests of
whole campaigns are left to `scripts/test`: they need an agent and namespaces.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

TESTS = Path("python/tests")
PACKAGES = {Path("python/wirelab"): TESTS, Path("python/wirelab_energy"): TESTS / "wirelab_energy"}
"""Each package with the folder that mirrors it."""
READERS = {
    Path("python/wirelab/data/clients"): ("data", "runner"),
    Path("python/wirelab/data"): ("data", "experiment", "runner", "claims", "site"),
    Path("python/wirelab_energy/data"): ("wirelab_energy", "data", "metrics"),
    Path("python/wirelab_energy"): ("wirelab_energy",),
    Path("schema"): ("schema", "experiment"),
}
"""Rooms whose tests read files of a folder; the first folder that a file is in counts."""


def touched(changed: Iterable[Path]) -> list[Path]:
    """Each file once, sorted."""
    texts = {path: path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")}
    found: set[Path] = set()
    for path in changed:
        package = next((each for each in PACKAGES if path.is_relative_to(each)), None)
        if path in texts:
            found.add(path)
        elif package is not None:
            found |= _of_module(path, package, texts) | {Path("tests/test_architecture.py")}
        elif path.is_relative_to(TESTS):
            importing = _imports(("tests", *path.relative_to(TESTS).with_suffix("").parts))
            found |= set(path.parent.glob("test_*.py")) if path.name == "conftest.py" else set()
            found |= {each for each, text in texts.items() if importing.search(text)}
        rooms = next((rooms for folder, rooms in READERS.items() if path.is_relative_to(folder)), ())
        found |= {each for each in texts if each.relative_to(TESTS).parts[0] in rooms}
    return sorted(path for path in found if path.exists())


def _of_module(path: Path, package: Path, texts: dict[Path, str]) -> set[Path]:
    """Of a room without tests of its own, those of the room around it."""
    inside, tests = path.relative_to(package), PACKAGES[package]
    rooms = [room for room in inside.parents if room != Path() and any(each.parent == tests / room for each in texts)]
    mirrored = {
        each for each in texts if each.parent in {tests / room for room in (*rooms[:1], inside.with_suffix(""))}
    }
    importing = _imports((package.name, *inside.with_suffix("").parts))
    importers = {each for each, text in texts.items() if importing.search(text)}
    return mirrored | importers | {tests / inside.parent / f"test_{inside.stem}.py"}


def _imports(parts: tuple[str, ...]) -> re.Pattern[str]:
    name = ".".join(parts).removesuffix(".__init__")
    parent, _, last = name.rpartition(".")
    return re.compile(
        rf"^\s*(from {re.escape(name)} import|import {re.escape(name)}\b|from {re.escape(parent)} import .*\b{last}\b)",
        re.MULTILINE,
    )


if __name__ == "__main__":
    print("\n".join(map(str, touched(map(Path, sys.argv[1:])))))
