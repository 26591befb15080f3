"""Third-party programs that can play a role, as `implementations.toml` describes them (`docs/contract.md`).

Nothing here looks at the machine: whether they are installed is the runner's to know.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from wirelab.errors import CombinedError, Where, WirelabError
from wirelab.experiment.file.positions import Path as KeyPath
from wirelab.experiment.file.problems import problems
from wirelab.experiment.programs.own_settings import ProgramSettings, SettingTable
from wirelab.experiment.programs.texts import TextError, holds, render
from wirelab.schema import (
    IdleStart,
    PageLoads,
    ProtocolDescription,
    PubSub,
    PubSubWorkload,
    RequestResponse,
    RequestWorkload,
    Role,
    Telemetry,
    WorkloadSpec,
)
from wirelab.schema.endpoint import SettingValue
from wirelab.toml import parse_toml, read_text

CATALOGUE = "implementations.toml"
PROTOCOLS_TABLE = "protocols"
"""The key of that file which is no program: the user's own protocols."""
FACTS = ("protocol", "workload", "upload", "download", "request")
"""What a condition of `requires` may name, in addition to settings."""
T = TypeVar("T")
WorkloadKind = Literal["request-response", "telemetry", "pubsub", "stream", "page"]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class _Listed(_Entry):
    """Facts by their keys, each with the values that it may have."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
    __pydantic_extra__: dict[str, Annotated[tuple[SettingValue, ...], Field(min_length=1)]] = Field(init=False)

    @property
    def listed(self) -> Mapping[str, tuple[SettingValue, ...]]:
        """Values by key; a setting of some protocol, or `FACTS`."""
        return self.__pydantic_extra__


class When(_Listed):
    """Values that some settings must have for a requirement to count."""

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


class Words(_Entry):
    """Words of a command, each a template of one argument; in the file a string, or a table with a condition."""

    condition: str | None = Field(default=None, alias="if")
    """An expression of jinja2: without it the words are always there."""
    add: tuple[str, ...]

    @model_validator(mode="before")
    @classmethod
    def _one_word(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"add": (value,)}
        if not isinstance(value, dict):
            raise ValueError("should be a string, or a table with `if` and `add`")
        return value


class TemplateFile(_Entry):
    """A file that is written into the endpoint's folder; both are templates."""

    path: str
    text: str


class RoleEntry(_Entry):
    """What a program can do in one role, and how."""

    protocols: tuple[str, ...]
    workloads: tuple[WorkloadKind, ...] = ("request-response", "telemetry")
    connections: tuple[Literal["new", "resumed", "persistent"], ...] = ("new", "persistent")
    waits: tuple[Literal["connected", "check-in", "poll"], ...] = ("connected",)
    """How subscribers may wait: the program's own, or those of other programs at this server."""
    downloads_in_turn: bool = False
    """Whether the answers of one trial may have several sizes."""
    requests: bool = False
    """Whether a client sends a request of the user's own. Of a server it says nothing."""
    publishes: bool = False
    """Whether a client sends a message of the user's own. Of a server it says nothing."""
    settings: tuple[str, ...] = ()
    requires: tuple[Requires, ...] = ()
    arguments: tuple[Words, ...] = ()
    """Words that stand behind whichever command is executed."""
    environment: dict[str, str] = Field(default_factory=dict)
    starts_in_s: float = Field(default=0, ge=0)
    """How long it takes to be ready, as measured: for a plan's minutes and for nothing else."""
    each_takes_s: float = Field(default=0, ge=0)
    """The client's own time for each exchange, in addition to the link's."""
    each_computes_s: float = Field(default=0, ge=0)
    """CPU time of a client for each load of a page, as measured: for how many trials run at a time."""

    def refusal(
        self,
        protocol: ProtocolDescription,
        settings: Mapping[str, SettingValue],
        workload: WorkloadSpec,
        own: Mapping[str, SettingValue] | None = None,
    ) -> str | None:
        """Why the program does not do this; none if it does. `own`: its settings beyond the protocol's."""
        if protocol.name not in self.protocols:
            return f"does not speak {protocol.name} (it speaks {', '.join(self.protocols)})"
        if workload.kind not in self.workloads:
            return f"does not do {workload.kind}"
        if (words := self._shape_refusal(workload)) is not None:
            return words
        for name, value in settings.items():
            setting = protocol.setting(name)
            if name not in self.settings and (setting is None or value != setting.default):
                return f"does not take the setting {name} = {value!r}"
        facts = facts_of(protocol.name, {**settings, **(own or {})}, workload)
        return next((words for each in self.requires if (words := each.unmet(facts)) is not None), None)

    def _shape_refusal(self, workload: WorkloadSpec) -> str | None:
        """Why it does not use connections, wait, ask or answer as the workload says; none if it does."""
        if isinstance(workload, RequestWorkload):
            key, way, known = "connection", str(workload.connection.policy), set[str](self.connections)
        else:
            key, way, known = "wait", _wait(workload), set[str](self.waits)
        if way not in known:
            return f"does not do {key} = '{way}'"
        if asks_itself(workload) and isinstance(self, ClientEntry) and not self.requests:
            return "does not send a request of one's own"
        if publishes_itself(workload) and isinstance(self, ClientEntry) and not self.publishes:
            return "does not send a message to a topic of one's own"
        if len(workload.downloads) > 1 and not self.downloads_in_turn:
            return "does not do downloads of several sizes in turn"
        return None

    def variables(
        self, protocol: str, settings: Mapping[str, SettingValue], workload: WorkloadSpec
    ) -> dict[str, object]:
        """What texts may ask of a protocol, its settings and a workload.

        A setting has its name with `_` for `-`, unless another variable has that name: `settings` has all of them. One
        that the role takes of another of its protocols is none.
        """
        known = {**dict.fromkeys(self.settings), **settings}
        own = {variable(name): value for name, value in known.items()}
        message = workload.publish if isinstance(workload, Telemetry) else None
        topic = "" if message is None else message.topic
        return {**own, "settings": known, **facts_of(protocol, {}, workload), "topic": topic}


