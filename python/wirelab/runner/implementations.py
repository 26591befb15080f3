"""Foreign programs that play a role, as `implementations.toml` describes them (`docs/contract.md`)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from wirelab.errors import Where, WirelabError
from wirelab.experiment.library import CATALOGUE
from wirelab.experiment.own_stacks import TABLE
from wirelab.schema import Asking, Role, StackDescription, WorkloadSpec
from wirelab.schema.endpoint import SettingValue
from wirelab.toml import parse_toml, read_text

_SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
_PLACEHOLDER = re.compile(r"\{([a-z][a-z_0-9]*)\}")


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class When(_Entry):
    """Values that some settings must have for an addition to hold."""

    model_config = ConfigDict(frozen=True, extra="allow")

    def holds(self, facts: Mapping[str, SettingValue]) -> bool:
        """Every key has one of its values."""
        return all(facts.get(key) in values for key, values in (self.model_extra or {}).items())


class Define(_Entry):
    """Placeholders with a text of their own."""

    model_config = ConfigDict(frozen=True, extra="allow")

    when: When = When()

    @property
    def texts(self) -> dict[str, str]:
        """Placeholder to text."""
        return {key: str(value) for key, value in (self.model_extra or {}).items()}


class Arguments(_Entry):
    """Arguments that are added to the command."""

    when: When = When()
    add: tuple[str, ...]


class TemplateFile(_Entry):
    """A file that is written into the endpoint's folder."""

    path: str
    text: str


class RoleEntry(_Entry):
    """What a program can do in one role, and how."""

    stacks: tuple[str, ...]
    workloads: tuple[str, ...] = ("request-response", "deliver")
    connections: tuple[Literal["fresh", "resumed", "kept"], ...] = ("fresh", "kept")
    downloads_in_turn: bool = False
    """Whether the answers of one trial may have several sizes."""
    settings: tuple[str, ...] = ()
    define: tuple[Define, ...] = ()
    arguments: tuple[Arguments, ...] = ()
    environment: dict[str, str] = Field(default_factory=dict)

    def refusal(
        self, stack: StackDescription, settings: Mapping[str, SettingValue], workload: WorkloadSpec
    ) -> str | None:
        """Why the program does not do this; none if it does."""
        if stack.name not in self.stacks:
            return f"does not speak {stack.name} (it speaks {', '.join(self.stacks)})"
        if workload.kind not in self.workloads:
            return f"does not do {workload.kind}"
        connection = workload.connection.policy if isinstance(workload, Asking) else None
        if connection is not None and connection not in self.connections:
            return f"does not do connection = '{connection}'"
        if len(workload.downloads) > 1 and not self.downloads_in_turn:
            return "does not do downloads of several sizes in turn"
        for name, value in settings.items():
            setting = stack.setting(name)
            if name not in self.settings and (setting is None or value != setting.default):
                return f"does not take the setting {name} = {value!r}"
        return None

    def fill(
        self, texts: Iterable[str], placeholders: Mapping[str, str], facts: Mapping[str, SettingValue]
    ) -> list[str]:
        """Texts with every known placeholder replaced; the agent's own (`{url}`, …) stay."""
        known = dict(placeholders)
        for definition in self.define:
            if definition.when.holds(facts):
                known |= definition.texts
        return [_fill(text, known) for text in texts]

    def added(self, facts: Mapping[str, SettingValue]) -> list[str]:
        """Arguments whose condition holds."""
        return [text for arguments in self.arguments if arguments.when.holds(facts) for text in arguments.add]


class ServerEntry(RoleEntry):
    """A server: files from templates, a command, a ready probe, and a payload file for each size of a download."""

    command: tuple[str, ...]
    ready: Literal["event", "tcp-connect", "udp-bound"]
    files: tuple[TemplateFile, ...] = ()
    payload: str | None = None


class ClientEntry(RoleEntry):
    """A client: a command that performs the whole workload by the contract, or one executed for each exchange."""

    command: tuple[str, ...] = ()
    per_exchange: tuple[str, ...] = ()
    timed_out_exit_codes: tuple[int, ...] = ()

    @model_validator(mode="after")
    def _one_way_to_run(self) -> Self:
        if bool(self.command) == bool(self.per_exchange):
            raise ValueError("a client has either `command` or `per_exchange`")
        return self


class Roles(_Entry):
    """Roles of a program."""

    client: ClientEntry | None = None
    server: ServerEntry | None = None


class Implementation(_Entry):
    """One program."""

    title: str
    about: str = ""
    homepage: str
    install: str
    version_command: tuple[str, ...]
    python_module: str | None = None
    """A top-level module that the Python beside Wirelab must have, for a program that is a script of ours."""
    roles: Roles

    def role(self, role: Role) -> ClientEntry | ServerEntry | None:
        """Its entry for a role."""
        return self.roles.client if role is Role.CLIENT else self.roles.server

    @property
    def program(self) -> str:
        """The program that must be installed."""
        return self.version_command[0]

    @property
    def missing(self) -> str | None:
        """What of it is not installed, with the cure; none if it can run."""
        if find_program(self.program) is None:
            return f"{self.program} is not installed; {self.install}"
        if self.python_module is not None and find_spec(self.python_module) is None:
            return f"the Python module {self.python_module} is not installed; {self.install}"
        return None

    def version(self) -> str | None:
        """What it says of its version, one line; none if it is not installed or says nothing."""
        if self.missing is not None:
            return None
        command = [find_program(self.program) or self.program, *self.version_command[1:]]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=10,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        lines = done.stdout.decode(errors="replace").strip().splitlines()
        return lines[0] if lines else None


def load(folder: Path | None) -> dict[str, Implementation]:
    """The shipped implementations, with those of an experiment's folder, which win."""
    shipped = resources.files("wirelab.data")
    found = _parse(shipped.joinpath(CATALOGUE), CATALOGUE, {"scripts": str(shipped.joinpath("clients"))})
    if folder is not None and (own := folder / CATALOGUE).is_file():
        found |= _parse(own, str(own), {"beside": str(folder.resolve())})
    return found


def find_program(name: str) -> str | None:
    """Where a program is, system folders included, which an ordinary user's PATH leaves out."""
    path = os.environ.get("PATH", os.defpath)
    return shutil.which(name, path=os.pathsep.join([path, *_SYSTEM_FOLDERS]))


def _parse(file: Path | Traversable, source: str, places: Mapping[str, str]) -> dict[str, Implementation]:
    """The entries of a file, with this Python and the places that it may name filled in."""
    where = Where(source)
    known = {"python": sys.executable, **places}
    found = {}
    for name, entry in parse_toml(read_text(file, where), where).items():
        if name == TABLE:
            continue
        try:
            found[name] = Implementation.model_validate(_fill_all(entry, known))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join([name, *(str(part) for part in first["loc"])])
            raise WirelabError(first["msg"], where=Where(source, key=key), hint="see docs/contract.md") from error
    return found


def _fill_all(value: Any, known: Mapping[str, str]) -> Any:
    match value:
        case str():
            return _fill(value, known)
        case dict():
            return {key: _fill_all(part, known) for key, part in value.items()}
        case list():
            return [_fill_all(part, known) for part in value]
    return value


def _fill(text: str, known: Mapping[str, str]) -> str:
    # Twice: what `define` adds may hold placeholders itself.
    for _ in range(2):
        text = _PLACEHOLDER.sub(lambda match: known.get(match[1], match[0]), text)
    return text
