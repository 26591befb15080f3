"""What an idle start leaves out: the link rests through the gaps between messages, and the endpoints do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from wirelab.experiment.library import BUILTIN
from wirelab.schema import IdleStart, NewConnection, RequestWorkload, timers
from wirelab.schema.timers import Silence

if TYPE_CHECKING:
    from wirelab.experiment.experiment import Experiment


class NotCovered(NamedTuple):
    """Timers of protocols that run out in a gap."""

    gap_ns: int
    silences: tuple[tuple[str, Silence], ...]
    """Each with its protocol."""


def not_covered(experiment: Experiment) -> list[NotCovered]:
    """Of each gap in the experiment."""
    found: dict[int, dict[tuple[str, Silence], None]] = {}
    for scenario in experiment.scenarios:
        workload, protocol = scenario.workload, experiment.known.protocol(scenario.protocol)
        if protocol is None or not isinstance(workload, RequestWorkload):
            continue
        for each in timers.not_covered(protocol, scenario.settings, workload):
            found.setdefault(round(workload.gap_ns or 0), {})[protocol.name, each] = None
    return [NotCovered(gap_ns, tuple(missed)) for gap_ns, missed in found.items()]


def unknown_servers(experiment: Experiment) -> list[str]:
    """Third-party servers whose own time-outs may run out in a gap."""
    return list(
        dict.fromkeys(
            scenario.implementation["server"]
            for scenario in experiment.scenarios
            if scenario.implementation["server"] != BUILTIN
            and isinstance(scenario.workload, RequestWorkload)
            and isinstance(scenario.workload.arrival, IdleStart)
            and not isinstance(scenario.workload.connection, NewConnection)
        )
    )
