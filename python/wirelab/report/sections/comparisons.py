"""Protocols compared under the same condition: effect sizes with intervals, p values corrected for the family."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.report.blocks import Block, Cell, Column, Group, Items, Prose, Section, Table, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.grade import comparison_reasons
from wirelab.report.model import Condition, Scenario, metric_name
from wirelab.report.model import Group as Choices
from wirelab.report.numbers import COUNT, Estimate, Unit, p_value
from wirelab.report.sections.common import by_choices, completed_cell, grade_cell, metric_words, series_cell
from wirelab.schema.estimates import ComparisonRecord, EstimateRecord
from wirelab.statistic import MEAN, MEDIAN
from wirelab.stats.compare.link_error import quality_of
from wirelab.stats.machine.offered import OVERLOADED


def section(campaign: Campaign) -> Section | None:
    """Comparisons, the headline metric first; None if there are none."""
    comparisons = campaign.estimates["comparisons"]
    if not comparisons:
        return None
    names = list(dict.fromkeys(metric_name(c["metric"]) for c in comparisons))
    names.sort(key=lambda name: name != metric_name(campaign.metric))

    def build(group: Choices, _prefix: str) -> list[Block]:
        tables = [(name, _table(campaign, group, name, comparisons)) for name in names]
        blocks: list[Block] = []
        for name, table in tables:
            if table.rows:
                blocks.append(table if name == names[0] else Group(metric_words(name), [table]))
        return blocks

    note = (
        "A ratio below 1 means that a is faster or smaller; bold: the interval excludes 1. The interval, not the "
        "p value, shows the size of the effect. The shift is Hodges and Lehmann's: the median "
        "difference between a value of a and one of b. Cliff's δ is the share of pairs in which a is larger minus the "
        "share in which it is smaller. "
        f"{_family(comparisons)}{_both(campaign, comparisons)}"
    )
    why = comparison_reasons(comparisons)
    graded = [Items([f"Quality {words}" for words in why])] if why else []
    notes = [Prose(note), *graded, *_left_out(campaign)]
    return Section("comparisons", "Comparisons", [*notes, *by_choices(campaign, build)])


def _left_out(campaign: Campaign) -> list[Block]:
    """The scenarios that nothing is compared with."""
    names = [scenario.name for scenario in campaign.scenarios if scenario.overload is not None]
    return [Prose(f"Delays and energies not compared, since {OVERLOADED}: {'; '.join(names)}.")] if names else []


def _family(comparisons: Sequence[ComparisonRecord]) -> str:
    families = {c["family"]["name"]: c["family"]["size"] for c in comparisons}
    words = "; ".join(f"{name} ({size} comparisons)" for name, size in families.items())
    return f"p values are adjusted within: {words}." if words else ""


def _both(campaign: Campaign, comparisons: Sequence[ComparisonRecord]) -> str:
    """A note on comparisons in which both protocol and program differ."""
    ends = [(campaign.scenario_by_key.get(c["a"]), campaign.scenario_by_key.get(c["b"])) for c in comparisons]
    series = {(a.series, b.series) for a, b in ends if a is not None and b is not None}
    both = [(a, b) for a, b in series if a.protocol != b.protocol and a.implementation != b.implementation]
    if not both:
        return ""
    words = ", ".join(sorted(f"{a.label} against {b.label}" for a, b in both))
    return f" Protocol and program both differ, so a difference may come from either: {words}."


def _table(campaign: Campaign, group: Choices, metric: str, comparisons: Sequence[ComparisonRecord]) -> Table:
    rows, unit = [], COUNT
    mine = [comparison for comparison in comparisons if metric_name(comparison["metric"]) == metric]
    for condition in group.conditions:
        scenarios = {scenario.key: scenario for scenario in condition.scenarios}
        for comparison in mine:
            a, b = scenarios.get(comparison["a"]), scenarios.get(comparison["b"])
            if a is None or b is None or not {a.key, b.key} & group.own:
                continue
            unit = a.unit(metric)
            rows.append(_row(condition, a, b, comparison, unit))
    return Table(
        f"{metric_words(metric).capitalize()}: a against b",
        _columns(unit.symbol, _percentile(campaign, metric)),
        rows,
        row_headers=3,
    )


def _row(condition: Condition, a: Scenario, b: Scenario, comparison: ComparisonRecord, unit: Unit) -> list[Cell]:
    before = f"p before adjustment: {p_value(comparison['p'])}"
    return [
        Cell(condition.label),
        series_cell(a.series, f"#{a.anchor}"),
        series_cell(b.series, f"#{b.anchor}"),
        _ratio(comparison["ratio_of_means"]),
        grade_cell(quality_of(comparison, "mean")),
        _ratio(comparison["ratio_of_medians"]),
        grade_cell(quality_of(comparison, "median")),
        *(
            [_ratio(percentiles), grade_cell(quality_of(comparison, "percentile"))]
            if (percentiles := comparison.get("ratio_of_percentiles")) is not None
            else []
        ),
        estimate(Estimate.of(comparison["shift"]), unit),
        estimate(Estimate.of(comparison["cliffs_delta"]), COUNT),
        Cell(p_value(comparison["p_adjusted"]), title=before),
        completed_cell(a),
        completed_cell(b),
    ]


def _percentile(campaign: Campaign, metric: str) -> str | None:
    """The percentile that ranks this metric; None if none does."""
    ranks = campaign.statistic not in {MEDIAN, MEAN} and metric_name(metric) == metric_name(campaign.metric)
    return campaign.statistic if ranks else None


def _columns(unit: str, percentile: str | None) -> tuple[Column, ...]:
    return (
        Column("condition", numeric=False),
        Column("a", numeric=False),
        Column("b", numeric=False),
        Column("ratio of means a/b [interval]"),
        Column("grade of means", numeric=False),
        Column("ratio of medians a/b [interval]"),
        Column("grade of medians", numeric=False),
        *(
            [Column(f"ratio of {percentile} a/b [interval]"), Column(f"grade of {percentile}", numeric=False)]
            if percentile
            else []
        ),
        Column("shift a − b [interval]", unit),
        Column("Cliff's δ [interval]"),
        Column("p adjusted"),
        Column("completed / attempted, a"),
        Column("completed / attempted, b"),
    )


def _ratio(value: EstimateRecord) -> Cell:
    ratio = Estimate.of(value)
    cell = estimate(ratio, COUNT)
    if ratio is None or ratio.low is None or ratio.high is None:
        return cell
    return Cell(cell.text, title=cell.title, tone=None if ratio.low <= 1 <= ratio.high else "clear")
