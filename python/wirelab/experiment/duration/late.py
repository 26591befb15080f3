"""Exchanges that are expected to take longer than their time-out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.experiment.duration.exchange import exchange_parts

if TYPE_CHECKING:
    from wirelab.experiment.experiment import Experiment


def late_exchanges(experiment: Experiment) -> dict[int, dict[str, int]]:
    """By time-out, the scenarios whose exchanges take longer, with how long each is expected to take (ns)."""
    found: dict[int, dict[str, int]] = {}
    for scenario in experiment.scenarios:
        protocol = experiment.known.protocol(scenario.protocol)
        if protocol is not None:
            takes_ns, timeout_ns = exchange_parts(scenario, protocol).patient_ns, scenario.workload.timeout_ns
            if takes_ns > timeout_ns:
                found.setdefault(timeout_ns, {})[scenario.name] = takes_ns
    return found
