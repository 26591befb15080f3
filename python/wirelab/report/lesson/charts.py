"""The charts of a lesson, drawn from what it ran: a campaign, or an enumeration of lost packets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
import polars as pl

from wirelab.errors import WirelabError
from wirelab.lessons.lesson import Case, Chart, Lesson
from wirelab.metrics.dataset import EXCHANGES
from wirelab.metrics.tables import read_table
from wirelab.report.blocks import Cell, Column, Figure, Legend, Table, flat
from wirelab.report.campaign import Campaign
from wirelab.report.exact.page import sections
from wirelab.report.figures.amounts import Amount, amounts
from wirelab.report.figures.distribution import Sample, ecdf
from wirelab.report.figures.messages import Delays, messages
from wirelab.report.figures.scales import log_domain
from wirelab.report.model import Scenario
from wirelab.report.numbers import DASH, PERCENT, Unit, with_unit
from wirelab.schema.estimates import EXACT
from wirelab.schema.exact import Exact

COMPLETED = "completed"
MOST_MESSAGES = 250
"""Of a trial, in a chart of single messages."""
TRIAL = 1
"""The replicate whose messages are drawn one by one."""
_QUANTILE = re.compile(r"p(\d\d)")


def of_campaign(lesson: Lesson, campaign: Campaign) -> list[Figure]:
    """The lesson's charts. Raises `WirelabError` if the campaign lacks what one shows."""
    return [KINDS[chart.kind](f"lesson{number}", chart, Shown(lesson, campaign)) for number, chart in
            enumerate(lesson.charts)]  # fmt: skip


def of_exact(lesson: Lesson, record: Exact) -> list[Figure]:
    """The lesson's charts, as the page of the enumeration has them."""
    found = []
    for chart in lesson.charts:
        drawn = [each for each in _blocks(record, ENUMERATED[chart.kind], Figure) if each.title == chart.of]
        if not drawn:
            raise WirelabError(f"the enumeration has no chart of {chart.of}", hint="leave its protocols as they are")
        found.append(replace(drawn[0], title=chart.title))
    return found


def legend_of(record: Exact) -> Legend:
    """Colour and dash of each scenario that was enumerated."""
    return next(_blocks(record, "probabilities", Legend))


Kind = TypeVar("Kind", Figure, Legend)


def _blocks(record: Exact, section: str, kind: type[Kind]) -> Iterator[Kind]:
    for each in sections(record):
        if each.id == section:
            yield from (block for block, _ in flat(each.blocks) if isinstance(block, kind))


class Shown:
    """A lesson's cases among a campaign's scenarios."""

    def __init__(self, lesson: Lesson, campaign: Campaign) -> None:
        self._lesson = lesson
        self.campaign = campaign

    def scenario(self, case: Case) -> Scenario:
        """The scenario of a case. Raises `WirelabError` if there is none."""
        for scenario in self.campaign.scenarios:
            levels = {"protocol": scenario.plan.protocol, **scenario.plan.levels}
            if all(_alike(levels.get(path), level) for path, level in case.where.items()):
                return scenario
        raise WirelabError(f"the lesson's case '{case.label}' was not run", hint="leave its factors as they are")

    def cases(self, chart: Chart) -> list[tuple[str, Scenario]]:
        """What a chart draws."""
        cases = [self._lesson.case(label) for label in chart.cases] or self._lesson.cases
        return [(case.label, self.scenario(case)) for case in cases]

    def delays(self, scenario: Scenario) -> pl.DataFrame:
        """Replicate, number and delay in milliseconds (null without one) of its exchanges."""
        column = f"{self.campaign.metric.replace('-', '_')}_ns"
        return (
            read_table(self.campaign.folder / EXCHANGES)
            .filter(pl.col("scenario") == scenario.key)
            .select("replicate", "index", delay_ms=pl.col(column) / 1e6)
            .sort("replicate", "index")
        )


def _alike(level: object, wanted: object) -> bool:
    return str(level).lower() == str(wanted).lower()


