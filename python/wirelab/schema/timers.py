"""What the ends of a protocol do of their own accord when nothing is sent for long, with a scenario's settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from wirelab.schema.describe import IntegerValues, Length, ProtocolDescription, Timer, TimerKind
from wirelab.schema.endpoint import SettingValue
from wirelab.schema.workload import IdleStart, NewConnection, Persistent, Resumed, WorkloadSpec

_UNIT_NS = {"ms": 10**6, "s": 10**9}


class Silence(NamedTuple):
    """A silence after which an end does something."""

    name: str
    """The setting's name, or words."""
    length_ns: int
    kind: TimerKind


def silences(protocol: ProtocolDescription, settings: Mapping[str, SettingValue]) -> Iterator[Silence]:
    """Those of the timers that run."""
    for timer in protocol.timing.timers:
        is_off = timer.unless is not None and _is_on(timer.unless, protocol, settings)
        is_needed = timer.only_with is None or _is_on(timer.only_with, protocol, settings)
        whole_ns = length_ns(timer, protocol, settings)
        if whole_ns and is_needed and not is_off:
            yield Silence(timer.name, whole_ns // timer.times, timer.kind)


def shorter_than(
    gap_ns: float, protocol: ProtocolDescription, settings: Mapping[str, SettingValue], workload: WorkloadSpec
) -> list[Silence]:
    """Those that run out in a gap between two messages: of a connection that is open meanwhile, or of what the next one
    resumes. Messages take several connections in turn.
    """
    policy = getattr(workload, "connection", None)
    if isinstance(policy, Persistent):
        silent_ns, is_open = gap_ns * policy.connections, True
    elif isinstance(policy, NewConnection | Resumed):
        silent_ns, is_open = gap_ns, False
    else:
        return []
    if isinstance(policy, Resumed):
        settings = {**settings, **{each.only_with: True for each in protocol.timing.timers if each.only_with}}
    found: dict[str, Silence] = {}
    for each in sorted(silences(protocol, settings), key=lambda each: each.length_ns):
        if (each.kind != "forgets") is is_open and each.length_ns < silent_ns:
            found.setdefault(each.name, each)
    return list(found.values())


def not_covered(
    protocol: ProtocolDescription, settings: Mapping[str, SettingValue], workload: WorkloadSpec
) -> list[Silence]:
    """Those that an idle start leaves out: the link rests through the gaps, and endpoints are idle for seconds only."""
    arrival = getattr(workload, "arrival", None)
    return shorter_than(arrival.interval_ns, protocol, settings, workload) if isinstance(arrival, IdleStart) else []


def length_ns(length: Length | Timer, protocol: ProtocolDescription, settings: Mapping[str, SettingValue]) -> int:
    """A fixed length, or what its setting has; 0 if it is off."""
    if length.fixed_ns is not None:
        return length.fixed_ns
    setting = protocol.setting(length.name)
    if setting is None or not isinstance(setting.values, IntegerValues):
        return 0
    value = settings.get(length.name, setting.default)
    return value * _UNIT_NS[setting.values.unit] if isinstance(value, int) else 0


def _is_on(name: str, protocol: ProtocolDescription, settings: Mapping[str, SettingValue]) -> bool:
    setting = protocol.setting(name)
    return setting is not None and settings.get(name, setting.default) is True
