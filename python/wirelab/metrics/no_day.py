"""Why a scenario has no energy of a day, and so no battery life. Computes no energy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wirelab.schema import Bursts, Poisson
from wirelab.schema.plan import Scenario

BACK_TO_BACK = "exchanges ran back to back: no message has a gap behind it"
ONE_MESSAGE = "one message a trial has no mean gap"
SHARED_RADIO = "clients share one radio stage of the link"
OVERLOADED = "the load was more than was served"
ATYPICAL = "each message opened a connection, or found the radio unlike the message before it: run more in a trial"


def why_no_day(scenario: Scenario) -> str | None:
    """The reason that the plan shows; None without one."""
    return next((why for check in _CHECKS if (why := check(scenario)) is not None), None)


def _back_to_back(scenario: Scenario) -> str | None:
    return BACK_TO_BACK if scenario.workload.gap_ns is None else None


def _one_message(scenario: Scenario) -> str | None:
    """Of arrivals whose gaps differ."""
    differ = isinstance(getattr(scenario.workload, "arrival", None), Poisson | Bursts)
    return ONE_MESSAGE if differ and scenario.workload.rows == _clients(scenario) else None


def _shared_radio(scenario: Scenario) -> str | None:
    return SHARED_RADIO if scenario.link.radio is not None and _clients(scenario) > 1 else None


def _clients(scenario: Scenario) -> int:
    workload = scenario.workload
    return int(getattr(workload, "clients", getattr(workload, "subscribers", 1)))


_CHECKS: Sequence[Callable[[Scenario], str | None]] = (_back_to_back, _one_message, _shared_radio)
