"""The charts of a lesson, drawn from what it ran: a campaign, or an enumeration of lost packets."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from wirelab.schema.plan import Scenario as Planned

COMPLETED = "completed"
MOST_MESSAGES = 250
"""Of a trial, in a chart of single messages."""
DELAY = "end_to_end_delay_ns"
SHARES = {"half within": 0.5, "95 % within": 0.95, "all within": 1.0}
"""Of all messages, those without an answer too."""
UNCHANGED = "leave the experiment's protocols and factors as they are, or run it without the lesson"
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
    """A lesson's cases among the scenarios of what it ran."""

    def __init__(self, lesson: Lesson, campaign: Campaign) -> None:
        self._lesson = lesson
        self.campaign = campaign

    def scenario(self, case: Case) -> Scenario:
        """The scenario of a case. Raises `WirelabError` if there is none, or if there are several."""
        planned = scenario_of(case, [each.plan for each in self.campaign.scenarios])
        return self.campaign.scenario_by_key[planned.key]

    def cases(self, chart: Chart) -> list[tuple[str, Scenario]]:
        """What a chart draws."""
        cases = [self._lesson.case(label) for label in chart.cases] or self._lesson.cases
        return [(case.label, self.scenario(case)) for case in cases]

    def delays(self, scenario: Scenario) -> pl.DataFrame:
        """Replicate, number and delay in milliseconds (null without one) of its exchanges."""
        return (
            read_table(self.campaign.folder / EXCHANGES)
            .filter(pl.col("scenario") == scenario.key)
            .select("replicate", "index", delay_ms=pl.col(DELAY) / 1e6)
            .sort("replicate", "index")
        )


def scenario_of(case: Case, scenarios: Iterable[Planned]) -> Planned:
    """The scenario of a case. Raises `WirelabError` if there is none, or if there are several."""
    found = [
        scenario
        for scenario in scenarios
        for levels in [{"protocol": scenario.protocol, **scenario.levels}]
        if all(str(levels.get(path)).lower() == str(level).lower() for path, level in case.where.items())
    ]
    if len(found) != 1:
        what = f"the lesson's case '{case.label}' is {'none' if not found else len(found)} of the scenarios"
        raise WirelabError(what, hint=UNCHANGED)
    return found[0]


def _amounts(name: str, chart: Chart, shown: Shown) -> Figure:
    """A bar for each case: a statistic of a metric, or the share that arrived or was answered."""
    found = [(label, _amount(label, scenario, chart.of)) for label, scenario in shown.cases(chart)]
    bars = [bar for _, bar in found if bar is not None]
    if not bars:
        raise WirelabError(f"no scenario has a {chart.of}, which the lesson draws", hint=UNCHANGED)
    what = "arrived or answered" if chart.of == COMPLETED else chart.of
    unit = PERCENT if chart.of == COMPLETED else _unit(shown, chart)
    rows = [
        [Cell(label), Cell(DASH, reason=f"no trial has a {what}") if bar is None else Cell(bar.words)]
        for label, bar in found
    ]
    table = Table(chart.title, [Column("case", numeric=False), Column(what)], rows)
    drawn = amounts(name, chart.title, bars, f"{what}, {unit.symbol}")
    return Figure(chart.title, chart.title, "", drawn, [table])


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
    """The first messages of one trial of each case: of the second, so that it is not always the same seed's first."""
    panels, rows, most = [], [], 0
    for label, scenario in shown.cases(chart):
        every = shown.delays(scenario)
        trial = min(1, every["replicate"].max() or 0)
        of_trial = every.filter(pl.col("replicate") == trial, pl.col("index") < MOST_MESSAGES)
        known, most = of_trial.drop_nulls("delay_ms"), max(most, len(of_trial))
        numbers = [number + 1 for number in known["index"]]
        panels.append(Delays(scenario.series, label, numbers, known["delay_ms"].to_list()))
        ends = (known["delay_ms"].median(), known["delay_ms"].max())
        rows.append([Cell(label), Cell(f"{len(known)} of {len(of_trial)}"), *map(_cell, ends)])
    head = [Column("case", numeric=False), Column("answered"), Column("median", "ms"), Column("longest", "ms")]
    title = f"{chart.title}; the first {most} messages of one trial"
    return Figure(chart.title, title, "", messages(name, title, panels), [Table(title, head, rows)])


def _cell(value: object) -> Cell:
    return Cell(f"{value:,.1f}") if isinstance(value, float) else Cell(DASH, reason="no message was answered")


def _distribution(name: str, chart: Chart, shown: Shown) -> Figure:
    """The share of messages that completed within each delay."""
    samples, rows = [], []
    for label, scenario in shown.cases(chart):
        every = shown.delays(scenario)["delay_ms"]
        delays = np.sort(every.drop_nulls().to_numpy())
        samples.append(Sample(scenario.series, delays, len(every), ()))
        ranks = [max(0, math.ceil(share * len(every)) - 1) for share in SHARES.values()]
        ends = [float(delays[rank]) if rank < len(delays) else None for rank in ranks]
        rows.append([Cell(label), *map(_cell, ends)])
    ends_ms = [float(end) for sample in samples if len(sample.delays) for end in sample.delays[[0, -1]]]
    domain = log_domain(ends_ms, 0.02)
    if domain is None:
        raise WirelabError("no message was answered, so the lesson has nothing to draw", hint=UNCHANGED)
    head = [Column("case", numeric=False), *(Column(title, "ms") for title in SHARES)]
    return Figure(
        chart.title, chart.title, "", ecdf(name, chart.title, samples, domain), [Table(chart.title, head, rows)]
    )


Draw = Callable[[str, Chart, Shown], Figure]
KINDS: Mapping[str, Draw] = {"amounts": _amounts, "messages": _messages, "distribution": _distribution}
ENUMERATED = {"probability": "probabilities", "prices": "packets"}
"""The section of an enumeration's page that has a chart of this kind."""