def _amounts(name: str, chart: Chart, shown: Shown) -> Figure:
    """A bar for each case: a statistic of a metric, or the share that completed."""
    bars = [bar for label, scenario in shown.cases(chart) if (bar := _amount(label, scenario, chart.of)) is not None]
    if not bars:
        raise WirelabError(f"no case has a {chart.of}")
    unit = PERCENT if chart.of == COMPLETED else _unit(shown, chart)
    axis = "share of messages that arrived, %" if chart.of == COMPLETED else f"{chart.of}, {unit.symbol}"
    rows = [[Cell(bar.label), Cell(bar.words)] for bar in bars]
    table = Table(chart.title, [Column("case", numeric=False), Column(chart.of)], rows)
    return Figure(chart.title, chart.title, "", amounts(name, chart.title, bars, axis), [table])


def _amount(label: str, scenario: Scenario, of: str) -> Amount | None:
    slot, ends = scenario.series.look.slot, scenario.outcomes
    if of == COMPLETED:
        if ends is None or not ends["exchanges"]:
            return None
        arrived = ends["completed"] + (ends["arrived"] or 0)
        share = 100 * arrived / ends["exchanges"]
        return Amount(label, share, None, None, slot, f"{arrived:,} of {ends['exchanges']:,}")
    statistic, _, metric = of.partition(" of ")
    found = scenario.estimate(metric, _key(statistic))
    if found is None or found.point is None:
        return None
    unit = scenario.unit(metric)
    low, high = (None if end is None else end * unit.per_base for end in (found.low, found.high))
    # What does not vary in this experiment, a reader of a lesson need not hear of.
    written, _, _ = with_unit(found, unit).partition(f" [{EXACT}")
    return Amount(label, found.point * unit.per_base, low, high, slot, written)


def _unit(shown: Shown, chart: Chart) -> Unit:
    _, _, metric = chart.of.partition(" of ")
    return next(scenario.unit(metric) for _, scenario in shown.cases(chart) if scenario.metric(metric) is not None)


def _key(statistic: str) -> str:
    """As estimates name it: `0.95` for `p95`."""
    found = _QUANTILE.fullmatch(statistic)
    return statistic if found is None else f"{int(found[1]) / 100:g}"


def _messages(name: str, chart: Chart, shown: Shown) -> Figure:
    """The first messages of one trial of each case."""
    panels, rows = [], []
    for label, scenario in shown.cases(chart):
        of_trial = shown.delays(scenario).filter(pl.col("replicate") == TRIAL, pl.col("index") < MOST_MESSAGES)
        known = of_trial.drop_nulls("delay_ms")
        panels.append(Delays(scenario.series, label, known["index"].to_list(), known["delay_ms"].to_list()))
        rows.append(
            [Cell(label), Cell(f"{len(known)}"), _cell(known["delay_ms"].median()), _cell(known["delay_ms"].max())]
        )
    head = [Column("case", numeric=False), Column("messages"), Column("median", "ms"), Column("longest", "ms")]
    title = f"{chart.title}; the first {MOST_MESSAGES} messages of one trial"
    return Figure(chart.title, title, "", messages(name, title, panels), [Table(title, head, rows)])


def _cell(value: object) -> Cell:
    return (
        Cell(DASH, reason="no message completed")
        if value is None
        else Cell(f"{value:,.1f}" if isinstance(value, float) else str(value))
    )


def _distribution(name: str, chart: Chart, shown: Shown) -> Figure:
    """The share of messages that completed within each delay."""
    samples, rows = [], []
    for label, scenario in shown.cases(chart):
        every = shown.delays(scenario)["delay_ms"]
        delays = np.sort(every.drop_nulls().to_numpy())
        samples.append(Sample(scenario.series, delays, len(every), ()))
        shares = [float(np.count_nonzero(delays <= at)) / len(every) for at in _LIMITS_MS] if len(every) else []
        rows.append([Cell(label), *(Cell(f"{share:.1%}") for share in shares)])
    domain = log_domain(np.concatenate([sample.delays[[0, -1]] for sample in samples if len(sample.delays)]), 0.02)
    if domain is None:
        raise WirelabError("no message completed")
    head = [Column("case", numeric=False), *(Column(f"within {at} ms") for at in _LIMITS_MS)]
    return Figure(
        chart.title, chart.title, "", ecdf(name, chart.title, samples, domain), [Table(chart.title, head, rows)]
    )


_LIMITS_MS = (110, 150, 200, 300, 500)
ENUMERATED = {"probability": "probabilities", "prices": "packets"}
"""The section of an enumeration's page that has a chart of this kind."""
Draw = Callable[[str, Chart, Shown], Figure]
KINDS: Mapping[str, Draw] = {"amounts": _amounts, "messages": _messages, "distribution": _distribution}
