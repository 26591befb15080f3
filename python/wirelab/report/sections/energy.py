"""The energy of a message and of a day by states of the client's radio and processor, and the battery life."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wirelab.metrics.energy_names import DAY, INTERVAL, MESSAGE, RADIO, SETUP
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
    charts_by_choices,
    completed_cell,
    parts_legend,
    scenario_cells,
)
from wirelab.schema.bounds import Bounds
from wirelab.schema.estimates import (
    EnergyModel,
    EnergyOfScenario,
    EnergyParts,
    LinkRadioRecord,
    StateEnergy,
)
from wirelab.stats.energy import labelled
from wirelab.units import format_duration, with_bounds

States = Literal["states", "day_states"]
SLOTS = (3, 1, 2, 4)
"""Colours of the states with the most energy."""
REST, REST_SLOT = "other states", 0
NO_PACKETS = "no completed exchange with known packets"
NO_CPU_TIME = "the client's CPU time, or its idle cost, is not known"
NO_SETUP = "no connection was opened apart from a message"
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
    model = campaign.estimates.get("energy")
    if model is None or not any(_energy(scenario) for scenario in campaign.scenarios):
        return None
    measured = model["measured_on_device"]
    plotted = [each for each in campaign.scenarios if each.plotted and not (measured and _lacks_processor(each))]
    what = "radio and processor" if measured else "the radio"
    message = _Protocol.of("states", MILLIJOULES, plotted, measured=measured)
    day = _Protocol.of("day_states", JOULES, plotted, measured=measured)

    def of_message(group: Choices, prefix: str) -> list[Block]:
        table = _table(group, model)
        label = f"Mean energy of an exchange by itself, by states of {what}, as stacked bars"
        figure = message.figure(group, f"{prefix}-energy", label, [table])
        parts = _parts(group)
        more = [Group("A trial by what for", [parts])] if parts.rows else []
        return [figure or table, Group("State by state", [_states(group, what)]), *more]

    def of_day(group: Choices, prefix: str) -> list[Block]:
        label = f"Mean energy of a day by states of {what}, as stacked bars"
        figure = day.figure(group, f"{prefix}-energy-day", label, [])
        return [] if figure is None else [figure]

    days = (
        [Prose("A day of messages:"), parts_legend(day.slots), *charts_by_choices(campaign, of_day)]
        if day.slots
        else []
    )
    key = [parts_legend(message.slots)] if message.slots else []
    blocks = [
        Prose(_about(model, campaign)), *key, *charts_by_choices(campaign, of_message), *days,
        Items(list(model["notes"])), _sources(model),
    ]  # fmt: skip
    line = f"Energy by states of {what}, modelled from the measured packets with typical constants."
    return Section("energy", _title(model), blocks, line)


def _title(model: EnergyModel) -> str:
    title = "Energy of the client's radio"
    if not all(each["radio"]["validated"] for each in model["radios"]):
        title += " (unvalidated)"
    devices = [each["device"] for each in model["radios"] if each["device"] is not None]
    if model["measured_on_device"] and devices:
        title += " and processor"
        title += " (unvalidated)" * (not all(each["validated"] for each in devices))
    return title


def _about(model: EnergyModel, campaign: Campaign) -> str:
    intervals = sorted({each["interval_s"] for each in map(_energy, campaign.scenarios) if each and each["interval_s"]})
    listed = " or ".join(format_duration(seconds * 1e9) for seconds in intervals)
    day = f" A day has a message every {listed}." if listed else ""
    work = " and of the client's CPU time" if model["measured_on_device"] else ""
    radios = " ".join(_radio_words(model, each) for each in model["radios"])
    return (
        f"Modelled from the measured packets{work}: {radios} "
        "An exchange by itself counts from an idle radio to the end of the tail after its packets. A message with its "
        "interval counts from when it was due to when the next one was, whatever its outcome; opening a persistent "
        f"connection counts apart.{day} "
        "The interval in brackets is over trials, with the model's typical constants. The range has all constants at "
        "their minimum and all at their maximum. Scenarios on one link share these constants, so two may differ "
        "although their ranges overlap. " + OWN_SCALE
    )


def _radio_words(model: EnergyModel, of_links: LinkRadioRecord) -> str:
    """A radio with its inputs and its device, and its links if others have another."""
    named, device = of_links["radio"], of_links["device"]
    inputs = ", ".join(f"{name} {value}" for name, value in named["inputs"].items())
    given = f" With {inputs}." if inputs else ""
    does = "computes and sleeps" if model["measured_on_device"] else "sleeps"
    around = "" if device is None else f" The device around it, which {does}: {labelled(device['title'], device)}."
    links = f" on {', '.join(of_links['links'])}" * (len(model["radios"]) > 1)
    return f"{named['title']} ({named['name']}){links}.{given}{around}"


def _table(group: Choices, model: EnergyModel) -> Table:
    rows = [[*scenario_cells(condition, scenario), *_cells(scenario, model)] for condition, scenario in group.pairs]
    processor = [Column("with the processor: mean [interval]", "mJ"), Column("range", "mJ")]
    columns = [
        *SCENARIO_COLUMNS, Column("an exchange by itself: mean [interval]", "mJ"), Column("range", "mJ"),
        *(processor if model["measured_on_device"] else []),
        Column("a message with its interval: mean [interval]", "mJ"), Column("range", "mJ"),
        Column("a set-up: mean [interval]", "mJ"), Column("set-ups"),
        Column("a day: mean [interval]", "J"), Column("range", "J"), Column("battery [range]", "days"),
        Column("exchanges"), Column("trials"),
        *([Column("exchanges with CPU time")] if model["measured_on_device"] else []),
        COMPLETED,
    ]  # fmt: skip
    return Table("Energy of a message and of a day, and battery life", columns, rows, row_headers=2)


def _cells(scenario: Scenario, model: EnergyModel) -> list[Cell]:
    energy = _energy(scenario)
    measured = model["measured_on_device"]
    if energy is None:
        return [*(dash(NO_PACKETS) for _ in range(14 if measured else 11)), completed_cell(scenario)]
    no_processor = NO_CPU_TIME if measured and _lacks_processor(scenario) else NO_PACKETS
    no_day = energy["no_day"] or no_processor
    no_battery = "no battery is given" if model["battery"] is None else no_day
    no_interval = energy["no_day"] or NO_PACKETS
    life, counted = energy["battery_days"], energy["with_cpu_time"]
    with_processor = [
        estimate(scenario.estimate(MESSAGE, "mean"), MILLIJOULES, no_processor),
        _range(energy["message_j"], MILLIJOULES, no_processor),
    ]
    return [
        estimate(scenario.estimate(RADIO, "mean"), MILLIJOULES, NO_PACKETS),
        _range(energy["radio_j"], MILLIJOULES, NO_PACKETS),
        *(with_processor if measured else []),
        estimate(scenario.estimate(INTERVAL, "mean"), MILLIJOULES, no_interval),
        _range(energy["interval_j"], MILLIJOULES, no_interval),
        estimate(scenario.estimate(SETUP, "mean"), MILLIJOULES, NO_SETUP),
        number(energy["setups"] or None, 0, NO_SETUP),
        estimate(scenario.estimate(DAY, "mean"), JOULES, no_day),
        _range(energy["day_j"], JOULES, no_day),
        dash(no_battery) if life is None else Cell(_life(life), title=_years(life)),
        *(number(count, 0, NO_PACKETS) for count in (energy["exchanges"], energy["trials"])),
        *([number(None if counted is None else counted["exchanges"], 0, NO_PACKETS)] if measured else []),
        completed_cell(scenario),
    ]


def _parts(group: Choices) -> Table:
    """What the radio took in a trial, and for what."""
    rows = [
        [
            *scenario_cells(condition, scenario),
            *(Cell(plain(of["typical"] * MILLIJOULES.per_base)) for of in _shares(energy["parts"])),
            _range(energy["parts"]["trial_j"], MILLIJOULES, NO_PACKETS),
            completed_cell(scenario),
        ]
        for condition, scenario in group.pairs
        for energy in [_energy(scenario)]
        if energy is not None and energy["parts"] is not None
    ]
    columns = [
        *SCENARIO_COLUMNS, Column("set-ups", "mJ"), Column("messages", "mJ"), Column("closing", "mJ"),
        Column("together", "mJ"), Column("range", "mJ"), COMPLETED,
    ]  # fmt: skip
    return Table("Energy of a trial by what for: means", columns, rows, row_headers=2)


def _shares(parts: EnergyParts) -> tuple[Bounds, ...]:
    return parts["setup_j"], parts["messages_j"], parts["closing_j"], parts["trial_j"]


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
    return Table(f"An exchange by itself, by states of {what}: means", columns, rows, row_headers=3)


def _sources(model: EnergyModel) -> Group:
    terms = [
        (f"{part['name']}: {each['constant']} = {each['value']}", each["source"] or "no source")
        for of_links in model["radios"]
        for part in (of_links["radio"], of_links["device"])
        if part
        for each in part["sources"]
    ]
    return Group("Sources of the model's constants", [Definitions(list(dict.fromkeys(terms)))])


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