def _wait(workload: WorkloadSpec) -> str:
    return workload.wait.by if isinstance(workload, PubSub) else "connected"


class ServerEntry(RoleEntry):
    """A server: files from templates, a command, a ready probe, and a payload file for each size of a download."""

    waits: tuple[Literal["connected", "check-in", "poll"], ...] = ("connected", "check-in")
    command: tuple[Words, ...]
    ready: Literal["event", "tcp-connect", "udp-bound"]
    ready_timeout_s: float = Field(default=20, gt=0)
    files: tuple[TemplateFile, ...] = ()
    payload: str | None = None


class ClientEntry(RoleEntry):
    """A client: a command that performs the whole workload by the contract, or one executed for each exchange.

    `waiting` is the command for workloads in which a client waits for messages, and `loading` the one that loads pages,
    if those are others.
    """

    command: tuple[Words, ...] = ()
    per_exchange: tuple[Words, ...] = ()
    waiting: tuple[Words, ...] = ()
    loading: tuple[Words, ...] = ()
    timed_out_exit_codes: tuple[int, ...] = ()
    stamp_tolerance_ms: float = Field(default=0, ge=0)
    """How far the instants that it reports may lie from CLOCK_MONOTONIC, such as the step of its clock."""

    @model_validator(mode="after")
    def _one_way_to_run(self) -> Self:
        if bool(self.command) == bool(self.per_exchange):
            raise ValueError("a client has either `command` or `per_exchange`")
        if self.per_exchange and not self.loading and "page" in self.workloads:
            raise ValueError("a client that is run for each exchange needs `loading` for page")
        if self.per_exchange and not self.waiting and {"pubsub", "stream"} & {*self.workloads}:
            raise ValueError("a client that is run for each exchange needs `waiting` for notify and stream")
        return self

    def refusal(
        self,
        protocol: ProtocolDescription,
        settings: Mapping[str, SettingValue],
        workload: WorkloadSpec,
        own: Mapping[str, SettingValue] | None = None,
    ) -> str | None:
        """The same of a client: one that performs the workload itself asks no link to rest, keeps nothing, and sends
        each request of a page at once.
        """
        if isinstance(getattr(workload, "arrival", None), IdleStart) and self.whole(workload):
            return "performs the workload itself and does not do arrival = 'idle-start'"
        if getattr(workload, "retry", None) is not None and self.whole(workload):
            return "performs the workload itself and does not do retry"
        if isinstance(workload, PageLoads) and workload.request_delay_ns:
            return "does not do request-delay"
        return super().refusal(protocol, settings, workload, own)

    def whole(self, workload: WorkloadSpec) -> tuple[Words, ...]:
        """The command that performs all of the workload; none if one is executed for each exchange."""
        if isinstance(workload, PubSubWorkload) and self.waiting:
            return self.waiting
        return self.loading if isinstance(workload, PageLoads) and self.loading else self.command


class Roles(_Entry):
    """Roles of a program."""

    client: ClientEntry | None = None
    server: ServerEntry | None = None


