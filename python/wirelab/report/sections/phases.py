"""Median phases of an exchange."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wirelab.report.blocks import Block, Column, Figure, Prose, Section, Table, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.figures.bars import OWN_SCALE, Bar, bars
from wirelab.report.missing import not_drawn, why_missing, why_not_compared
from wirelab.report.model import Group as Choices
from wirelab.report.numbers import MILLISECONDS
from wirelab.report.sections.common import (
    COMPLETED,
    SCENARIO_COLUMNS,
    by_choices,
    completed_cell,
    parts_legend,
    scenario_cells,
)

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
        "Medians of each phase over completed exchanges, side by side. The sum of medians is not the median of sums, "
        f"so a bar's length is not the median delay. Each link has its own scale. {OWN_SCALE} A phase that did not "
        "happen is absent: plain TCP has no TLS handshake, QUIC no TCP connect."
    )
    if any(scenario.metric("proxy-time") for scenario in campaign.scenarios):
        note += " With a proxy, the wait includes its time with the request, and the origin's."
    shown = [phase for phase in PHASES if phase != WAIT or any(each.metric(WAIT) for each in campaign.scenarios)]

    def build(group: Choices, prefix: str) -> list[Block]:
        return _blocks(group, prefix, shown)

    blocks = by_choices(campaign, build)
    return Section("phases", "Phases of an exchange", [Prose(note), parts_legend(_slots(shown)), *blocks])


def _slots(phases: Iterable[str]) -> dict[str, int]:
    """The parts of a bar, with their colours."""
    return {PHASES[phase]: SLOTS[phase] for phase in phases}


def _blocks(group: Choices, prefix: str, phases: Sequence[str]) -> list[Block]:
    drawn, rows, left_out = [], [], []
    for condition, scenario in group.pairs:
        medians = [scenario.estimate(phase, "median") for phase in phases]
        parts = [m.point * 1e3 if m is not None and m.point is not None else None for m in medians]
        link = scenario.plan.link_name
        if scenario.compared(WAIT):
            drawn.append(Bar(condition.label, scenario.series.label, parts, link))
        else:
            left_out.append((scenario, why_not_compared(scenario)))
        if scenario.compared(WAIT) and not any(parts):
            left_out.append((scenario, why_missing(scenario, "phase-wait", UNSEEN)))
        cells = [
            estimate(m, MILLISECONDS, why_missing(scenario, phase, UNSEEN))
            for phase, m in zip(phases, medians, strict=True)
        ]
        rows.append([*scenario_cells(condition, scenario), *cells, completed_cell(scenario)])
    slots = _slots(phases)
    columns = [*SCENARIO_COLUMNS, *(Column(f"{words} [interval]", "ms") for words in slots), COMPLETED]
    table = Table("Median of each phase", columns, rows, row_headers=2)
    label = "Median phases of each scenario as stacked bars"
    svg = bars(f"{prefix}-phases", label, drawn, slots, "ms")
    tables = [table, *_proxy(group)]
    return [Figure("", label, not_drawn(left_out), svg, tables)] if svg else list(tables)


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
