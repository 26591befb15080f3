"""Protocols of the user's own: `[protocols.NAME]` in the `implementations.toml` next to an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from wirelab.errors import CombinedError, Where, WirelabError
from wirelab.experiment.file.problems import problems
from wirelab.experiment.file.quantities import Table
from wirelab.experiment.programs.implementations import CATALOGUE, PROTOCOLS_TABLE, WorkloadKind
from wirelab.experiment.programs.own_settings import SettingTable
from wirelab.schema import ProtocolDescription, Role, registered
from wirelab.schema.describe import Timing
from wirelab.toml import parse_toml, read_text


class ProtocolTable(Table):
    """What Wirelab must know of a protocol that it does not speak itself."""

    title: str = Field(description="Its layers, such as `Mine over TLS over TCP`.")
    about: str = Field(default="", description="A paragraph for people.")
    transport: Literal["tcp", "udp"]
    port: Annotated[int, Field(ge=1, le=65535)] = Field(description="Where its server listens.")
    secure: bool = Field(default=False, description="It needs the campaign's certificates.")
    workloads: list[WorkloadKind] = Field(default=["telemetry"])
    settings: dict[str, SettingTable] = Field(default_factory=dict)

    def description(self, name: str) -> ProtocolDescription:
        """As the data plane would describe it."""
        return ProtocolDescription(
            name=name,
            title=self.title,
            about=self.about,
            libraries=(),
            transport=self.transport,
            default_port=self.port,
            secure=self.secure,
            roles=(Role.CLIENT, Role.SERVER),
            timing=Timing.usual(self.transport, secure=self.secure),
            workloads=tuple(self.workloads),
            settings=tuple(setting.description(key) for key, setting in self.settings.items()),
        )


def own_protocols(folder: Path) -> tuple[ProtocolDescription, ...]:
    """The protocols that a folder's own file adds; everything wrong with them is raised at once."""
    path = folder / CATALOGUE
    if not path.exists():
        return ()
    where = Where(str(path))
    tables = parse_toml(read_text(path, where), where).get(PROTOCOLS_TABLE, {})
    if not isinstance(tables, dict):
        raise WirelabError("should be a table of protocols", Where(str(path), key=PROTOCOLS_TABLE))
    found, wrong = [], []
    for name, table in tables.items():
        if registered().protocol(name) is not None:
            key = Where(str(path), key=f"{PROTOCOLS_TABLE}.{name}")
            wrong.append(WirelabError("is the name of a built-in protocol", key, hint="give yours another"))
            continue
        try:
            found.append(_protocol(name, table))
        except ValidationError as error:
            wrong += problems(error, ProtocolTable, partial(_where, path, name))
    if wrong:
        raise wrong[0] if len(wrong) == 1 else CombinedError(wrong)
    return tuple(found)


def _protocol(name: str, table: Mapping[str, Any]) -> ProtocolDescription:
    return ProtocolTable.model_validate(table).description(name)


def _where(path: Path, name: str, key: tuple[str | int, ...]) -> Where:
    return Where(str(path), key=".".join([PROTOCOLS_TABLE, name, *(str(part) for part in key)]))