@dataclass(frozen=True)
class Origin:
    """Where an entry stands, and the variables that every text of its file may ask for."""

    name: str
    source: str
    file: Path | Traversable
    places: Mapping[str, str]

    @property
    def shipped(self) -> bool:
        """Whether it is one of Wirelab's own entries, all of whose texts the tests render."""
        return self.source == CATALOGUE

    def located(self, error: TextError) -> WirelabError:
        """An error in one of its texts, with the line."""
        where = Where(self.source)
        content = read_text(self.file, where)
        return error.located(self.source, content, parse_toml(content, where).get(self.name), self.name)


class Implementation(_Entry):
    """One program."""

    title: str
    about: str = ""
    homepage: str
    install: str
    version_command: tuple[str, ...]
    """Each a template."""
    program: str | None = None
    """What must be installed, if that is not the first word of `version_command`."""
    python_module: str | None = None
    """A top-level module that Wirelab's Python must have, for a program that is one of the shipped scripts."""
    settings: dict[str, SettingTable] = Field(default_factory=dict)
    """Its own settings, in addition to those of a protocol: `[programs.NAME]` in an experiment."""
    roles: Roles
    _origin: Origin | None = PrivateAttr(default=None)

    def model_post_init(self, origin: Any) -> None:
        """Keeps where it stands, which is what `parse` validates it with."""
        self._origin = origin

    @property
    def origin(self) -> Origin | None:
        """Where it stands; none of an entry that no file has."""
        return self._origin

    def text(self, text: str, variables: Mapping[str, object]) -> str:
        """One of its texts, rendered."""
        return self._rendered(render, text, variables)

    def command(self, words: Iterable[Words], variables: Mapping[str, object]) -> list[str]:
        """The arguments that some words come to: each text is one, if its condition holds."""
        held = (each for each in words if each.condition is None or self._rendered(holds, each.condition, variables))
        return [self.text(text, variables) for each in held for text in each.add]

    def _rendered(self, how: Callable[[str, Mapping[str, object]], T], text: str, variables: Mapping[str, object]) -> T:
        places = {} if self._origin is None else self._origin.places
        try:
            return how(text, {**variables, **places})
        except TextError as error:
            raise (WirelabError(error.what) if self._origin is None else self._origin.located(error)) from None

    def role(self, role: Role) -> ClientEntry | ServerEntry | None:
        """Its entry for a role."""
        return {Role.CLIENT: self.roles.client, Role.SERVER: self.roles.server}.get(role)

    def serves(self, role: str, protocol: str, kinds: Collection[str] = ()) -> bool:
        """Whether it can play this role of this protocol, where kinds of workloads are named in one of them."""
        entry = self.role(Role(role))
        if entry is None or protocol not in entry.protocols:
            return False
        return not kinds or not {*kinds}.isdisjoint(entry.workloads)

    def roles_of(self, protocol: str) -> tuple[str, ...]:
        """The roles of this protocol that it can play."""
        return tuple(role for role in ("client", "server") if self.serves(role, protocol))


def own_settings(programs: Mapping[str, Implementation]) -> dict[str, ProgramSettings]:
    """Of the programs that have some."""
    return {
        name: ProgramSettings(name, tuple(table.description(key) for key, table in program.settings.items()))
        for name, program in programs.items()
        if program.settings
    }


def facts_of(protocol: str, settings: Mapping[str, SettingValue], workload: WorkloadSpec) -> dict[str, SettingValue]:
    """What a `when` may ask for."""
    bodies = {"upload": workload.upload_bytes > 0, "download": max(workload.downloads) > 0}
    return {**settings, "protocol": protocol, "workload": workload.kind, **bodies, "request": asks_itself(workload)}


def asks_itself(workload: WorkloadSpec) -> bool:
    """Whether the request of every exchange is the user's own."""
    return isinstance(workload, RequestResponse) and workload.request is not None


def publishes_itself(workload: WorkloadSpec) -> bool:
    """Whether the topic of every message is the user's own."""
    return isinstance(workload, Telemetry) and workload.publish is not None


def variable(setting: str) -> str:
    """The name that a setting has in a template."""
    return setting.replace("-", "_")


def parse(file: Path | Traversable, source: str, places: Mapping[str, str]) -> dict[str, Implementation]:
    """The entries of a file; `places` are variables of all its texts."""
    where = Where(source)
    found, wrong = {}, []
    for name, entry in parse_toml(read_text(file, where), where).items():
        if name == PROTOCOLS_TABLE:
            continue
        try:
            found[name] = Implementation.model_validate(entry, context=Origin(name, source, file, places))
        except ValidationError as error:
            wrong += problems(error, Implementation, partial(_where, source, name))
    if wrong:
        raise wrong[0] if len(wrong) == 1 else CombinedError(wrong)
    return found


def _where(source: str, name: str, key: KeyPath) -> Where:
    return Where(source, key=".".join([name, *(str(part) for part in key)]))
