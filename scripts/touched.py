"""Prints the files of tests that a change touches: `touched.py FILE...`, each a path from the root of the checkout.

Of a test, itself. Of a module, the tests of its room, the tests that import it, and those of the architecture. Tests of
whole campaigns are left to `scripts/test`: they need an agent and namespaces.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

MODULES, TESTS = Path("python/wirelab"), Path("python/tests")


def touched(changed: Iterable[Path]) -> list[Path]:
    """Each file once, sorted."""
    texts = {path: path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")}
    found: set[Path] = set()
    for path in changed:
        if path in texts:
            found.add(path)
        elif path.is_relative_to(MODULES):
            found |= _of_module(path.relative_to(MODULES), texts) | {Path("tests/test_architecture.py")}
        elif path.is_relative_to(TESTS):
            found |= set(path.parent.glob("test_*.py"))
    return sorted(path for path in found if path.exists())


def _of_module(inside: Path, texts: dict[Path, str]) -> set[Path]:
    room = TESTS / inside.parent
    mirrored = {each for each in texts if each.parent == room and inside.parent != Path()}
    name = ".".join(("wirelab", *inside.with_suffix("").parts)).removesuffix(".__init__")
    parent, _, last = name.rpartition(".")
    imports = re.compile(
        rf"^\s*(from {re.escape(name)} import|import {re.escape(name)}\b|from {re.escape(parent)} import .*\b{last}\b)",
        re.MULTILINE,
    )
    return mirrored | {each for each, text in texts.items() if imports.search(text)} | {room / f"test_{inside.stem}.py"}


if __name__ == "__main__":
    print("\n".join(map(str, touched(map(Path, sys.argv[1:])))))
