"""What can be taken away from a link, and what can be changed in the programs, to see what it costs.

Each intervention leaves everything else as it is. What a difference loses by it is therefore its effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from wirelab.experiment.grid.scenario import Scenario
from wirelab.experiment.link.without import without_schedule, without_slots
from wirelab.schema import LinkSpec, NewConnection
from wirelab.schema.endpoint import SettingValue
from wirelab.schema.workload import Persistent, RequestResponse, RequestWorkload, Resumed, Telemetry


@dataclass(frozen=True)
class Cause:
    """Something that a link does to packets, and the same link without it."""

    name: str
    without: Callable[[LinkSpec], LinkSpec]

    def of(self, link: LinkSpec) -> bool:
        """Whether the link does it."""
        return self.without(link) != link


@dataclass(frozen=True)
class Change:
    """Another setting of a program, or another use of a connection: the scenario with it, or None if it is so already,
    or cannot be so.
    """

    name: str
    made: Callable[[Scenario], Scenario | None]


def _without_slots(*slots: str) -> Callable[[LinkSpec], LinkSpec]:
    return lambda link: without_slots(link, *slots)


def _without_part(name: str) -> Callable[[LinkSpec], LinkSpec]:
    return lambda link: link.model_copy(update={name: None})


CAUSES = (
    Cause("propagation", _without_slots("delay")),
    Cause("serialisation and queueing", _without_slots("rate")),
    Cause("lost packets", _without_slots("loss", "corrupt")),
    Cause("duplicates and reordering", _without_slots("duplicate", "reorder")),
    Cause("outages", _without_slots("outage")),
    Cause("the schedule", without_schedule),
    Cause("the shared medium", _without_part("medium")),
    Cause("the radio's sleep", _without_part("radio")),
    Cause("address translation", _without_part("nat")),
)
"""What a link can do. A rate and its queue are one: without the rate nothing waits. A schedule changes rate, delay and
loss with time, and is one by itself.
"""

LARGE_WINDOW = 16 * 2**20
"""Bytes: more than most exchanges have under way."""


def _set(levels: Mapping[str, SettingValue]) -> Callable[[Scenario], Scenario | None]:
    def made(scenario: Scenario) -> Scenario | None:
        new = {key: value for key, value in levels.items() if scenario.settings.get(key, value) != value}
        return replace(scenario, settings={**scenario.settings, **new}) if new else None

    return made


def _windows(scenario: Scenario) -> Scenario | None:
    workload = scenario.workload
    if not isinstance(workload, RequestWorkload) or max(workload.upload_bytes, *workload.downloads) < 2**16:
        return None
    return _set(dict.fromkeys(("initial-window-size", "stream-window", "connection-window"), LARGE_WINDOW))(scenario)


def _several(scenario: Scenario) -> RequestResponse | Telemetry | None:
    """Its workload if several exchanges have new connections: only then another policy makes a difference."""
    workload = scenario.workload
    if not isinstance(workload, RequestResponse | Telemetry) or not isinstance(workload.connection, NewConnection):
        return None
    return workload if workload.exchanges > 1 else None


def _resumed(scenario: Scenario) -> Scenario | None:
    workload = _several(scenario)
    if workload is None or scenario.settings.get("resumption") is not False:
        return None
    return replace(scenario, workload=workload.model_copy(update={"connection": Resumed()}))


def _persistent(scenario: Scenario) -> Scenario | None:
    if (workload := _several(scenario)) is None:
        return None
    kept = Persistent(connections=workload.concurrency)
    return replace(scenario, workload=workload.model_copy(update={"connection": kept}))


CHANGES = (
    Change("with TLS 1.3 instead of 1.2", _set({"tls": "1.3"})),
    Change("without Nagle's algorithm", _set({"nagle": False})),
    Change("with resumed sessions", _resumed),
    Change("with flow-control windows of 16 MiB", _windows),
    Change("with a persistent connection", _persistent),
)
"""What programs could do otherwise, each alone."""


def causes_of(scenarios: Sequence[Scenario]) -> tuple[Cause, ...]:
    """What the links of some scenarios do."""
    return tuple(cause for cause in CAUSES if any(cause.of(each.link) for each in scenarios))
