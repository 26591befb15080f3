"""Foreign programs that can play a role, as `implementations.toml` describes them (`docs/contract.md`).

Nothing here looks at the machine: whether they are installed is the runner's to know.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from wirelab.errors import CombinedError, Where
from wirelab.experiment.own_settings import ProgramSettings, SettingTable
from wirelab.experiment.positions import Path as KeyPath
from wirelab.experiment.problems import problems
from wirelab.schema import Asking, PageLoads, Role, StackDescription, Telling, WorkloadSpec
from wirelab.schema.endpoint import SettingValue
from wirelab.toml import parse_toml, read_text

CATALOGUE = "implementations.toml"
STACKS_TABLE = "stacks"
"""The key of that file which is no program: the user's own stacks."""
FACTS = ("stack", "workload", "upload", "download")
"""What a `when` may ask for beside settings."""
RESOURCE_TEXTS = ("path", "file", "link", "media_type", "extension")
"""Placeholders of each resource of a page."""
WorkloadKind = Literal["request-response", "deliver", "notify", "stream", "page"]
_PLACEHOLDER = re.compile(r"\{([a-z][a-z_0-9]*)\}")


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Listed(_Entry):
    """Facts by their keys, each with the values that it may have."""

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, Annotated[tuple[SettingValue, ...], Field(min_length=1)]] = Field(init=False)

    @property
    def listed(self) -> Mapping[str, tuple[SettingValue, ...]]:
        """Values by key; a setting of some stack, or `FACTS`."""
        return self.__pydantic_extra__


class When(_Listed):
    """Values that some settings must have for an addition to hold."""

    def holds(self, facts: Mapping[str, SettingValue]) -> bool:
        """Every key has one of its values."""
        return all(facts.get(key) in values for key, values in self.listed.items())


class Requires(_Listed):
    """Values that some facts must have, each one of those listed, where a condition holds."""

    when: When = When()

    def unmet(self, facts: Mapping[str, SettingValue]) -> str | None:
        """The first that is not met, in words; none where the condition does not hold."""
        if not self.when.holds(facts):
            return None
        for key, values in self.listed.items():
            if key in facts and facts[key] not in values:
                return f"does this only with {key} = {' or '.join(repr(value) for value in values)}"
        return None


class Conditional(_Entry):
    """What holds where a condition does, and where these settings are numbers instead of being left to the program."""

    when: When = When()
    given: tuple[str, ...] = ()

    def holds(self, facts: Mapping[str, SettingValue]) -> bool:
        """Both."""
        return self.when.holds(facts) and all(_is_number(facts.get(name)) for name in self.given)


class Define(Conditional):
    """Placeholders with a text of their own."""

    model_config = ConfigDict(frozen=True, extra="allow")

    @property
    def texts(self) -> dict[str, str]:
        """Placeholder to text."""
        return {key: str(value) for key, value in (self.model_extra or {}).items()}


class Each(Define):
    """Placeholders with a text for each resource of a page, one behind the other, where a server must be told of them.

    Filled in are `RESOURCE_TEXTS`; a resource without what a text asks for is left out, and texts that are alike are
    there once.
    """

    document: bool = False
    """Whether the page's own document counts among them."""
    separator: str = ""
    double: str = ""
    """A character that the program has a use of its own for, unless it is there twice."""

    def filled(self, placeholders: Mapping[str, str], resources: Sequence[Mapping[str, str]]) -> dict[str, str]:
        """Placeholder to what its texts come to."""
        told = resources if self.document else resources[1:]
        known = [{**placeholders, **{key: self._doubled(value) for key, value in each.items()}} for each in told]
        return {key: self.separator.join(_each(text, known)) for key, text in self.texts.items()}

    def _doubled(self, value: str) -> str:
        return value.replace(self.double, 2 * self.double) if self.double else value


class Arguments(Conditional):
    """Arguments that are added to the command."""

    add: tuple[str, ...]


class TemplateFile(_Entry):
    """A file that is written into the endpoint's folder."""

    path: str
    text: str


class RoleEntry(_Entry):
    """What a program can do in one role, and how."""

    stacks: tuple[str, ...]
    workloads: tuple[WorkloadKind, ...] = ("request-response", "deliver")
    connections: tuple[Literal["fresh", "resumed", "kept"], ...] = ("fresh", "kept")
    downloads_in_turn: bool = False
    """Whether the answers of one trial may have several sizes."""
    settings: tuple[str, ...] = ()
    requires: tuple[Requires, ...] = ()
    define: tuple[Define, ...] = ()
    each: tuple[Each, ...] = ()
    arguments: tuple[Arguments, ...] = ()
    environment: dict[str, str] = Field(default_factory=dict)
    starts_in_s: float = Field(default=0, ge=0)
    """How long it takes to be ready, as measured: for a plan's minutes and for nothing else."""
    each_takes_s: float = Field(default=0, ge=0)
    """The same of what a client takes for each exchange beside what the link does."""

    def refusal(
        self,
        stack: StackDescription,
        settings: Mapping[str, SettingValue],
        workload: WorkloadSpec,
        own: Mapping[str, SettingValue] | None = None,
    ) -> str | None:
        """Why the program does not do this; none if it does. `own` are the settings that it has beside the stack's."""
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
        facts = facts_of(stack.name, {**settings, **(own or {})}, workload)
        return next((words for each in self.requires if (words := each.unmet(facts)) is not None), None)

    def fill(
        self,
        texts: Iterable[str],
        placeholders: Mapping[str, str],
        facts: Mapping[str, SettingValue],
        resources: Sequence[Mapping[str, str]] = (),
    ) -> list[str]:
        """Texts with every known placeholder replaced; the agent's own (`{url}`, …) stay.

        `resources` are those of a page, its document first, each with `RESOURCE_TEXTS`.
        """
        known = dict(placeholders)
        for each in self.each:
            told = resources if each.holds(facts) else ()
            known |= {key: text for key, text in each.filled(placeholders, told).items() if text or key not in known}
        for definition in self.define:
            if definition.holds(facts):
                known |= definition.texts
        return [_fill(text, known) for text in texts]

    def added(self, facts: Mapping[str, SettingValue]) -> list[str]:
        """Arguments whose condition holds."""
        return [text for arguments in self.arguments if arguments.holds(facts) for text in arguments.add]


