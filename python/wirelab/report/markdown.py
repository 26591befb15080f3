"""Tables as Markdown, and a campaign for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirelab.report.blocks import Cell, Column, Table
from wirelab.report.campaign import Campaign
from wirelab.report.compared import Compared
from wirelab.report.grade import graded, reasons
from wirelab.report.numbers import DASH, ended, with_unit
from wirelab.report.ranking import value, why_unranked
from wirelab.report.sections import expectations
from wirelab.report.sections.common import metric_words


def table(caption: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], level: str) -> list[str]:
    """Lines of a table; `level` is that of its intervals."""
    heads = [" ".join(filter(None, [each.title.replace("[interval]", f"[{level}]"), each.unit])) for each in columns]
    lines = [f"**{caption}**", "", _row(heads), _row(["---"] * len(columns))]
    return [*lines, *(_row([cell.text for cell in row]) for row in rows), ""]


def of_campaign(campaign: Campaign, compared: Compared | None = None) -> str:
    """Title, quality, the headline metric of each scenario, and the bounds that it keeps or misses; before it a
    comparison of the campaign's sides, if there is one.
    """
    level = f"{campaign.estimates['level']:.0%}"
    lines = [f"# {campaign.experiment.title or campaign.experiment.name}", "", f"Quality: {graded(campaign)}."]
    lines += [f"- {reason}" for reason in reasons(campaign.estimates)]
    head = Column(f"{campaign.statistic} of {metric_words(campaign.metric)} [interval]")
    columns = [Column("scenario"), head, Column("n"), Column("completed / attempted"), Column("why there is none")]
    rows = [*_scenarios(campaign)]
    shown = len(columns) if any(row[-1].text for row in rows) else len(columns) - 1
    lines += ["", *table("Scenarios", columns[:shown], [row[:shown] for row in rows], level)]
    if (section := expectations.section(campaign)) is not None:
        for block in section.blocks:
            if isinstance(block, Table):
                lines += table(block.caption, block.shown.columns, block.shown.rows, level)
    text = "\n".join(lines).rstrip() + "\n"
    return text if compared is None else f"{of_comparison(compared)}\n{text}"


def of_comparison(compared: Compared) -> str:
    """The sentence, the table, what changed in packets, and the notes."""
    lines = [f"**{compared.headline}**", ""]
    lines += table(compared.table.caption, compared.table.columns, compared.table.rows, "")
    lines += [f"- {each.strip()}" for each in (*compared.packets, *compared.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _scenarios(campaign: Campaign) -> Iterator[list[Cell]]:
    for scenario in campaign.scenarios:
        found, unit = value(campaign, scenario), scenario.unit(campaign.metric)
        known = found is not None and found.point is not None
        yield [
            Cell(scenario.name),
            Cell(with_unit(found, unit)),
            Cell(f"{found.n:,}" if found is not None else DASH),
            Cell(DASH if scenario.outcomes is None else ended(scenario.outcomes)),
            Cell("" if known else why_unranked(campaign, scenario)),
        ]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(each.replace('|', chr(92) + '|') for each in cells)} |"
