"""Settings that the data plane does not describe: of a user's own protocol, or of a third-party program."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field, ValidationInfo, field_validator

from wirelab.experiment.file.quantities import Table
from wirelab.experiment.programs.settings import read_setting
from wirelab.schema import BooleanValues, ChoiceValues, IntegerValues, SettingDescription
from wirelab.schema.endpoint import SettingValue
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
            raise UnitError("is missing with minimum", hint="a whole number has both")
        if maximum is None or "minimum" not in info.data:
            return maximum
        if minimum is None:
            raise UnitError("has no minimum with it", hint="a whole number has both")
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


@dataclass(frozen=True)
class ProgramSettings:
    """A program's own settings, in addition to those of its protocols."""

    name: str
    settings: tuple[SettingDescription, ...]

    def setting(self, name: str) -> SettingDescription | None:
        """The one of that name."""
        return next((each for each in self.settings if each.name == name), None)