class ServerEntry(RoleEntry):
    """A server: files from templates, a command, a ready probe, and a payload file for each size of a download."""

    command: tuple[str, ...]
    ready: Literal["event", "tcp-connect", "udp-bound"]
    ready_timeout_s: float = Field(default=20, gt=0)
    files: tuple[TemplateFile, ...] = ()
    payload: str | None = None


class ClientEntry(RoleEntry):
    """A client: a command that performs the whole workload by the contract, or one executed for each exchange.

    `waiting` is the command that performs the workloads in which a client waits and is told, and `loading` that which
    loads pages, if those are others.
    """

    command: tuple[str, ...] = ()
    per_exchange: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    loading: tuple[str, ...] = ()
    timed_out_exit_codes: tuple[int, ...] = ()

    @model_validator(mode="after")
    def _one_way_to_run(self) -> Self:
        if bool(self.command) == bool(self.per_exchange):
            raise ValueError("a client has either `command` or `per_exchange`")
        if self.per_exchange and not self.loading and "page" in self.workloads:
            raise ValueError("a client that is run for each exchange needs `loading` for page")
        if self.per_exchange and not self.waiting and {"notify", "stream"} & {*self.workloads}:
            raise ValueError("a client that is run for each exchange needs `waiting` for notify and stream")
        return self

    def whole(self, workload: WorkloadSpec) -> tuple[str, ...]:
        """The command that performs all of the workload; none if one is executed for each exchange."""
        if isinstance(workload, Telling) and self.waiting:
            return self.waiting
        return self.loading if isinstance(workload, PageLoads) and self.loading else self.command


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
    program: str | None = None
    """What must be installed, if that is not the first word of `version_command`."""
    python_module: str | None = None
    """A top-level module that the Python beside Wirelab must have, for a program that is a script of ours."""
    settings: dict[str, SettingTable] = Field(default_factory=dict)
    """What an experiment may vary of it beside the settings of a stack: `[programs.NAME]` there."""
    roles: Roles

    def role(self, role: Role) -> ClientEntry | ServerEntry | None:
        """Its entry for a role."""
        return {Role.CLIENT: self.roles.client, Role.SERVER: self.roles.server}.get(role)

    def serves(self, role: str, stack: str, kinds: Collection[str] = ()) -> bool:
        """Whether it can play this role of this stack, where kinds of workloads are named in one of them."""
        entry = self.role(Role(role))
        if entry is None or stack not in entry.stacks:
            return False
        return not kinds or not {*kinds}.isdisjoint(entry.workloads)

    def roles_of(self, stack: str) -> tuple[str, ...]:
        """The roles of this stack that it can play."""
        return tuple(role for role in ("client", "server") if self.serves(role, stack))


def own_settings(programs: Mapping[str, Implementation]) -> dict[str, ProgramSettings]:
    """Of the programs that have some."""
    return {
        name: ProgramSettings(name, tuple(table.description(key) for key, table in program.settings.items()))
        for name, program in programs.items()
        if program.settings
    }


def facts_of(stack: str, settings: Mapping[str, SettingValue], workload: WorkloadSpec) -> dict[str, SettingValue]:
    """What a `when` may ask for."""
    bodies = {"upload": workload.upload_bytes > 0, "download": max(workload.downloads) > 0}
    return {**settings, "stack": stack, "workload": workload.kind, **bodies}


def setting_texts(settings: Mapping[str, SettingValue]) -> dict[str, str]:
    """Placeholders of the settings that are numbers: each as it is, and as the number of bits that it takes."""
    texts: dict[str, str] = {}
    for name, value in settings.items():
        if _is_number(value):
            key = name.replace("-", "_")
            texts |= {key: str(value), f"{key}_bits": str(int(value).bit_length())}
    return texts


def parse(file: Path | Traversable, source: str, known: Mapping[str, str]) -> dict[str, Implementation]:
    """The entries of a file, with the placeholders that are known by now filled in."""
    where = Where(source)
    found, wrong = {}, []
    for name, entry in parse_toml(read_text(file, where), where).items():
        if name == STACKS_TABLE:
            continue
        try:
            found[name] = Implementation.model_validate(_fill_all(entry, known))
        except ValidationError as error:
            wrong += problems(error, Implementation, partial(_where, source, name))
    if wrong:
        raise wrong[0] if len(wrong) == 1 else CombinedError(wrong)
    return found


def _is_number(value: SettingValue | None) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _each(text: str, known: Iterable[Mapping[str, str]]) -> Iterable[str]:
    """A text filled in with each of these that have what it asks for, without repetitions."""
    words = _PLACEHOLDER.findall(text)
    return dict.fromkeys(_fill(text, each) for each in known if all(each.get(word, word) for word in words))


def _where(source: str, name: str, key: KeyPath) -> Where:
    return Where(source, key=".".join([name, *(str(part) for part in key)]))


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
