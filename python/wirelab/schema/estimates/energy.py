"""Energy of a scenario, and `energy.json`: the models that it was computed with."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import TypedDict

from wirelab.launcher import launched
from wirelab.schema.bounds import Bounds, document
from wirelab.schema.document import read_document

ENERGY_VERSION = 2


@document
class StateEnergy(Bounds):
    """Time and joules in one state of the radio, for one exchange."""

    seconds: float
    """Seconds in the state, for one exchange."""


@document
class Counted(TypedDict):
    """How many exchanges of how many trials."""

    exchanges: int
    """Number of exchanges."""
    trials: int
    """Number of trials."""


@document
class EnergyParts(TypedDict):
    """What the client's radio took in a trial, and for what: means over trials. The first three make up the last."""

    setup_j: Bounds
    """Joules before the first message, and of opening persistent connections."""
    messages_j: Bounds
    """Joules from each message to the next, the last one's interval included."""
    closing_j: Bounds
    """Joules after the last interval."""
    trial_j: Bounds
    """Joules of the whole trial."""


@document
class EnergyOfScenario(TypedDict):
    """The energy of a message and of a day for the client's radio and processor; null if not known."""

    exchanges: int
    """Completed exchanges that the means of exchanges by themselves are over."""
    trials: int
    """Their trials."""
    with_cpu_time: Counted | None
    """Those whose CPU time is known; null unless it was measured on the device."""
    radio_j: Bounds | None
    """Joules of the radio for one exchange by itself."""
    message_j: Bounds | None
    """Joules of radio and processor for one exchange by itself."""
    states: dict[str, StateEnergy]
    """Joules and seconds by state of the radio, for one exchange by itself."""
    interval_s: float | None
    """Mean seconds from one message to the next; null of exchanges that follow one another."""
    interval_j: Bounds | None
    """Joules of the radio from one message to the next, whatever the message's outcome."""
    setup_j: Bounds | None
    """Joules of the radio for one set-up: of a persistent connection, or of what comes before the first message."""
    setups: int
    """How many set-ups there were."""
    parts: EnergyParts | None
    """The energy of a trial and its parts."""
    days: int
    """Messages that a day's energy is the mean of: not those that opened a connection."""
    no_day: str | None
    """Why there is no day's energy and no battery life; null if there is one, or if only the processor's energy is
    missing.
    """
    day_j: Bounds | None
    """Joules of a day."""
    day_states: dict[str, Bounds] | None
    """Joules of a day by state."""
    battery_days: Bounds | None
    """Life of the battery in days."""


@document
class Constant(TypedDict):
    """A constant of a radio's or device's model, and its source."""

    constant: str
    """Name of the constant."""
    value: str
    """Its value with the unit."""
    source: str
    """Where it comes from."""


@document
class DeviceRecord(TypedDict):
    """A device."""

    name: str
    """Name."""
    title: str
    """Name for people."""
    validated: bool
    """True if the model was compared with measured power."""
    sources: list[Constant]
    """Its constants."""


@document
class RadioRecord(DeviceRecord):
    """A radio."""

    inputs: dict[str, str | int | float]
    """Inputs of the radio, as written."""


@document
class Battery(TypedDict):
    """A battery."""

    capacity_mah: float
    """Capacity in mAh."""
    voltage_v: float
    """Mean voltage in V."""


@document
class LinkRadioRecord(TypedDict):
    """The radio of the client on some links."""

    links: list[str]
    """Names of the links."""
    radio: RadioRecord
    """The radio."""
    device: DeviceRecord | None
    """The device around it; null without one."""


@document
class EnergyModel(TypedDict):
    """`energy.json`: the radios and devices that energies were computed for."""

    schema_version: int
    """Version of the format."""
    radios: list[LinkRadioRecord]
    """Each radio with its links."""
    measured_on_device: bool
    """The client's CPU time was measured on the device."""
    battery: Battery | None
    """The battery; null without one."""
    no_day: dict[str, str]
    """By the key of a scenario, why it has no day's energy and no battery life."""
    notes: list[str]
    """Sentences that the reader must know."""


def radio_of(model: EnergyModel, link_name: str) -> LinkRadioRecord | None:
    """The radio of the client on this link; None if it has none."""
    return next((each for each in model["radios"] if link_name in each["links"]), None)


def read_energy_model(path: Path) -> EnergyModel:
    """`energy.json`. Raises `WirelabError` if it is damaged, or of another version."""
    hint = f"make it again: {launched(f'measure {path.parent}')}"
    return read_document(path, EnergyModel, ENERGY_VERSION, hint)
