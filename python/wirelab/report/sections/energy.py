"""The energy of a message and of a day by states of the client's radio and processor, and the battery life."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wirelab.report.blocks import (
    Block,
    Cell,
    Column,
    Definitions,
    Figure,
    Group,
    Items,
    Prose,
    Section,
    Table,
    dash,
    estimate,
    number,
)
from wirelab.report.campaign import Campaign
from wirelab.report.figures.bars import OWN_SCALE, Bar, bars
from wirelab.report.missing import NO_TRIAL, NOT_IN_FORCE, not_drawn
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import JOULES, MILLIJOULES, Unit, decimals, plain
from wirelab.report.sections.common import (
    COMPLETED,
    SCENARIO_COLUMNS,
    by_choices,
    completed_cell,
    parts_legend,
    scenario_cells,
)
from wirelab.schema.estimates import Bounds, EnergyModel, EnergyOfScenario, StateEnergy
from wirelab.stats.energy import labelled
from wirelab.units import format_duration, with_bounds

States = Literal["states", "day_states"]
RADIO, MESSAGE, DAY = "radio-energy", "message-energy", "day-energy"
SLOTS = (3, 1, 2, 4)
"""Colours of the states with the most energy."""
REST, REST_SLOT = "other states", 0
NO_PACKETS = "no completed exchange with known packets"
NO_CPU_TIME = "the client's CPU time, or its idle cost, is not known"
_YEAR_DAYS = 365.25


@dataclass(frozen=True)
class _Protocol:
    """The parts of the bars of one chart: the key of an energy's states, their unit, and each one's colour."""

    key: States
    unit: Unit
    slots: dict[str, int]
    measured: bool
    """Whether bars include the processor; then a bar without it is not drawn."""

    @classmethod
    def of(cls, key: States, unit: Unit, scenarios: Sequence[Scenario], *, measured: bool) -> _Protocol:
        """The states with the most energy over all scenarios, in their order, and one for the others."""
        total: dict[str, float] = {}
        for scenario in scenarios:
            for state, joules in _states_of(scenario, key).items():
                total[state] = total.get(state, 0.0) + joules
        ranked = sorted(total, key=lambda state: -total[state])[: len(SLOTS)]
        slots = dict(zip((state for state in total if state in ranked), SLOTS, strict=False))
        return cls(key, unit, slots if len(slots) == len(total) else {**slots, REST: REST_SLOT}, measured)

    def parts(self, scenario: Scenario) -> list[float | None]:
        """Of one bar."""
        states = _states_of(scenario, self.key)
        taken = {state: joules * self.unit.per_base for state, joules in states.items()}
        rest = sum(value for state, value in taken.items() if state not in self.slots)
        return [taken.get(state) if state != REST else rest for state in self.slots]

    def figure(self, group: Choices, name: str, label: str, tables: Sequence[Table]) -> Figure | None:
        """Bars of each scenario; None if there are none."""
        drawn, left_out = [], []
        for condition, scenario in group.pairs:
            parts = self.parts(scenario)
            if not scenario.plotted:
                left_out.append((scenario, NOT_IN_FORCE))
            elif self.measured and _lacks_processor(scenario):
                left_out.append((scenario, NO_CPU_TIME))
            elif any(parts):
                drawn.append(Bar(condition.label, scenario.series.label, parts))
            else:
                left_out.append((scenario, NO_TRIAL if scenario.estimates is None else NO_PACKETS))
        svg = bars(name, label, drawn, self.slots, self.unit.symbol)
        caption = " ".join(filter(None, ["Typical constants.", not_drawn(left_out)]))
        return None if svg is None else Figure("", label, caption, svg, tables, open=True)


def section(campaign: Campaign) -> Section | None:
    """A row for each scenario; None without a radio."""
    radio = campaign.estimates.get("energy")
    if radio is None or not any(_energy(scenario) for scenario in campaign.scenarios):
        return None
    measured = radio["measured_on_device"]
    plotted = [each for each in campaign.scenarios if each.plotted and not (measured and _lacks_processor(each))]
    what = "radio and processor" if measured else "the radio"
    message = _Protocol.of("states", MILLIJOULES, plotted, measured=measured)
    day = _Protocol.of("day_states", JOULES, plotted, measured=measured)

    def of_message(group: Choices, prefix: str) -> list[Block]:
        table = _table(group, radio)
        label = f"Mean energy of a message by states of {what}, as stacked bars"
        figure = message.figure(group, f"{prefix}-energy", label, [table])
        return [figure or table, Group("State by state", [_states(group, what)])]

    def of_day(group: Choices, prefix: str) -> list[Block]:
        label = f"Mean energy of a day by states of {what}, as stacked bars"
        figure = day.figure(group, f"{prefix}-energy-day", label, [])
        return [] if figure is None else [figure]

    days = [Prose("A day of messages:"), parts_legend(day.slots), *by_choices(campaign, of_day)] if day.slots else []
    key = [parts_legend(message.slots)] if message.slots else []
    blocks = [
        Prose(_about(radio)), *key, *by_choices(campaign, of_message), *days,
        Items(list(radio["notes"])), _sources(radio),
    ]  # fmt: skip
    title = labelled("Energy of the client's radio", radio["radio"])
    if measured and radio["device"] is not None:
        title += labelled(" and processor", radio["device"])
    return Section("energy", title, blocks)


def _about(radio: EnergyModel) -> str:
    every = radio["interval_s"]
    day = "" if every is None else f" A day has one every {format_duration(every * 1e9)}."
    inputs = ", ".join(f"{name} {value}" for name, value in radio["radio"]["inputs"].items())
    given = f" With {inputs}." if inputs else ""
    device = radio["device"]
    does = "computes and sleeps" if radio["measured_on_device"] else "sleeps"
    around = "" if device is None else f" The device around it, which {does}: {labelled(device['title'], device)}."
    named = radio["radio"]
    work = " and of the client's CPU time" if radio["measured_on_device"] else ""
    return (
        f"Modelled from the measured packets{work}: {named['title']} ({named['name']}).{given}{around} "
        f"The energy of an exchange counts from an idle radio to the end of the tail after its packets.{day} "
        "The interval is over trials, with the model's typical constants. The range has all constants at their minimum "
        "and all at their maximum. Scenarios share these constants, so two may differ although their ranges overlap. "
        + OWN_SCALE
    )


def _table(group: Choices, radio: EnergyModel) -> Table:
    rows = [[*scenario_cells(condition, scenario), *_cells(scenario, radio)] for condition, scenario in group.pairs]
    processor = [Column("with the processor: mean [interval]", "mJ"), Column("range", "mJ")]
    columns = [
        *SCENARIO_COLUMNS, Column("a message: mean [interval]", "mJ"), Column("range", "mJ"),
        *(processor if radio["measured_on_device"] else []),
        Column("a day: mean [interval]", "J"), Column("range", "J"), Column("battery [range]", "days"),
        Column("exchanges"), Column("trials"),
        *([Column("exchanges with CPU time")] if radio["measured_on_device"] else []),
        COMPLETED,
    ]  # fmt: skip
    return Table("Energy of a message and of a day, and battery life", columns, rows, row_headers=2)


def _cells(scenario: Scenario, radio: EnergyModel) -> list[Cell]:
    energy = _energy(scenario)
    measured = radio["measured_on_device"]
    no_processor = NO_CPU_TIME if measured and _lacks_processor(scenario) else NO_PACKETS
    no_day = "no interval between messages is given" if radio["interval_s"] is None else no_processor
    no_battery = "no battery is given" if radio["battery"] is None else no_day
    if energy is None:
        return [*(dash(NO_PACKETS) for _ in range(10 if measured else 7)), completed_cell(scenario)]
    life, counted = energy["battery_days"], energy["with_cpu_time"]
    with_processor = [
        estimate(scenario.estimate(MESSAGE, "mean"), MILLIJOULES, no_processor),
        _range(energy["message_j"], MILLIJOULES, no_processor),
    ]
    return [
        estimate(scenario.estimate(RADIO, "mean"), MILLIJOULES, NO_PACKETS),
        _range(energy["radio_j"], MILLIJOULES, NO_PACKETS),
        *(with_processor if measured else []),
        estimate(scenario.estimate(DAY, "mean"), JOULES, no_day),
        _range(energy["day_j"], JOULES, no_day),
        dash(no_battery) if life is None else Cell(_life(life), title=_years(life)),
        *(number(count, 0, NO_PACKETS) for count in (energy["exchanges"], energy["trials"])),
        *([number(None if counted is None else counted["exchanges"], 0, NO_PACKETS)] if measured else []),
        completed_cell(scenario),
    ]


def _states(group: Choices, what: str) -> Table:
    rows = [
        [
            *scenario_cells(condition, scenario),
            Cell(state),
            Cell(plain(share["seconds"] * 1e3)),
            Cell(plain(share["typical"] * MILLIJOULES.per_base)),
            _range(share, MILLIJOULES, NO_PACKETS),
            completed_cell(scenario),
        ]
        for condition, scenario in group.pairs
        for energy in [_energy(scenario)]
        if energy is not None
        for state, share in energy["states"].items()
    ]
    columns = [
        *SCENARIO_COLUMNS, Column("state", numeric=False), Column("time", "ms"), Column("energy", "mJ"),
        Column("range", "mJ"), COMPLETED,
    ]  # fmt: skip
    return Table(f"A message by states of {what}: means", columns, rows, row_headers=3)


def _sources(radio: EnergyModel) -> Group:
    terms = [
        (f"{part['name']}: {each['constant']} = {each['value']}", each["source"] or "no source")
        for part in (radio["radio"], radio["device"])
        if part
        for each in part["sources"]
    ]
    return Group("Sources of the model's constants", [Definitions(terms)])


def _energy(scenario: Scenario) -> EnergyOfScenario | None:
    return None if scenario.estimates is None else scenario.estimates.get("energy")


def _states_of(scenario: Scenario, key: States) -> dict[str, float]:
    """Typical joules of each state, of a message or of a day; empty if not known."""
    energy = _energy(scenario)
    if energy is None:
        return {}
    if key == "states":
        return {state: share["typical"] for state, share in energy["states"].items()}
    return {state: share["typical"] for state, share in (energy["day_states"] or {}).items()}


def _lacks_processor(scenario: Scenario) -> bool:
    """Whether only the radio's energy is known."""
    energy = _energy(scenario)
    return energy is not None and energy["message_j"] is None


def _range(bounds: Bounds | StateEnergy | None, unit: Unit, reason: str) -> Cell:
    if bounds is None:
        return dash(reason)
    low, typical, high = (bound * unit.per_base for bound in (bounds["low"], bounds["typical"], bounds["high"]))
    places = max(decimals(low), decimals(high))
    least, most = plain(low, places), plain(high, places)
    if least == most:
        return Cell(plain(typical), title="the model gives no range")
    return Cell(f"{least} to {most}", title=f"typically {plain(typical)}")


def _life(days: Bounds) -> str:
    return with_bounds(*(plain(bound) for bound in (days["typical"], days["low"], days["high"])))


def _years(days: Bounds) -> str:
    return f"typically {plain(days['typical'] / _YEAR_DAYS)} years, self-discharge left out"
