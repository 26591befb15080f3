"""Bytes and packets of an exchange on the wire each way, retransmissions and losses."""

from __future__ import annotations

from wirelab.report.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Prose,
    Section,
    Table,
    dash,
    estimate,
)
from wirelab.report.campaign import Campaign
from wirelab.report.figures.bars import OWN_SCALE, Bar, bars
from wirelab.report.missing import NOT_IN_FORCE, not_drawn, why_missing
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import BYTES, COUNT
from wirelab.report.sections.common import (
    COMPLETED,
    SCENARIO_COLUMNS,
    charts_by_choices,
    completed_cell,
    parts_legend,
    scenario_cells,
)

DIRECTIONS = {"wire-up-bytes": "client to server", "wire-down-bytes": "server to client"}
PARTS = {"client to server": 3, "server to client": 1}
COLUMNS = {
    "wire-up-bytes": Column("up: mean [interval]", "B"),
    "wire-down-bytes": Column("down: mean [interval]", "B"),
    "wire-up-packets": Column("up: mean [interval]", "packets"),
    "wire-down-packets": Column("down: mean [interval]", "packets"),
    "round-trips": Column("round trips: mean [interval]"),
    "retransmissions": Column("retransmitted: mean [interval]", "packets"),
    "spurious-retransmissions": Column("spurious: mean [interval]", "packets"),
    "lost-packets": Column("lost on the link: mean [interval]", "packets"),
}


def section(campaign: Campaign) -> Section | None:
    """Bytes, packets and retransmissions of every scenario; None if none was estimated."""
    if not any(scenario.metric(metric) for scenario in campaign.scenarios for metric in COLUMNS):
        return None
    note = (
        "IP bytes and packets per exchange that reached the link, including connection set-up and end, "
        "acknowledgements, retransmissions and packets that the link then dropped. A packet is half a round "
        "trip if it set out once the one before had arrived from the other side. TCP's retransmissions are segments "
        "that the link had seen before; QUIC's are packets that the client declared lost. Spurious retransmissions: "
        "data retransmitted although it had arrived (TCP and CoAP's confirmable messages only). " + OWN_SCALE
    )
    line = "Mean IP bytes of one exchange on the link, each way."
    return Section(
        "wire", "On the wire", [Prose(note), parts_legend(PARTS), *charts_by_choices(campaign, _blocks)], line
    )


def _blocks(group: Choices, prefix: str) -> list[Block]:
    drawn, rows, left_out = [], [], []
    for condition, scenario in group.pairs:
        means = [scenario.estimate(metric, "mean") for metric in DIRECTIONS]
        parts = [None if mean is None else mean.point for mean in means]
        if not scenario.plotted:
            left_out.append((scenario, NOT_IN_FORCE))
        elif any(parts):
            drawn.append(Bar(condition.label, scenario.series.label, parts))
        else:
            left_out.append((scenario, why_missing(scenario, "wire-up-bytes")))
        rows.append(
            [
                *scenario_cells(condition, scenario),
                *(_cell(scenario, metric) for metric in COLUMNS),
                completed_cell(scenario),
            ]
        )
    table = Table(
        "Bytes and packets of one exchange on the wire",
        [*SCENARIO_COLUMNS, *COLUMNS.values(), COMPLETED],
        rows,
        row_headers=2,
    )
    label = "Mean bytes of one exchange each way as stacked bars"
    svg = bars(f"{prefix}-wire", label, drawn, PARTS, "bytes")
    return [Figure("", label, not_drawn(left_out), svg, [table])] if svg else [table]


def _cell(scenario: Scenario, metric: str) -> Cell:
    if not scenario.metric(metric):
        return dash(why_missing(scenario, metric))
    return estimate(scenario.estimate(metric, "mean"), BYTES if metric.endswith("bytes") else COUNT)
