"""Settings of protocols, read against what the data plane says it takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from wirelab.errors import did_you_mean
from wirelab.schema import BooleanValues, ChoiceValues, IntegerValues, ProtocolDescription, SettingDescription
from wirelab.schema.endpoint import SettingValue
from wirelab.units import UnitError, duration_ns, format_duration, format_size, size_bytes

ROLES = ("client", "server")
"""Roles that an implementation can be chosen for."""
IMPLEMENTATION = "implementation"
PLAYED_BY = frozenset({IMPLEMENTATION, *(f"{role}.{IMPLEMENTATION}" for role in ROLES)})
"""Keys of a protocol's table that are no settings: who plays both roles, or one."""

_NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


class HasSettings(Protocol):
    """A protocol, or a program with settings of its own."""

    @property
    def name(self) -> str:
        """As an experiment has it."""

    @property
    def settings(self) -> tuple[SettingDescription, ...]:
        """In the order in which they are described."""

    def setting(self, name: str) -> SettingDescription | None:
        """The one of that name."""


def read_setting(setting: SettingDescription, value: object) -> SettingValue:
    """The value as the data plane takes it; sizes and durations need their unit."""
    match setting.values:
        case ChoiceValues(choices=choices):
            if value not in choices:
                raise UnitError("unknown value", hint=did_you_mean(str(value), choices))
            return str(value)
        case BooleanValues():
            if not isinstance(value, bool):
                raise UnitError("should be true or false")
            return value
        case IntegerValues(words=words) if isinstance(value, str) and value in words:
            return value
        case IntegerValues() as values:
            return _integer(values, value)


def having(
    setting: str, factors: Mapping[str, Any], protocols: Sequence[ProtocolDescription]
) -> Sequence[ProtocolDescription]:
    """The experiment's protocols that have a setting; every known one where none of its own has it."""
    names = factors.get("protocol")
    own = [
        protocol
        for protocol in protocols
        if isinstance(names, list) and protocol.name in names and protocol.setting(setting)
    ]
    return own or protocols


def setting_error(name: str, value: object, protocols: Iterable[HasSettings]) -> UnitError | None:
    """Why a value cannot be that of a setting in all of these protocols that have it; if some take it, who does not."""
    refused: dict[str, UnitError] = {}
    takes: list[str] = []
    for protocol in protocols:
        if (setting := protocol.setting(name)) is None:
            continue
        try:
            read_setting(setting, value)
            takes.append(protocol.name)
        except UnitError as error:
            refused[protocol.name] = error
    if not refused:
        return None
    first = next(iter(refused.values()))
    if not takes:
        return first
    one = f"{takes[0]} has it: set it for that protocol only, in [protocols.{takes[0]}]"
    return UnitError(f"{first} of {', '.join(refused)}", hint=f"{first.hint}; {one}" if first.hint else one)


def resolve_settings(protocol: HasSettings, layers: Iterable[Mapping[str, Any]]) -> dict[str, SettingValue]:
    """Every setting of a protocol; a later layer wins, and what the protocol does not have is left out."""
    resolved: dict[str, SettingValue] = {setting.name: setting.default for setting in protocol.settings}
    for layer in layers:
        for setting in protocol.settings:
            if setting.name in layer:
                resolved[setting.name] = read_setting(setting, layer[setting.name])
    for setting in protocol.settings:
        for name, value in setting.stands_for.get(str(resolved[setting.name]), {}).items():
            other = protocol.setting(name)
            if other is not None and resolved[name] == other.default:
                resolved[name] = value
    return resolved


def describe_values(setting: SettingDescription) -> str:
    """What a setting takes, for people."""
    match setting.values:
        case ChoiceValues(choices=choices):
            return ", ".join(choices)
        case BooleanValues():
            return "true, false"
        case IntegerValues(minimum=minimum, maximum=maximum, unit=unit, words=words):
            return ", ".join([f"{_shown(minimum, unit)} to {_shown(maximum, unit)}", *words])


def describe_default(setting: SettingDescription) -> str:
    """A setting's default, for people."""
    if isinstance(setting.values, IntegerValues) and isinstance(setting.default, int):
        return _shown(setting.default, setting.values.unit)
    return str(setting.default).lower() if isinstance(setting.default, bool) else str(setting.default)


def _integer(values: IntegerValues, value: object) -> int:
    if values.unit == "bytes":
        number = size_bytes(value)
    elif values.unit in _NANOSECONDS:
        number, rest = divmod(duration_ns(value), _NANOSECONDS[values.unit])
        if rest:
            raise UnitError(f"is not a whole number of {values.unit}")
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    else:
        raise UnitError("should be a whole number")
    if not values.minimum <= number <= values.maximum:
        low, high = _shown(values.minimum, values.unit), _shown(values.maximum, values.unit)
        raise UnitError("is out of range", hint=" or ".join([f"{low} to {high}", *map(repr, values.words)]))
    return number


def _shown(number: int, unit: str) -> str:
    if unit == "bytes":
        rounded = format_size(number)
        return rounded if size_bytes(rounded) == number else f"{number} B"
    if unit in _NANOSECONDS:
        return format_duration(number * _NANOSECONDS[unit])
    return f"{number} {unit}".strip()
