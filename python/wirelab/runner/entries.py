"""The entries of the programs that a plan names, checked before anything is started. Renders no text."""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path

from wirelab.errors import CombinedError, Where, WirelabError, did_you_mean
from wirelab.experiment.library import BUILTIN
from wirelab.experiment.programs.contents import missing_files
from wirelab.experiment.programs.implementations import (
    FACTS,
    ClientEntry,
    Implementation,
    RoleEntry,
    ServerEntry,
    Words,
    variable,
)
from wirelab.experiment.programs.texts import PER_EXCHANGE, check_text
from wirelab.runner.barriers import Forecast, forecast
from wirelab.runner.implementations import load
from wirelab.schema import Certificates, Description, Role
from wirelab.schema.plan import Plan

VARIABLES = frozenset(
    {"address", "host", "port", "name", "directory", "parameters", "upload_bytes", "download_bytes", "settings"}
    | {"site", "document", "resources", "media_types"}
    | {*FACTS, "topic"}
    | ({*Certificates.model_fields} - {"client"})
)
"""What every text of a role may ask for in a trial, next to settings; `site` and `document` have a value with a page
alone.
"""


def needed_programs(plan: Plan, beside: Path | None) -> dict[str, Implementation]:
    """The known programs of a plan; raises all errors of their entries together."""
    names = {name for s in plan.scenarios for name in (s.implementation.client, s.implementation.server)} - {BUILTIN}
    known = load(beside) if names else {}
    found = {name: known[name] for name in sorted(names) if name in known}
    # Those that ship are tested, with every setting: they are not compiled again for each plan.
    own = [program for program in found.values() if program.origin is None or not program.origin.shipped]
    if errors := [error for program in own for error in wrong(program, plan.known)]:
        raise errors[0] if len(errors) == 1 else CombinedError(errors)
    return found


def forecast_failures(plan: Plan, beside: Path | None) -> Forecast:
    """What would not run on this machine, with a line for each file that a program's command lacks; raises what is
    wrong with their entries.
    """
    programs = needed_programs(plan, beside)
    lost = missing_files(programs, beside) if beside is not None else {}
    absent = [f"{name}: its entry names {file}, which is not there" for name, files in lost.items() for file in files]
    found = forecast(plan, programs)
    return found._replace(words=[*found.words, *absent])


def wrong(program: Implementation, known: Description) -> Iterator[WirelabError]:
    """The errors in the texts and conditions of an entry."""
    origin = program.origin
    assert origin is not None, "it comes from a file"
    for word in program.version_command:
        yield from map(origin.located, check_text(word, origin.places))
    for role in (Role.CLIENT, Role.SERVER):
        if (entry := program.role(role)) is None:
            continue
        settings = _settings(entry, known)
        if settings is None:
            continue
        settings |= program.settings.keys()
        names = {*VARIABLES, *origin.places, *map(variable, settings)}
        for words, for_each in _commands(entry):
            if words.condition is not None:
                yield from map(origin.located, check_text(words.condition, names, condition=True))
            for word in words.add:
                yield from map(origin.located, check_text(word, names | PER_EXCHANGE.keys() if for_each else names))
        for text in entry.environment.values():
            yield from map(origin.located, check_text(text, names))
        for text in _file_texts(entry):
            yield from map(origin.located, check_text(text, names, words=False))
        for table, asked in _asked(entry):
            for key in sorted(asked - settings - {*FACTS}):
                where = Where(origin.source, key=f"{origin.name}.roles.{role.value}.{table}")
                what = f"no setting of {', '.join(entry.protocols)}, and no fact ({key})"
                yield WirelabError(what, where, did_you_mean(key, settings | {*FACTS}))


def _settings(entry: RoleEntry, known: Description) -> set[str] | None:
    """The settings of an entry's protocols; none if it names a protocol that the plan does not know."""
    settings: set[str] = set()
    for name in entry.protocols:
        if (protocol := known.protocol(name)) is None:
            return None
        settings |= {setting.name for setting in protocol.settings}
    return settings


def _asked(entry: RoleEntry) -> Iterator[tuple[str, Set[str]]]:
    """The keys of each requirement, with its place."""
    for index, requires in enumerate(entry.requires):
        yield f"requires.{index}.when", requires.when.listed.keys()
        yield f"requires.{index}", requires.listed.keys()


def _commands(entry: RoleEntry) -> Iterator[tuple[Words, bool]]:
    """The words of each command, and whether the agent fills in what it knows of each exchange."""
    each = isinstance(entry, ClientEntry) and bool(entry.per_exchange)
    yield from ((words, each) for words in entry.arguments)
    if isinstance(entry, ClientEntry | ServerEntry):
        yield from ((words, False) for words in entry.command)
    if isinstance(entry, ClientEntry):
        yield from ((words, True) for words in entry.per_exchange)
        yield from ((words, False) for words in (*entry.waiting, *entry.loading))


def _file_texts(entry: RoleEntry) -> Iterator[str]:
    if isinstance(entry, ServerEntry):
        yield from (text for file in entry.files for text in (file.path, file.text))
        if entry.payload is not None:
            yield entry.payload
