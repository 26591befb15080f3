"""The entries of the programs that a plan names, looked at before anything is started."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from wirelab.errors import CombinedError, Where, WirelabError, did_you_mean
from wirelab.experiment.implementations import CATALOGUE, ClientEntry, Implementation, RoleEntry, ServerEntry
from wirelab.experiment.library import BUILTIN
from wirelab.experiment.programs import missing_files
from wirelab.runner.implementations import load, missing
from wirelab.schema import Certificates, Role
from wirelab.schema.plan import Plan

FILLED = frozenset(
    {"address", "host", "port", "stack", "name", "directory", "parameters", "upload_bytes", "download_bytes"}
)
"""Placeholders that are filled in for each trial, beside the certificates' files."""
FILLED_FOR_EACH_EXCHANGE = frozenset({"url", "scheme", "method", "upload_file", "timeout_s"})
# `%{time_connect}` is curl's, `${HOME}` a shell's.
_PLACEHOLDER = re.compile(r"(?<![%$])\{([a-z][a-z_0-9]*)\}")


def needed_programs(plan: Plan, beside: Path | None) -> dict[str, Implementation]:
    """The programs that a plan names and that are known; raises everything wrong with their entries at once."""
    names = {name for s in plan.scenarios for name in (s.implementation.client, s.implementation.server)} - {BUILTIN}
    known = load(beside) if names else {}
    found = {name: known[name] for name in sorted(names) if name in known}
    wrong = [error for name, program in found.items() for error in _unfilled(name, program, beside)]
    if wrong:
        raise wrong[0] if len(wrong) == 1 else CombinedError(wrong)
    return found


def missing_programs(programs: Mapping[str, Implementation], beside: Path | None) -> list[str]:
    """A sentence for each program that cannot run on this machine, and for each file that its command lacks."""
    absent = [f"{name}: {why}" for name, program in programs.items() if (why := missing(program)) is not None]
    lost = missing_files(programs, beside) if beside is not None else {}
    return absent + [
        f"{name}: its entry names {file}, which is not there" for name, files in lost.items() for file in files
    ]


def _unfilled(name: str, program: Implementation, beside: Path | None) -> Iterator[WirelabError]:
    source = CATALOGUE if beside is None else str(beside / CATALOGUE)
    for role in (Role.CLIENT, Role.SERVER):
        if (entry := program.role(role)) is None:
            continue
        filled = _filled(entry)
        for key, text in _texts(entry):
            for word in _PLACEHOLDER.findall(text):
                if word not in filled:
                    where = Where(source, key=f"{name}.roles.{role.value}.{key}")
                    yield WirelabError(f"nobody fills in {{{word}}} ({text})", where, did_you_mean(word, filled))


def _filled(entry: RoleEntry) -> set[str]:
    files = {field for field in Certificates.model_fields if field != "client"}
    own = {placeholder for define in entry.define for placeholder in define.texts}
    each = FILLED_FOR_EACH_EXCHANGE if isinstance(entry, ClientEntry) and entry.per_exchange else frozenset()
    return {*FILLED, *files, *own, *each}


def _texts(entry: RoleEntry) -> Iterator[tuple[str, str]]:
    """What becomes arguments, variables and paths; a file's own text may hold braces of its own."""
    commands = {"command": entry.command} if isinstance(entry, ClientEntry | ServerEntry) else {}
    if isinstance(entry, ClientEntry):
        commands["per_exchange"] = entry.per_exchange
    for key, words in commands.items():
        yield from ((key, word) for word in words)
    yield from (("arguments", word) for arguments in entry.arguments for word in arguments.add)
    yield from ((f"environment.{key}", text) for key, text in entry.environment.items())
    if isinstance(entry, ServerEntry):
        yield from (("files", file.path) for file in entry.files)
