"""Outcomes of exchanges: completed and attempted, the base of all other numbers."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from wirelab.report.blocks import Block, Cell, Column, Prose, Section, Table, dash, number
from wirelab.report.campaign import Campaign
from wirelab.report.missing import NO_TRIAL
from wirelab.report.model import Group as Choices
from wirelab.report.model import Scenario
from wirelab.report.sections.common import SCENARIO_COLUMNS, by_choices, scenario_cells
from wirelab.schema.estimates import OutcomeKey

TITLES: dict[OutcomeKey, str] = {
    "exchanges": "exchanges",
    "completed": "completed",
    "sent": "sent",
    "arrived": "of these, arrived",
    "failed": "failed",
    "timed-out": "timed out",
    "unsupported": "unsupported",
    "trials": "trials",
    "unsupported_trials": "unsupported trials",
    "failed_trials": "failed trials",
    "exchanges_of_failed_trials": "their exchanges, not counted",
    "not-confirmed": "of these, not confirmed by the link",
    "excluded_trials": "repeated attempts",
}
"""Keys of `denominators`, with their columns."""
_ALWAYS = frozenset({"exchanges", "completed", "trials"})
_UNANSWERED = frozenset({"sent", "arrived"})
"""Columns of protocols that can send what nothing answers: others do not name them."""
_GOOD = _ALWAYS | _UNANSWERED


def section(campaign: Campaign) -> Section:
    """Outcomes of every scenario, with the most frequent error."""
    errors = commonest_errors(campaign)

    def build(group: Choices, _prefix: str) -> list[Block]:
        own = [(condition, mine) for condition, mine in group.pairs if mine.key in group.own]
        nowhere = [
            key
            for key in TITLES
            if key not in _ALWAYS and all(mine.outcomes is not None and not mine.outcomes[key] for _, mine in own)
        ]
        keys = [key for key in TITLES if key not in nowhere]
        rows = [
            [*scenario_cells(condition, scenario), *_counts(scenario, keys), _error(campaign, scenario, errors)]
            for condition, scenario in own
        ]
        columns = [
            *SCENARIO_COLUMNS,
            *(Column(TITLES[key]) for key in keys),
            Column("commonest error", numeric=False),
        ]
        caption = "Exchanges and trials by outcome"
        if named := [TITLES[key] for key in nowhere if key not in _UNANSWERED]:
            caption += f". 0 throughout: {', '.join(named)}"
        return [Table(caption, columns, rows, row_headers=2)]

    note = (
        "Quantiles of delays count a timeout above every completed value. Means of delays count it at the timeout of "
        "the workload. An exchange that failed has no delay. Unsupported: the protocol or "
        "program does not offer it. Sent: nothing answers, so there is no delay; arrived is what the link "
        "delivered by the end of the trial. A trial that failed as a whole counts once; its exchanges "
        "count nowhere else."
    )
    return Section("outcomes", "Outcomes: completed / attempted", [Prose(note), *by_choices(campaign, build)])


def _counts(scenario: Scenario, keys: Sequence[OutcomeKey]) -> list[Cell]:
    counts = scenario.outcomes
    if not counts:
        return [dash(NO_TRIAL) for _ in keys]
    cells = {key: number(counts[key], 0) for key in keys}
    return [
        cell if key in _GOOD or cell.text in {"0", "–"} else Cell(cell.text, tone="unsure")
        for key, cell in cells.items()
    ]


def _error(campaign: Campaign, scenario: Scenario, errors: dict[str, tuple[str, int]]) -> Cell:
    if (why := campaign.unsupported.get(scenario.key)) is not None:
        return Cell(f"not supported: {why}", tone="unsure")
    if scenario.key not in errors:
        return dash("no exchange failed with a message")
    error, count = errors[scenario.key]
    return Cell(f"{error} ({count:,})")


def commonest_errors(campaign: Campaign) -> dict[str, tuple[str, int]]:
    path = campaign.folder / "exchanges.parquet"
    if not path.exists():
        return {}
    counts = (
        pl.read_parquet(path, columns=["scenario", "error"])
        .drop_nulls()
        .group_by("scenario", "error")
        .len()
        .sort("scenario", "len", "error", descending=[False, True, False])
        .group_by("scenario", maintain_order=True)
        .first()
    )
    return {scenario: (error, count) for scenario, error, count in counts.iter_rows()}
