"""Phases of an exchange: what each contributes to its mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wirelab.report.blocks import Block, Cell, Column, Figure, Prose, Section, Table, dash, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.figures.bars import OWN_SCALE, Bar, bars
from wirelab.report.missing import not_drawn, why_missing, why_not_compared
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import MILLISECONDS, plain, with_unit
from wirelab.report.sections.common import (
    COMPLETED,
    SCENARIO_COLUMNS,
    charts_by_choices,
    completed_cell,
    parts_legend,
    scenario_cells,
)
from wirelab.stats.estimate.contribution import always, contribution

LEAST_SHARE = 0.005
"""Of a bar that a reader sees."""
WAIT = "phase-wait-for-start"
PHASES = {
    WAIT: "wait for the start",
    "phase-name-lookup": "name lookup",
    "phase-connect": "TCP connect",
    "phase-handshake": "TLS or QUIC handshake",
    "phase-wait": "wait for the response",
    "phase-transfer": "transfer",
}
SLOTS = {phase: slot for slot, phase in enumerate([*list(PHASES)[1:], WAIT])}
"""Their colours."""
UNSEEN = "the phase did not happen or was not seen"
PROXY = {"proxy-time": "at the proxy", "origin-time": "of this, waiting for the origin"}


def section(campaign: Campaign) -> Section | None:
    """Phases of every scenario; None if no phase was estimated."""
    if not any(scenario.metric(phase) for scenario in campaign.scenarios for phase in PHASES):
        return None

    note = (
        "A bar is the mean of completed exchanges. A phase contributes its mean times the share of exchanges in which "
        "it happened, so a handshake that opens a persistent connection counts once. After a bar stands the "
        "p95 of the delay. "
        f"Each link has its own scale. {OWN_SCALE} Phases of less than 0.5 % of every bar are in the table alone. A "
        "phase that did not happen is absent: plain TCP has no TLS handshake, QUIC no TCP connect."
    )
    if any(scenario.metric("proxy-time") for scenario in campaign.scenarios):
        note += " With a proxy, the wait includes its time with the request, and the origin's."
    shown = [phase for phase in PHASES if phase != WAIT or any(each.metric(WAIT) for each in campaign.scenarios)]
    plotted = [scenario for scenario in campaign.scenarios if scenario.compared(WAIT)]
    visible = [phase for phase in shown if any(_share(scenario, phase) >= LEAST_SHARE for scenario in plotted)]

    def build(group: Choices, prefix: str) -> list[Block]:
        return _blocks(campaign, group, prefix, shown)

    line = "What each phase contributes to the mean delay of completed exchanges."
    blocks = [parts_legend(_slots(visible)), *charts_by_choices(campaign, build), Prose(note)]
    return Section("phases", "Phases of an exchange", blocks, line)


def _share(scenario: Scenario, phase: str) -> float:
    """Of all its phases together."""
    parts = {each: _contribution(scenario, each) or 0.0 for each in PHASES}
    return parts[phase] / (sum(parts.values()) or 1.0)


def _contribution(scenario: Scenario, phase: str) -> float | None:
    """Seconds of a phase per completed exchange."""
    record, ends = scenario.metric(phase), scenario.outcomes
    return None if record is None or ends is None else contribution(record, ends["completed"])


def _slots(phases: Iterable[str]) -> dict[str, int]:
    """The parts of a bar, with their colours."""
    return {PHASES[phase]: SLOTS[phase] for phase in phases}


def _blocks(campaign: Campaign, group: Choices, prefix: str, phases: Sequence[str]) -> list[Block]:
    drawn, rows, tails, left_out = [], [], [], []
    for condition, scenario in group.pairs:
        seconds = [_contribution(scenario, phase) for phase in phases]
        parts = [None if value is None else value * MILLISECONDS.per_base for value in seconds]
        link = scenario.plan.link_name
        if scenario.compared(WAIT):
            drawn.append(Bar(condition.label, scenario.series.label, parts, link, _p95(scenario, campaign.metric)))
        else:
            left_out.append((scenario, why_not_compared(scenario)))
        if scenario.compared(WAIT) and not any(parts):
            left_out.append((scenario, why_missing(scenario, "phase-wait", UNSEEN)))
        head, whys = scenario_cells(condition, scenario), [why_missing(scenario, phase, UNSEEN) for phase in phases]
        pairs = list(zip(phases, whys, strict=True))
        rows.append([*head, *(_cell(scenario, phase, why) for phase, why in pairs), completed_cell(scenario)])
        tails.append([*head, *(_tail(scenario, phase, why) for phase, why in pairs), completed_cell(scenario)])
    slots = _slots(phases)
    means, p95s = (
        [*SCENARIO_COLUMNS, *(Column(f"{words}{interval}", "ms") for words in slots), COMPLETED]
        for interval in (" [interval]", "")
    )
    table = Table("Mean contribution of each phase to a completed exchange", means, rows, row_headers=2)
    tail = Table("The p95 of each phase, of the exchanges in which it happened", p95s, tails, row_headers=2)
    label = "Mean contribution of each phase in each scenario, as stacked bars"
    svg = bars(f"{prefix}-phases", label, drawn, slots, "ms")
    tables = [table, tail, *_proxy(group)]
    return [Figure("", label, not_drawn(left_out), svg, tables)] if svg else list(tables)


def _p95(scenario: Scenario, metric: str) -> str:
    """Words at the end of a bar."""
    value = scenario.estimate(metric, "0.95")
    if value is None or value.point is None or scenario.unit(metric) is not MILLISECONDS:
        return ""
    return f", p95 {plain(value.point * MILLISECONDS.per_base)}"


def _cell(scenario: Scenario, phase: str, why: str) -> Cell:
    """With the interval of the mean if the phase happened in every exchange; else with how often it did."""
    record, ends = scenario.metric(phase), scenario.outcomes
    mean, value = scenario.estimate(phase, "mean"), _contribution(scenario, phase)
    if record is None or ends is None or value is None or always(record, ends["completed"]):
        return estimate(mean, MILLISECONDS, why)
    title = f"in {record['n']:,} of {ends['completed']:,} exchanges; if it happened, {with_unit(mean, MILLISECONDS)}"
    return Cell(plain(value * MILLISECONDS.per_base), title=title, reason="it did not happen in every exchange")


def _tail(scenario: Scenario, phase: str, why: str) -> Cell:
    if scenario.metric(phase) is None:
        return dash(why)
    value = scenario.estimate(phase, "0.95")
    few = "fewer than 100 values"
    return dash(few) if value is None or value.point is None else Cell(plain(value.point * MILLISECONDS.per_base))


def _proxy(group: Choices) -> list[Table]:
    """The proxy's part of the wait; None without a proxy."""
    asked = [(condition, one) for condition, one in group.pairs if one.metric("proxy-time")]
    rows = []
    for condition, scenario in asked:
        medians = [scenario.estimate(metric, "median") for metric in PROXY]
        cells = [estimate(m, MILLISECONDS, "was not seen") for m in medians]
        rows.append([*scenario_cells(condition, scenario), *cells, completed_cell(scenario)])
    columns = [*SCENARIO_COLUMNS, *(Column(f"{words} [interval]", "ms") for words in PROXY.values()), COMPLETED]
    return [Table("Median time of a request at the proxy", columns, rows, row_headers=2)] if rows else []
