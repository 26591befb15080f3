"""The publication's tables next to ours."""

from __future__ import annotations

from wirelab.report.blocks import Block, Cell, Column, Prose, Section, Table, dash, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.model import Group as Choices
from wirelab.report.numbers import MILLISECONDS, plain
from wirelab.report.published import Published, published_numbers, removed_outliers
from wirelab.report.sections.common import (
    COMPLETED,
    SCENARIO_COLUMNS,
    by_choices,
    completed_cell,
    metric_words,
    scenario_cells,
)

COLUMNS = (
    *SCENARIO_COLUMNS,
    Column("mean, published", "ms"),
    Column("mean, ours [interval]", "ms"),
    Column("sd, published", "ms"),
    Column("sd, ours [interval]", "ms"),
    Column("n, ours"),
    COMPLETED,
)


def section(campaign: Campaign) -> Section | None:
    """A table for each metric that the publication prints; None without printed numbers."""
    numbers = published_numbers(campaign)
    if not numbers:
        return None

    def build(group: Choices, _prefix: str) -> list[Block]:
        metrics = dict.fromkeys(metric for _, metric in numbers)
        return [table for metric in metrics if (table := _table(group, metric, numbers)).rows]

    ruled = "The publication removed outliers first; the next section does the same to our values. "
    note = (
        f"Printed means and standard deviations next to ours, unfiltered. {ruled * removed_outliers(campaign)}"
        "Different machines and an unstated round trip make the absolute numbers differ; the claims compare ratios."
    )
    return Section("published", "Published tables, with ours", [Prose(note), *by_choices(campaign, build)])


def _table(group: Choices, metric: str, numbers: dict[tuple[str, str], Published]) -> Table:
    rows = []
    for condition, scenario in group.pairs:
        printed = numbers.get((scenario.key, metric))
        if printed is None:
            continue
        mean, sd = (scenario.estimate(metric, statistic) for statistic in ("mean", "sd"))
        values = scenario.metric(metric)
        rows.append(
            [
                *scenario_cells(condition, scenario),
                _printed(printed.mean_ms),
                estimate(mean, MILLISECONDS),
                _printed(printed.sd_ms),
                estimate(sd, MILLISECONDS),
                dash("no value") if values is None else Cell(f"{values['n']:,}"),
                completed_cell(scenario),
            ]
        )
    return Table(f"{metric_words(metric).capitalize()}: published and ours", COLUMNS, rows, row_headers=2)


def _printed(value: float | None) -> Cell:
    return dash("not printed") if value is None else Cell(plain(value, 2))
