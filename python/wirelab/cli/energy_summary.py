"""The energies of a campaign for the terminal. Every number is looked up in its estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from wirelab.cli.text import columns
from wirelab.report.numbers import DASH, ended, plain
from wirelab.stats.energy import modelled, without_day
from wirelab.units import format_energy, with_bounds

if TYPE_CHECKING:
    from wirelab.report.campaign import Campaign
    from wirelab.report.model import Scenario
    from wirelab.schema.bounds import Bounds
    from wirelab.schema.estimates import EnergyOfScenario

MOST_ROWS = 48


def energy_lines(campaign: Campaign) -> Iterator[str]:
    """A table of messages with their intervals, the model, and why there is no day's energy; none without a radio."""
    model = campaign.estimates.get("energy")
    if model is None:
        return
    yield from energy_table(campaign)
    yield from modelled(model)
    yield from without_day(model, campaign.plan.scenarios)


def energy_table(campaign: Campaign) -> Iterator[str]:
    """A row for each scenario whose messages have a time between them: link by link, the least energy first, and those
    with messages that did not complete last.
    """
    links = list(dict.fromkeys(scenario.plan.link_name for scenario in campaign.scenarios))
    known = [
        (links.index(scenario.plan.link_name), scenario.complete, interval_j["typical"], scenario, energy)
        for scenario in campaign.scenarios
        if scenario.estimates is not None
        and (energy := scenario.estimates.get("energy")) is not None
        and (interval_j := energy["interval_j"]) is not None
    ]
    if not known:
        return
    known.sort(key=lambda each: (each[0], not each[1], each[2]))
    head = ("energy [range]", "a message with its interval", "a day", "battery", "completed / attempted")
    rows = [_row(scenario, energy) for *_, scenario, energy in known[:MOST_ROWS]]
    yield columns([head, *rows], right=(1, 2, 3, 4))
    if (more := len(known) - MOST_ROWS) > 0:
        yield f"{more} more scenario{'s are' if more > 1 else ' is'} in the report."


def _row(scenario: Scenario, energy: EnergyOfScenario) -> tuple[str, ...]:
    life, ends = energy["battery_days"], scenario.outcomes
    days = DASH if life is None else f"{_bounds(life, plain)} days"
    completed = DASH if ends is None else ended(ends)
    return scenario.name, _joules(energy["interval_j"]), _joules(energy["day_j"]), days, completed


def _joules(joules: Bounds | None) -> str:
    return DASH if joules is None else _bounds(joules, format_energy)


def _bounds(value: Bounds, words: Callable[[float], str]) -> str:
    return with_bounds(words(value["typical"]), words(value["low"]), words(value["high"]))
