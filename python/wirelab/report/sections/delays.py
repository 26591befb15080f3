"""All delays: the distribution of each condition, all protocols in one chart, without filtering."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from wirelab.metrics.levels import with_levels
from wirelab.report.blocks import Block, Cell, Column, Figure, Grid, Prose, Section, Table, dash, estimate, number
from wirelab.report.campaign import Campaign
from wirelab.report.figures.distribution import Sample, ecdf
from wirelab.report.figures.scales import log_domain
from wirelab.report.model import Condition, Scenario
from wirelab.report.model import Group as Choices
from wirelab.report.numbers import MILLISECONDS, plain, with_unit
from wirelab.report.sections.common import (
    COMPLETED,
    charts_by_choices,
    completed_cell,
    constants,
    legend,
    metric_words,
    series_cell,
)
from wirelab.stats.machine.offered import OVERLOADED

QUANTILES = {"0.05": 0.05, "0.25": 0.25, "median": 0.5, "0.75": 0.75, "0.95": 0.95, "0.99": 0.99}


def section(campaign: Campaign) -> Section | None:
    """Distributions of the headline metric; None without a dataset or for a metric that has no column in it."""
    delays = _delays(campaign)
    if delays is None:
        return None

    def build(group: Choices, prefix: str) -> list[Block]:
        return _blocks(campaign, group, prefix, delays)

    words = metric_words(campaign.metric)
    about = (
        "All exchanges of all counted trials; no value is removed. A curve that ends below 100 % has failures or "
        "timeouts. Its marks are the estimated quantiles 5, 25, 50, 75, 95 and 99 %. Of steps closer than one pixel "
        f"the last is drawn. {constants(campaign)}"
    )
    line = f"The share of all exchanges whose {words} is at most x."
    blocks = [legend(campaign), *charts_by_choices(campaign, build), Prose(about)]
    return Section("delays", f"Distribution of {words}", blocks, line)


def points(campaign: Campaign) -> pl.DataFrame:
    """Every step of the curves: a scenario's name, protocol and levels, a delay in milliseconds (`delay_ms`), and the
    `share` of its exchanges that took no longer. No row where `section` is None.
    """
    steps = {"scenario": pl.String, "name": pl.String, "delay_ms": pl.Float64, "share": pl.Float64}
    parts = [pl.DataFrame(schema=steps)]
    for key, delays in (_delays(campaign) or {}).items():
        scenario = campaign.scenario_by_key.get(key)
        if scenario is None or not scenario.compared(campaign.metric):
            continue
        share = np.arange(1, len(delays) + 1) / max(scenario.exchanges, len(delays))
        parts.append(pl.DataFrame({"scenario": key, "name": scenario.name, "delay_ms": delays, "share": share}))
    return with_levels(pl.concat(parts), campaign.plan.scenarios).select("name", pl.exclude("name", "scenario"))


def _delays(campaign: Campaign) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] | None:
    """Milliseconds of each scenario's completed exchanges, sorted."""
    path = campaign.folder / "exchanges.parquet"
    column = f"{campaign.metric.replace('-', '_')}_ns"
    if not path.exists() or column not in pl.read_parquet_schema(path):
        return None
    frame = pl.read_parquet(path, columns=["scenario", column]).drop_nulls()
    return {
        str(key): np.sort(part[column].to_numpy() / 1e6)
        for (key,), part in frame.group_by("scenario", maintain_order=True)
    }


def _blocks(
    campaign: Campaign,
    group: Choices,
    prefix: str,
    delays: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]],
) -> list[Block]:
    mine = [
        delays[scenario.key]
        for scenario in group.scenarios
        if scenario.key in delays and scenario.compared(campaign.metric)
    ]
    domain = log_domain(np.concatenate([d[[0, -1]] for d in mine]), 0.02) if mine else None
    if domain is None:
        return [Prose(f"There is no delay to draw here: {_nothing(group.scenarios)}.")]
    blocks: list[Block] = []
    figures = []
    for i, condition in enumerate(group.conditions):
        samples = [s for s in (_sample(campaign.metric, scenario, delays) for scenario in condition.scenarios) if s]
        if not samples:
            blocks.append(Prose(f"{condition.label}: there is no delay to draw: {_nothing(condition.scenarios)}."))
            continue
        label = f"Empirical distribution of {metric_words(campaign.metric)}, {condition.label}"
        svg = ecdf(f"{prefix}-ecdf{i}", label, samples, domain)
        figures.append(Figure(condition.label, label, "", svg, [_quantiles(campaign.metric, condition)]))
    return [*([Grid("", figures)] if figures else []), *blocks]


def _nothing(scenarios: Iterable[Scenario]) -> str:
    return OVERLOADED if any(scenario.overload for scenario in scenarios) else "no exchange completed"


def _sample(
    metric: str, scenario: Scenario, delays: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]
) -> Sample | None:
    values = delays.get(scenario.key)
    if values is None or not scenario.compared(metric):
        return None
    exchanges = max(scenario.exchanges, len(values))
    marks = []
    for name, quantile in QUANTILES.items():
        value = scenario.estimate(metric, name)
        if value is not None and value.point is not None:
            words = f"{quantile:.0%} within {with_unit(value, MILLISECONDS)}"
            marks.append((value.point * 1e3, _share_within(values, exchanges, value.point * 1e3), words))
    return Sample(scenario.series, values, exchanges, marks)


def _share_within(values: np.ndarray[tuple[int], np.dtype[np.float64]], exchanges: int, delay: float) -> float:
    """The height of the curve at a delay, so that marks lie on it."""
    return float(np.searchsorted(values, delay * (1 + 1e-9), side="right")) / exchanges


def _quantiles(metric: str, condition: Condition) -> Table:
    few = {"0.99": "fewer than 1,000 values"}
    rows = []
    for scenario in condition.scenarios:
        whys = {q: OVERLOADED if scenario.overload else few.get(q, "fewer than 100 values") for q in QUANTILES}
        cells = [estimate(scenario.estimate(metric, q), MILLISECONDS, why) for q, why in whys.items()]
        values = scenario.metric(metric)
        rows.append(
            [
                series_cell(scenario.series),
                *cells,
                number(None if values is None else values["n"], 0, "no value"),
                completed_cell(scenario),
                _modes(scenario, metric),
            ]
        )
    columns = [
        Column("protocol", numeric=False), *(Column(f"{q:.0%} [interval]", "ms") for q in QUANTILES.values()),
        Column("values"), COMPLETED, Column("modes: range and share", "ms", numeric=False),
    ]  # fmt: skip
    return Table(f"Quantiles and modes of {metric_words(metric)}, {condition.label}", columns, rows)


def _modes(scenario: Scenario, metric: str) -> Cell:
    values = scenario.metric(metric)
    if values is None or not values["modes"]:
        return dash("a single mode")
    words = []
    for mode in values["modes"]:
        share = mode["share"]["point"]
        size = f" ({share:.1%})" if share is not None else ""
        words.append(f"{plain(mode['low'] * 1e3)} to {plain(mode['high'] * 1e3)}{size}")
    return Cell("; ".join(words))
