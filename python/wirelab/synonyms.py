"""Other words for what Wirelab calls otherwise (`data/synonyms.toml`). It offers hints, and changes no input."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from functools import cache
from importlib import resources

from wirelab_energy.errors import any_of


def meant(word: str, known: Collection[str]) -> str | None:
    """A hint about a word that is not known here; None if nothing known here is also called so."""
    entry = _entries().get(word.lower().replace("_", "-"))
    if entry is None or not (means := [each for each in entry["means"] if each in known]):
        return None
    return str(entry.get("note") or f"did you mean {any_of(means)}?")


@cache
def _entries() -> dict[str, dict[str, list[str]]]:
    text = resources.files("wirelab.data").joinpath("synonyms.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
