"""The entries of the programs that a plan names, looked at before anything is started."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from pathlib import Path

from wirelab.errors import CombinedError, Where, WirelabError, did_you_mean
from wirelab.experiment.implementations import (
    CATALOGUE,
    FACTS,
    RESOURCE_TEXTS,
    ClientEntry,
    Implementation,
    RoleEntry,
    ServerEntry,
    setting_texts,
)
from wirelab.experiment.library import BUILTIN
from wirelab.experiment.programs import missing_files
from wirelab.runner.barriers import Foreseen, foreseen
from wirelab.runner.implementations import load
from wirelab.schema import Certificates, Description, Role
from wirelab.schema.plan import Plan

FILLED = frozenset(
    {"address", "host", "port", "stack", "name", "directory", "parameters", "upload_bytes", "download_bytes"}
    | {"site", "document"}
)
"""Placeholders that are filled in for each trial, beside the certificates' files; the last two with a page alone."""
FILLED_FOR_EACH_EXCHANGE = frozenset({"url", "scheme", "method", "upload_file", "timeout_s"})
# `%{time_connect}` is curl's, `${HOME}` a shell's.
_PLACEHOLDER = re.compile(r"(?<![%$])\{([a-z][a-z_0-9]*)\}")


def needed_programs(plan: Plan, beside: Path | None) -> dict[str, Implementation]:
    """The programs that a plan names and that are known; raises everything wrong with their entries at once."""
    names = {name for s in plan.scenarios for name in (s.implementation.client, s.implementation.server)} - {BUILTIN}
    known = load(beside) if names else {}
    found = {name: known[name] for name in sorted(names) if name in known}
    wrong = [error for name, program in found.items() for error in _wrong(name, program, plan.known, beside)]
    if wrong:
        raise wrong[0] if len(wrong) == 1 else CombinedError(wrong)
    return found


def foreseen_failures(plan: Plan, beside: Path | None) -> Foreseen:
    """What would not run on this machine, with a line for each file that a program's command lacks; raises what is
    wrong with their entries.
    """
    programs = needed_programs(plan, beside)
    lost = missing_files(programs, beside) if beside is not None else {}
    absent = [f"{name}: its entry names {file}, which is not there" for name, files in lost.items() for file in files]
    found = foreseen(plan, programs)
    return found._replace(words=[*found.words, *absent])


def _wrong(name: str, program: Implementation, known: Description, beside: Path | None) -> Iterator[WirelabError]:
    source = CATALOGUE if beside is None else str(beside / CATALOGUE)
    for role in (Role.CLIENT, Role.SERVER):
        if (entry := program.role(role)) is None:
            continue
        place = f"{name}.roles.{role.value}"
        numbers = setting_texts(dict.fromkeys([*(_facts(entry, known) or ()), *program.settings], 0))
        for key, text, filled in _texts(entry, numbers):
            for word in _PLACEHOLDER.findall(text):
                if word not in filled:
                    where = Where(source, key=f"{place}.{key}")
                    yield WirelabError(f"nobody fills in {{{word}}} ({text})", where, did_you_mean(word, filled))
        if (facts := _facts(entry, known)) is None:
            continue
        facts |= program.settings.keys()
        for table, asked in _asked(entry):
            for key in sorted(asked - facts):
                where = Where(source, key=f"{place}.{table}")
                what = f"no setting of {', '.join(entry.stacks)}, and no fact ({key})"
                yield WirelabError(what, where, did_you_mean(key, facts))


def _facts(entry: RoleEntry, known: Description) -> set[str] | None:
    """What a condition of an entry may ask for; none where it names a stack that this plan does not tell of."""
    settings = set(FACTS)
    for name in entry.stacks:
        if (stack := known.stack(name)) is None:
            return None
        settings |= {setting.name for setting in stack.settings}
    return settings


def _asked(entry: RoleEntry) -> Iterator[tuple[str, Set[str]]]:
    """The keys of each condition, with its place."""
    for table in ("define", "each", "arguments"):
        for index, each in enumerate(getattr(entry, table)):
            yield f"{table}.{index}.when", each.when.listed.keys()
            yield f"{table}.{index}.given", {*each.given}
    for index, requires in enumerate(entry.requires):
        yield f"requires.{index}.when", requires.when.listed.keys()
        yield f"requires.{index}", requires.listed.keys()


def _texts(entry: RoleEntry, numbers: Iterable[str]) -> Iterator[tuple[str, str, set[str]]]:
    """What becomes arguments, variables and paths, with the placeholders that are filled in there; a file's own text
    may hold braces of its own.
    """
    files = {field for field in Certificates.model_fields if field != "client"}
    defined = (placeholder for define in (*entry.define, *entry.each) for placeholder in define.texts)
    once = {*FILLED, *files, *defined, *numbers}
    each = once | FILLED_FOR_EACH_EXCHANGE if isinstance(entry, ClientEntry) and entry.per_exchange else once
    yield from (("each", text, once | {*RESOURCE_TEXTS}) for listed in entry.each for text in listed.texts.values())
    yield from (("arguments", word, each) for arguments in entry.arguments for word in arguments.add)
    yield from ((f"environment.{key}", text, once) for key, text in entry.environment.items())
    if isinstance(entry, ClientEntry | ServerEntry):
        yield from (("command", word, once) for word in entry.command)
    if isinstance(entry, ClientEntry):
        yield from (("per_exchange", word, each) for word in entry.per_exchange)
        yield from (("waiting", word, once) for word in entry.waiting)
        yield from (("loading", word, once) for word in entry.loading)
    if isinstance(entry, ServerEntry):
        yield from (("files", file.path, once) for file in entry.files)
        if entry.payload is not None:
            yield "payload", entry.payload, once
