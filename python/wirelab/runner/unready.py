"""Programs that did not become ready: what they printed, what to do, and which trials are not started because of them.

Nothing here starts a process or writes a file.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from wirelab.experiment.library import BUILTIN
from wirelab.experiment.programs.implementations import Implementation, ServerEntry
from wirelab.runner.barriers import settings_for, spoken_by
from wirelab.schema import Role, TrialResult, TrialStatus
from wirelab.schema.plan import Scenario

LAST_LINES = 5
TAIL_BYTES = 4096
LONGEST_LINE = 200
OUTPUTS = ("stderr", "stdout")
ROLES = {role.value: role for role in Role}
FROM_OUTSIDE = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM})
"""Signals that a program does not raise by a fault of its own."""
EVENT = re.compile(r'\s*\{\s*"event"\s*:\s*"ready"')
TIMED_OUT = " was not ready after"
"""What follows the role in the error of a trial that waited for a program as long as it may."""
ENDED = " ended before it was ready"
"""The same of one that ended without a fault."""
READY_EVENT = '{"event": "ready", "ports": {"main": PORT}}'


class Program(NamedTuple):
    """A program as it is started in a role: whatever is not in here cannot keep it from becoming ready."""

    role: Role
    implementation: str
    protocol: str
    settings: tuple[tuple[str, str], ...]
    server: str
    """The server's implementation: a client that waits for messages is ready only if the server answers."""
    cpus: float | None
    """How much of a CPU it may use, since little makes it slow; None without a limit."""


class Unready:
    """Remembers which programs became ready in this run, and which did not. One that did once is always started."""

    def __init__(self, implementations: Mapping[str, Implementation]) -> None:
        self._implementations = implementations
        self._was_ready: set[Program] = set()
        self._reasons: dict[Program, str] = {}

    def barrier(self, scenario: Scenario) -> str | None:
        """Why no further trial of the scenario is started; None if its programs may become ready."""
        programs = (program_of(scenario, role) for role in Role)
        return next((self._reasons[program] for program in programs if program in self._reasons), None)

    def hear(self, scenario: Scenario, result: TrialResult, folder: Path) -> str | None:
        """Learn from a trial that is over. The error in more words if a program did not become ready, else None."""
        names = [endpoint.name for endpoint in result.endpoints]
        last = _last_role(result)
        ready = names[: names.index(last.value)] if last is not None else names
        self._was_ready |= {program_of(scenario, ROLES[name]) for name in ready if name in ROLES}
        if last is None:
            return None
        program = program_of(scenario, last)
        if program not in self._was_ready and not _was_killed(result, last):
            self._reasons.setdefault(
                program, f"{last.value} {program.implementation} did not become ready in trial {result.trial}"
            )
        error, said = result.error or "", [*printed(folder / last.value)]
        if _timed_out(result, last):
            return "\n".join([error, *said, *self._hint(program)])
        if error == f"{last.value}{ENDED}":
            return "\n".join([error, *said, "hint: it must stay in the foreground"])
        # Its last line is among those that follow.
        ending, _, line = error.partition(": ")
        repeated = any(each.strip() == _shown(line.strip()) for each in said)
        return "\n".join([ending if repeated else error, *said])

    def _hint(self, program: Program) -> Iterator[str]:
        implementation = self._implementations.get(program.implementation)
        if implementation is not None and (entry := implementation.role(program.role)) is not None:
            source = implementation.origin.source if implementation.origin is not None else "implementations.toml"
            if isinstance(entry, ServerEntry):
                yield f"hint: {ready_words(entry, f'[{program.implementation}] in {source}')}"


def ready_words(entry: ServerEntry, place: str) -> str:
    """What a server must do to count as ready, and whether its entry gives it what it needs for that."""
    if entry.ready == "event":
        must = f"it must print a line {READY_EVENT} on stdout once it listens on {{{{ address }}}} and {{{{ port }}}}"
    else:
        transport = "TCP" if entry.ready == "tcp-connect" else "UDP"
        must = (
            f"it must listen on the {transport} port that it is given, on every address or on {{{{ address }}}}; "
            "127.0.0.1 cannot be reached over a link"
        )
    lacking = _lacking(entry, by_event=entry.ready == "event")
    return f"{must}; the command of {place} does not pass {' and '.join(lacking)}" if lacking else must


def program_of(scenario: Scenario, role: Role) -> Program:
    """What is started in a role of a scenario."""
    protocol, _ = spoken_by(scenario, role)
    own = settings_for(scenario, role)
    implementation = getattr(scenario.implementation, role.value, BUILTIN)
    server = scenario.implementation.server
    settings = tuple(sorted((key, repr(own[key])) for key in own))
    return Program(role, implementation, protocol, settings, server, scenario.cpu.get(role.value))


def _last_role(result: TrialResult) -> Role | None:
    """The role that did not become ready, so that those behind it were never started; None if all were."""
    never = [endpoint for endpoint in result.endpoints if endpoint.exit_code is None and endpoint.signal is None]
    if result.status is not TrialStatus.FAILED or not never or not result.error:
        return None
    name = re.split(r"[: ]", result.error, maxsplit=1)[0]
    return ROLES.get(name) if any(endpoint.name == name for endpoint in result.endpoints) else None


def _was_killed(result: TrialResult, role: Role) -> bool:
    """Whether somebody else ended the program, which says nothing of the next time that it is started. What is not
    ready in time we end; but a client may wait for its link, and be ready over another.
    """
    if role is not Role.CLIENT and _timed_out(result, role):
        return False
    return any(endpoint.name == role.value and endpoint.signal in FROM_OUTSIDE for endpoint in result.endpoints)


def _timed_out(result: TrialResult, role: Role) -> bool:
    return (result.error or "").startswith(f"{role.value}{TIMED_OUT}")


def _lacking(entry: ServerEntry, *, by_event: bool) -> list[str]:
    """Of a server's port, and of its address if it says by an event where it listens, what none of its texts names."""
    texts = [text for words in (*entry.command, *entry.arguments) for text in words.add]
    texts += [*entry.environment.values(), *(text for file in entry.files for text in (file.path, file.text))]
    code = (expression for text in texts for expression in re.findall(r"\{[{%].*?[}%]\}", text))
    named = {word for expression in code for word in re.findall(r"\w+", expression)}
    if "parameters" in named:
        return []
    needs_address = by_event and not named & {"address", "host"}
    return ["{{ address }}"] * needs_address + ["{{ port }}"] * ("port" not in named)


def printed(folder: Path, *, events: bool = True) -> Iterator[str]:
    """The last lines of a program's output; without `events` none by which it says that it is ready."""
    for output in OUTPUTS:
        lines = _last_lines(folder / f"{output}.txt", events=events)
        yield f"its {output} ends with:" if lines else f"its {output} is empty"
        yield from (f"    {line}" for line in lines)


def _last_lines(path: Path, *, events: bool) -> list[str]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            text = file.read(TAIL_BYTES).decode(errors="replace")
    except OSError:
        return []
    lines = [line for line in text.splitlines() if line.strip() and (events or not EVENT.match(line))]
    return [_shown(line) for line in lines[-LAST_LINES:]]


def _shown(line: str) -> str:
    text = _printable(line)
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}…"


def _printable(characters: Iterable[str]) -> str:
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in characters)
