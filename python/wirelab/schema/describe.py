"""Everything registered in the data plane (`crates/wirelab-schema/src/describe.rs`)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from wirelab.errors import RunError
from wirelab.schema.base import Received
from wirelab.schema.endpoint import Role, SettingValue


class ChoiceValues(Received):
    """One of these words."""

    type: Literal["choice"] = "choice"
    choices: tuple[str, ...]


class BooleanValues(Received):
    """True or false."""

    type: Literal["boolean"] = "boolean"


class IntegerValues(Received):
    """A whole number, or one of some words; `unit` is empty for a count."""

    type: Literal["integer"] = "integer"
    minimum: int
    maximum: int
    unit: str
    words: tuple[str, ...] = ()


class SettingDescription(Received):
    """One setting of a stack."""

    name: str
    about: str
    values: Annotated[ChoiceValues | BooleanValues | IntegerValues, Field(discriminator="type")]
    default: SettingValue
    stands_for: dict[str, dict[str, SettingValue]] = Field(default_factory=dict)
    """Of a choice: values of other settings that are left to their default."""


class StackDescription(Received):
    """One stack."""

    name: str
    title: str
    about: str
    libraries: tuple[str, ...]
    transport: str
    default_port: int
    secure: bool
    roles: tuple[Role, ...]
    workloads: tuple[str, ...]
    settings: tuple[SettingDescription, ...]

    @property
    def builtin(self) -> bool:
        """False for a stack of the user's own, which foreign programs alone speak: no library of ours is in it."""
        return bool(self.libraries)

    def setting(self, name: str) -> SettingDescription | None:
        """The setting of that name."""
        return next((setting for setting in self.settings if setting.name == name), None)


class ImpairmentDescription(Received):
    """One kind of impairment or shared stage."""

    kind: str
    about: str


class Description(Received):
    """Everything registered."""

    schema_version: int
    stacks: tuple[StackDescription, ...]
    impairments: tuple[ImpairmentDescription, ...]
    shared: tuple[ImpairmentDescription, ...]
    """Stages that both directions of a link share."""

    def with_stacks(self, stacks: Iterable[StackDescription]) -> Description:
        """The same, and stacks of the user's own."""
        return self.model_copy(update={"stacks": (*self.stacks, *stacks)})

    def stack(self, name: str) -> StackDescription | None:
        """The stack of that name."""
        return next((stack for stack in self.stacks if stack.name == name), None)


@cache
def registered() -> Description:
    """What this version has: `schema/stacks.json`, from the wheel or from the checkout."""
    shipped = resources.files("wirelab.schema").joinpath("json", "stacks.json")
    checkout = Path(__file__).parents[3] / "schema" / "stacks.json"
    for candidate in (shipped, checkout):
        if candidate.is_file():
            return Description.model_validate_json(candidate.read_text(encoding="utf-8"))
    raise RunError(f"no description of the stacks at {checkout}", hint="in a checkout: make generate")
