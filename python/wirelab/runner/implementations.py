"""Foreign programs that play a role, as `implementations.toml` describes them (`docs/contract.md`)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wirelab.errors import Where, WirelabError
from wirelab.schema import Asking, Role, WorkloadSpec, registered
from wirelab.schema.endpoint import SettingValue
from wirelab.toml import parse_toml, read_text

FILE = "implementations.toml"
BUILTIN = "builtin"
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
    settings: tuple[str, ...] = ()
    define: tuple[Define, ...] = ()
    arguments: tuple[Arguments, ...] = ()
    environment: dict[str, str] = Field(default_factory=dict)

    def refusal(self, stack: str, settings: Mapping[str, SettingValue], workload: WorkloadSpec) -> str | None:
        """Why the program does not do this; none if it does."""
        if stack not in self.stacks:
            return f"does not speak {stack} (it speaks {', '.join(self.stacks)})"
        if workload.kind not in self.workloads:
            return f"does not do {workload.kind}"
        connection = workload.connection.policy if isinstance(workload, Asking) else None
        if connection is not None and connection not in self.connections:
            return f"does not do connection = '{connection}'"
        described = registered().stack(stack)
        for name, value in settings.items():
            setting = described.setting(name) if described else None
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
    """A server: files from templates, a command, a ready probe, and a payload file of `download_bytes`."""

    command: tuple[str, ...]
    ready: Literal["event", "tcp-connect", "udp-bound"]
    files: tuple[TemplateFile, ...] = ()
    payload: str | None = None


class ClientEntry(RoleEntry):
    """A client that is executed once for each exchange."""

    per_exchange: tuple[str, ...]
    timed_out_exit_codes: tuple[int, ...] = ()


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
    roles: Roles

    def role(self, role: Role) -> ClientEntry | ServerEntry | None:
        """Its entry for a role."""
        return self.roles.client if role is Role.CLIENT else self.roles.server

    @property
    def program(self) -> str:
        """The program that must be installed."""
        return self.version_command[0]

    def version(self) -> str | None:
        """What it says of its version, one line; none if it is not installed or says nothing."""
        program = find_program(self.program)
        if program is None:
            return None
        command = [program, *self.version_command[1:]]
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
    shipped = resources.files("wirelab.data").joinpath(FILE)
    found = _parse(shipped, FILE)
    if folder is not None and (own := folder / FILE).is_file():
        found |= _parse(own, str(own))
    return found


def find_program(name: str) -> str | None:
    """Where a program is, system folders included, which an ordinary user's PATH leaves out."""
    path = os.environ.get("PATH", os.defpath)
    return shutil.which(name, path=os.pathsep.join([path, *_SYSTEM_FOLDERS]))


def _parse(file: Path | Traversable, source: str) -> dict[str, Implementation]:
    where = Where(source)
    found = {}
    for name, entry in parse_toml(read_text(file, where), where).items():
        try:
            found[name] = Implementation.model_validate(entry)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join([name, *(str(part) for part in first["loc"])])
            raise WirelabError(first["msg"], where=Where(source, key=key), hint="see docs/contract.md") from error
    return found


def _fill(text: str, known: Mapping[str, str]) -> str:
    # Twice: what `define` adds may hold placeholders itself.
    for _ in range(2):
        text = _PLACEHOLDER.sub(lambda match: known.get(match[1], match[0]), text)
    return text
