"""Stacks of the user's own: `[stacks.NAME]` in the `implementations.toml` beside an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, ValidationInfo, field_validator

from wirelab.errors import CombinedError, Where, WirelabError
from wirelab.experiment.implementations import CATALOGUE, STACKS_TABLE
from wirelab.experiment.problems import problems
from wirelab.experiment.quantities import Table
from wirelab.experiment.settings import read_setting
from wirelab.schema import (
    BooleanValues,
    ChoiceValues,
    IntegerValues,
    Role,
    SettingDescription,
    StackDescription,
    registered,
)
from wirelab.schema.endpoint import SettingValue
from wirelab.toml import parse_toml, read_text
from wirelab.units import UnitError


class SettingTable(Table):
    """One setting: `choices`, or `minimum` and `maximum` with a unit, or neither for true and false."""

    about: str
    choices: list[str] = Field(default_factory=list)
    unit: str = ""
    minimum: int | None = None
    maximum: int | None = Field(default=None, validate_default=True)
    default: bool | int | str

    @field_validator("maximum")
    @classmethod
    def _bounds(cls, maximum: int | None, info: ValidationInfo) -> int | None:
        minimum = info.data.get("minimum")
        if maximum is None and minimum is not None:
            raise UnitError("is missing beside minimum", hint="a whole number has both")
        if maximum is None or "minimum" not in info.data:
            return maximum
        if minimum is None:
            raise UnitError("has no minimum beside it", hint="a whole number has both")
        if maximum < minimum:
            raise UnitError(f"is less than minimum, {minimum}")
        if info.data.get("choices"):
            raise UnitError("is of a number, and this setting has choices", hint="one or the other")
        return maximum

    @field_validator("default")
    @classmethod
    def _taken(cls, default: SettingValue, info: ValidationInfo) -> SettingValue:
        """Held against what the setting takes; a number without a unit is in the setting's own."""
        if {"choices", "unit", "minimum", "maximum"} - info.data.keys():
            return default
        described = cls.model_construct(**{"about": "", **info.data}, default=default).description("")
        values = described.values
        if isinstance(values, IntegerValues) and not isinstance(default, str):
            values = values.model_copy(update={"unit": ""})
        return read_setting(described.model_copy(update={"values": values}), default)

    def description(self, name: str) -> SettingDescription:
        """As the data plane would describe it."""
        values: ChoiceValues | IntegerValues | BooleanValues = BooleanValues()
        if self.choices:
            values = ChoiceValues(choices=tuple(self.choices))
        elif self.minimum is not None and self.maximum is not None:
            values = IntegerValues(minimum=self.minimum, maximum=self.maximum, unit=self.unit)
        return SettingDescription(name=name, about=self.about, values=values, default=self.default)


class StackTable(Table):
    """What Wirelab must know of a protocol that it does not speak itself."""

    title: str = Field(description="Its layers, such as `Mine over TLS over TCP`.")
    about: str = Field(default="", description="A paragraph for people.")
    transport: Literal["tcp", "udp"]
    port: Annotated[int, Field(ge=1, le=65535)] = Field(description="Where its server listens.")
    secure: bool = Field(default=False, description="It needs the campaign's certificates.")
    workloads: list[Literal["request-response", "deliver", "notify", "stream"]] = Field(default=["deliver"])
    settings: dict[str, SettingTable] = Field(default_factory=dict)

    def description(self, name: str) -> StackDescription:
        """As the data plane would describe it."""
        return StackDescription(
            name=name,
            title=self.title,
            about=self.about,
            libraries=(),
            transport=self.transport,
            default_port=self.port,
            secure=self.secure,
            roles=(Role.CLIENT, Role.SERVER),
            workloads=tuple(self.workloads),
            settings=tuple(setting.description(key) for key, setting in self.settings.items()),
        )


def own_stacks(folder: Path) -> tuple[StackDescription, ...]:
    """The stacks that a folder's own file adds; everything wrong with them is raised at once."""
    path = folder / CATALOGUE
    if not path.is_file():
        return ()
    where = Where(str(path))
    tables = parse_toml(read_text(path, where), where).get(STACKS_TABLE, {})
    if not isinstance(tables, dict):
        raise WirelabError("should be a table of stacks", Where(str(path), key=STACKS_TABLE))
    found, wrong = [], []
    for name, table in tables.items():
        if registered().stack(name) is not None:
            key = Where(str(path), key=f"{STACKS_TABLE}.{name}")
            wrong.append(WirelabError("is the name of a built-in stack", key, hint="give yours another"))
            continue
        try:
            found.append(_stack(name, table))
        except ValidationError as error:
            wrong += problems(error, StackTable, partial(_where, path, name))
    if wrong:
        raise wrong[0] if len(wrong) == 1 else CombinedError(wrong)
    return tuple(found)


def _stack(name: str, table: Mapping[str, Any]) -> StackDescription:
    return StackTable.model_validate(table).description(name)


def _where(path: Path, name: str, key: tuple[str | int, ...]) -> Where:
    return Where(str(path), key=".".join([STACKS_TABLE, name, *(str(part) for part in key)]))
