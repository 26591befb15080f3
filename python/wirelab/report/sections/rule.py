"""The publication's outlier rule next to the unfiltered numbers, with the removed values."""

from __future__ import annotations

from dataclasses import replace

from wirelab.report.blocks import Block, Cell, Column, Group, Prose, Section, Table, dash, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.missing import why_missing
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import MILLISECONDS, Estimate, share
from wirelab.report.published import removed_outliers
from wirelab.report.sections.common import (
    COMPLETED,
    SCENARIO_COLUMNS,
    by_choices,
    completed_cell,
    metric_words,
    scenario_cells,
)


def section(campaign: Campaign) -> Section | None:
    """The effect of removing outliers; None if it was not computed."""
    found = (scenario.metric(campaign.metric) for scenario in campaign.scenarios)
    if not any(values is not None and values["published_rule"] for values in found):
        return None

    def build(group: Choices, _prefix: str) -> list[Block]:
        columns = [
            *SCENARIO_COLUMNS,
            Column("removed of values"), Column("of them hit by loss or retransmission"),
            Column("mean kept [interval]", "ms"), Column("sd kept [interval]", "ms"),
            Column("mean unfiltered [interval]", "ms"), COMPLETED,
        ]  # fmt: skip
        rows = [
            [*scenario_cells(condition, scenario), *_cells(scenario, campaign.metric), completed_cell(scenario)]
            for condition, scenario in group.pairs
        ]
        return [
            Table(
                f"{metric_words(campaign.metric).capitalize()}: effect of the outlier rule",
                columns,
                rows,
                row_headers=2,
            )
        ]

    note = (
        "A common rule (milosevic2021 uses it) removes values beyond three scaled median absolute deviations from the "
        "median. With loss this removes the effect of loss, and differently for each protocol. So all other numbers of "
        "this page are unfiltered."
    )
    blocks = by_choices(campaign, build)
    if not removed_outliers(campaign):
        blocks = [Group("Effect of the outlier rule", blocks)]
    return Section("rule", "If outliers were removed, as some publications do", [Prose(note), *blocks])


def _cells(scenario: Scenario, metric: str) -> list[Cell]:
    values = scenario.metric(metric)
    if values is None or (rule := values["published_rule"]) is None:
        return [dash("no value") for _ in range(5)]
    hits, removed_hits = rule["retransmission_hit"], rule["removed_retransmission_hit"]
    removed = Cell(share(rule["removed"], values["n"]), title=rule["note"])
    if rule["note"]:
        removed = replace(removed, reason=rule["note"])
    return [
        removed,
        dash(why_missing(scenario, "lost-packets", "whether a packet was lost or retransmitted was not recorded"))
        if hits is None
        else Cell(share(removed_hits or 0, hits)),
        *(estimate(Estimate.of(value), MILLISECONDS, "nothing kept") for value in (rule["mean"], rule["sd"])),
        estimate(Estimate.of(values["mean"]), MILLISECONDS),
    ]
