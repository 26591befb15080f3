"""One link outside of an experiment: a name, a file or a table, with single values laid over it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wirelab.errors import Where, WirelabError, did_you_mean
from wirelab.experiment.file.positions import Path as KeyPath
from wirelab.experiment.file.problems import problems, shown
from wirelab.experiment.file.sets import read_value, split_values
from wirelab.experiment.grid.factors import nested
from wirelab.experiment.library import is_profile_file, profile_file, profiles
from wirelab.experiment.link import LinkConflictError, LinkTable, check_conflicts, default_queues, link_spec, merge
from wirelab.experiment.link.files import Files
from wirelab.launcher import launched
from wirelab.schema import LinkSpec
from wirelab.schema.link_answer import AskLink

CLEAN = "clean"
"""The name of a link that does nothing."""
_OWN = """'{ rtt = "50 ms", loss = "1 %" }'"""


def single_link(
    word: str,
    sets: Sequence[str],
    ask: AskLink,
    others: Iterable[str] = (),
    say: Callable[[str], None] = lambda _: None,
) -> LinkSpec:
    """The link that a word means, with each `KEY=VALUE` over it, the last one of a key holding. `ask` knows links.

    `others` are words that could have stood in its place. `say` gets a line for what was chosen without being asked.
    Files named in a profile are looked up next to it, and those of a table in the current folder.
    """
    values = [_read_set(text) for text in sets]
    tables: list[Mapping[str, Any]] = [nested(path, value) for path, value in values]
    if word.lstrip().startswith("{"):
        tables.insert(0, _table(word))
    named = next((str(table["profile"]) for table in reversed(tables) if "profile" in table), None)
    if named is None and not word.lstrip().startswith("{"):
        named = word
    below, folder = _named(named, others) if named is not None else ({}, Path())

    def locate(key: KeyPath) -> Where:
        # What is missing from a table is said of who began it.
        for depth in (len(key), 1):
            if any(path[:depth] == key[: len(path)][:depth] for path, _ in values):
                return Where("--set", key=".".join(map(str, key)))
        return Where("LINK" if word.lstrip().startswith("{") else word, key=".".join(map(str, key)) or None)

    try:
        for table in (below, *tables):
            check_conflicts(table)
        link = LinkTable.model_validate(merge([below, *tables]), context=Files(folder))
        spec = link_spec(link, ask)
    except LinkConflictError as error:
        raise WirelabError(str(error), locate(tuple(error.key.split("."))), error.hint) from None
    except ValidationError as error:
        raise problems(error, LinkTable, locate)[0] from None
    for words in default_queues(link):
        say(words)
    return spec


def unknown_link(name: str, known: Iterable[str], own: str) -> WirelabError:
    """The error for a link that has no such name; `own` says how to make one."""
    listing = launched("list links")
    near = did_you_mean(name, known, listing)
    return WirelabError(f"unknown link '{name}'", hint=f"{near}; {own}" if near.startswith(listing) else near)


def _named(name: str, others: Iterable[str]) -> tuple[Mapping[str, Any], Path]:
    """A profile's table, and the folder that its files start from."""
    if name == CLEAN:
        return {}, Path()
    if is_profile_file(name):
        return profile_file(Path(name)).link, Path(name).parent
    if name not in profiles():
        raise unknown_link(name, [CLEAN, *profiles(), *others], f"a link of your own: {_OWN}")
    return profiles()[name].link, Path()


def _table(text: str) -> dict[str, Any]:
    try:
        table = tomllib.loads(f"link = {text}")["link"]
    except (ValueError, RecursionError) as error:
        what = str(error).partition(" (at ")[0]
        raise WirelabError(
            f"is not a table: {what[:1].lower()}{what[1:]} ({shown(text)})", Where("LINK"), 'such as { rtt = "50 ms" }'
        ) from None
    if not isinstance(table, dict):
        raise WirelabError(f"is not a table ({shown(text)})", Where("LINK"), 'such as { rtt = "50 ms" }')
    return table


def _read_set(text: str) -> tuple[tuple[str, ...], Any]:
    key, sign, value = text.partition("=")
    path = tuple(part.strip() for part in key.split("."))
    if not sign or not all(path) or not value.strip():
        raise WirelabError(f"not KEY=VALUE ({text})", Where("--set"), hint="such as --set rtt=50ms")
    if len(several := split_values(value)) > 1:
        listed = f"""a list needs brackets: --set '{key}={json.dumps(several)}'"""
        hint = listed if path[-1] == "order" else "an experiment takes several"
        raise WirelabError(f"needs one value, not {len(several)}", Where("--set", key=key), hint)
    # As `wirelab run` has it.
    path = path[1:] if path[0] == "link" and len(path) > 1 else path
    return path, read_value(value.strip())
