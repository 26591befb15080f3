"""The background traffic during each scenario's trials, by the payload that arrived."""

from __future__ import annotations

from wirelab.report.blocks import Block, Cell, Column, Group, Table, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import KILOBITS, Estimate
from wirelab.report.sections.common import SCENARIO_COLUMNS, by_choices, scenario_cells

COLUMNS = (*SCENARIO_COLUMNS, Column("mean [interval]", "kbit/s"), Column("trials"))


def background(campaign: Campaign) -> Group | None:
    """A row for each scenario with background traffic; None without any."""
    if not any(_met(scenario) for scenario in campaign.scenarios):
        return None

    def build(group: Choices, _prefix: str) -> list[Block]:
        rows = []
        for condition, scenario in group.pairs:
            met = _met(scenario)
            if met is not None:
                cells = (estimate(met, KILOBITS, "no trial's traffic reported"), Cell(f"{met.n:,}"))
                rows.append([*scenario_cells(condition, scenario), *cells])
        caption = (
            "Payload that background traffic delivered, of pings the replies, from before its first flow to the end of "
            "the trial. A protocol that sends less leaves it more"
        )
        return [Table(caption, COLUMNS, rows, row_headers=2)] if rows else []

    return Group("Background traffic that each protocol met", by_choices(campaign, build))


def _met(scenario: Scenario) -> Estimate | None:
    return None if scenario.estimates is None else Estimate.of(scenario.estimates.get("background_bps"))
