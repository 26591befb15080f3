"""The headline metric: a row per condition, an interval per protocol, the publication's number."""

from __future__ import annotations

from dataclasses import replace

from wirelab.report.blocks import Block, Cell, Column, Figure, Section, Table, dash, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.figures.intervals import Mark, intervals
from wirelab.report.missing import why_missing
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.numbers import PERCENT, Estimate, plain, with_unit
from wirelab.report.published import Published, published_numbers
from wirelab.report.sections.common import (
    COMPLETED,
    SCENARIO_COLUMNS,
    charts_by_choices,
    completed_cell,
    constants,
    legend,
    metric_words,
    scenario_cells,
)
from wirelab.statistic import key_of, words_of
from wirelab.stats.estimate.horizon import LATE_S, counted_at


def section(campaign: Campaign) -> Section:
    """The headline metric of every scenario."""
    published = published_numbers(campaign)
    statistic = _statistic(campaign, published)

    def build(group: Choices, prefix: str) -> list[Block]:
        return [_figure(campaign, group, prefix, statistic, published)]

    return Section("glance", "At a glance", [legend(campaign), *charts_by_choices(campaign, build)])


def figure(campaign: Campaign, group: Choices, prefix: str) -> Figure | Table:
    """The chart of a group, without what all scenarios share; its table alone if there is nothing to draw."""
    published = published_numbers(campaign)
    drawn = _figure(campaign, group, prefix, _statistic(campaign, published), published)
    shared = constants(campaign)
    return replace(drawn, caption=drawn.caption.removesuffix(shared).strip()) if isinstance(drawn, Figure) else drawn


def _statistic(campaign: Campaign, published: dict[tuple[str, str], Published]) -> str:
    """The mean where the publication prints means, else the statistic that ranks."""
    return "mean" if any(p.metric == campaign.metric for p in published.values()) else key_of(campaign.statistic)


def _figure(
    campaign: Campaign, group: Choices, prefix: str, statistic: str, published: dict[tuple[str, str], Published]
) -> Figure | Table:
    words, unit = metric_words(campaign.metric), campaign.unit
    name = words_of(campaign.statistic) if statistic == key_of(campaign.statistic) else statistic
    marks = []
    for condition, scenario in group.pairs:
        if not scenario.compared(campaign.metric):
            continue
        value = scenario.estimate(campaign.metric, statistic)
        if (above_s := scenario.above_s(campaign.metric, statistic)) is not None:
            marks.append(_above(condition.label, scenario, name, above_s * 1e3))
        if value is None or value.point is None:
            continue
        paper = published.get((scenario.key, campaign.metric))
        tip = f"{condition.label}, {scenario.series.label}: {name} {with_unit(value, unit)}"
        low, high = (None if bound is None else bound * unit.per_base for bound in (value.low, value.high))
        printed = paper.mean_ms if paper else None
        marks.append(Mark(condition.label, scenario.series, value.point * unit.per_base, low, high, tip, printed))
    table = _table(campaign, group, published)
    svg = intervals(
        f"{prefix}-glance",
        f"{name} of {words} per scenario; the table below has the numbers",
        marks,
        f"{name} of {words}{f', {unit.symbol}' if unit.symbol else ''}",
    )
    if svg is None:
        return table
    counted = mean_words(group, campaign.metric).partition(", ")[2] if statistic == "mean" else ""
    of = counted[:1].upper() + counted[1:] if counted else "Completed exchanges"
    caption = [f"{of}, with intervals; no outlier is removed."]
    if any(mark.published is not None for mark in marks):
        caption.append("Upright strokes: the publication’s means.")
    if any(mark.above for mark in marks):
        caption.append("Open triangle: above the timeout by an unknown amount.")
    caption.append(constants(campaign))
    label = f"{name} of {words}, a row per scenario"
    return Figure("", label, " ".join(filter(None, caption)), svg, [table])


def _above(row: str, scenario: Scenario, statistic: str, timeout_ms: float) -> Mark:
    counts = scenario.outcomes
    ended = "" if counts is None else f", {counts['timed-out']} of {counts['exchanges']} exchanges timed out"
    tip = f"{row}, {scenario.series.label}: {statistic} above the time-out of {plain(timeout_ms)} ms{ended}"
    return Mark(row, scenario.series, timeout_ms, None, None, tip, above=True)


def _table(campaign: Campaign, group: Choices, published: dict[tuple[str, str], Published]) -> Table:
    metric = campaign.metric
    columns = [
        *SCENARIO_COLUMNS,
        *(Column(f"{name} [interval]", campaign.unit.symbol) for name in ("median", mean_words(group, metric))),
        *(Column(f"{name} [interval]", campaign.unit.symbol) for name in ("p95", "p99")),
        *([Column(f"delay > {LATE_S:g} s [interval]", "%")] if _has_late(group, metric) else []),
        COMPLETED,
    ]
    if published:
        columns.append(Column("published mean", "ms"))
    rows = []
    for condition, scenario in group.pairs:
        late = [_late(scenario, metric)] if _has_late(group, metric) else []
        row = [*scenario_cells(condition, scenario), *_values(scenario, metric), *late, completed_cell(scenario)]
        if published:
            paper = published.get((scenario.key, metric))
            row.append(
                Cell(plain(paper.mean_ms, 2))
                if paper and paper.mean_ms is not None
                else dash("the publication prints no number for it")
            )
        rows.append(row)
    return Table(f"{metric_words(metric).capitalize()} of every scenario", columns, rows, row_headers=2)


def _values(scenario: Scenario, metric: str) -> list[Cell]:
    reason = why_missing(scenario, metric, "no exchange completed")
    few = {"0.95": "fewer than 100 values", "0.99": "fewer than 1,000 values"}
    cells = []
    for name in ("median", "mean", "0.95", "0.99"):
        value, above_s = scenario.estimate(metric, name), scenario.above_s(metric, name)
        if above_s is not None and name != "mean":
            title = value.method if value is not None else ""
            cells.append(Cell(f"> {plain(above_s * 1e3)}", title=title, tone="unsure", spoken="above the time-out"))
            continue
        cells.append(
            estimate(value, scenario.unit(metric), few.get(name, reason) if scenario.metric(metric) else reason)
        )
    return cells


def mean_words(group: Choices, metric: str) -> str:
    """`mean, time-outs counted at 10 s` if delays of any scenario timed out, else `mean`."""
    found = [record for scenario in group.scenarios if (record := scenario.metric(metric)) is not None]
    horizons = dict.fromkeys(each["horizon_s"] for each in found if each.get("time_outs_in_mean"))
    return ", ".join(["mean", *(counted_at(each) for each in horizons)])


def _has_late(group: Choices, metric: str) -> bool:
    return any("late_share" in (scenario.metric(metric) or {}) for scenario in group.scenarios)


def _late(scenario: Scenario, metric: str) -> Cell:
    record = scenario.metric(metric)
    if record is None:
        return dash(why_missing(scenario, metric))
    return estimate(Estimate.of(record.get("late_share")), PERCENT, "the timeout is shorter")
