"""Why a scenario has no energy of a day, and so no battery life. Computes no energy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wirelab.schema import Bursts, Description, Poisson
from wirelab.schema.plan import Scenario
from wirelab.schema.timers import not_covered
from wirelab.units import format_duration

BACK_TO_BACK = "exchanges ran back to back: no message has a gap behind it"
ONE_MESSAGE = "one message a trial has no mean gap"
SHARED_RADIO = "clients share one radio stage of the link"
OVERLOADED = "the load was more than was served"
ATYPICAL = "each message opened a connection, or found the radio unlike the message before it: run more in a trial"


def why_no_day(scenario: Scenario, known: Description) -> str | None:
    """The reason that the plan shows; None without one. `known` are the protocols of the plan."""
    return next((why for check in _CHECKS if (why := check(scenario, known)) is not None), None)


def _back_to_back(scenario: Scenario, _known: Description) -> str | None:
    return BACK_TO_BACK if scenario.workload.gap_ns is None else None


def _one_message(scenario: Scenario, _known: Description) -> str | None:
    """Of arrivals whose gaps differ."""
    differ = isinstance(getattr(scenario.workload, "arrival", None), Poisson | Bursts)
    return ONE_MESSAGE if differ and scenario.workload.rows == _clients(scenario) else None


def _shared_radio(scenario: Scenario, _known: Description) -> str | None:
    return SHARED_RADIO if scenario.link.radio is not None and _clients(scenario) > 1 else None


def _timers_that_did_not_run(scenario: Scenario, known: Description) -> str | None:
    """What an idle start leaves out would send packets, or make the next message open a connection."""
    protocol, gap_ns = known.protocol(scenario.protocol), scenario.workload.gap_ns
    if protocol is None or gap_ns is None:
        return None
    missed = not_covered(protocol, scenario.settings, scenario.workload)
    if not missed:
        return None
    timers = ", ".join(f"{each.name} of {format_duration(each.length_ns)}" for each in missed)
    are = "are" if len(missed) > 1 else "is"
    return (
        f"{timers} {are} shorter than the interval of {format_duration(gap_ns)}, and an idle start does not carry "
        f'{"them" if len(missed) > 1 else "it"} out: use --clock virtual with arrival = "periodic"'
    )


def _clients(scenario: Scenario) -> int:
    workload = scenario.workload
    return int(getattr(workload, "clients", getattr(workload, "subscribers", 1)))


_CHECKS: Sequence[Callable[[Scenario, Description], str | None]] = (
    _back_to_back, _one_message, _shared_radio, _timers_that_did_not_run,
)  # fmt: skip
