"""Blocks that several sections share: scenario and protocol cells, groups by choices, legends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from wirelab.report.blocks import Block, Cell, Column, Group, Legend, LegendEntry, Prose, dash
from wirelab.report.campaign import Campaign
from wirelab.report.missing import NO_TRIAL
from wirelab.report.model import Condition, Scenario, Series, level_words
from wirelab.report.model import Group as Choices
from wirelab.report.numbers import ended
from wirelab.schema.estimates import Quality
from wirelab.stats.link.grade import NOT_MEASURED

SCENARIO_COLUMNS = (Column("scenario", numeric=False), Column("protocol", numeric=False))
COMPLETED = Column("completed / attempted")
WORDS = {"end-to-end-delay": "end-to-end delay", "response-time-curl": "response time as curl counts it"}
MOST_DRAWN, SOME_DRAWN = 120, 60
"""So many scenarios that differ in choices are all drawn; of more some are, for nobody looks at hundreds of charts."""
LINK_TONES = {"good": "good", "limited": "unsure", "unusable": "bad", NOT_MEASURED: "unsure"}


def completed_cell(scenario: Scenario) -> Cell:
    """How many exchanges of a scenario completed, of those that were attempted."""
    counts = scenario.outcomes
    return dash(NO_TRIAL) if counts is None else Cell(ended(counts))


def scenario_cells(condition: Condition, scenario: Scenario) -> list[Cell]:
    """The first two cells of a row: the condition, and the protocol with a link to the trials."""
    return [Cell(condition.label), series_cell(scenario.series, f"#{scenario.anchor}")]


def series_cell(series: Series, href: str | None = None) -> Cell:
    """A protocol's name next to its colour."""
    return Cell(series.label, swatch=series.look.slot, title=series.provider, href=href)


def grade_cell(link: Quality | None) -> Cell:
    """The quality of a comparison, with the reason as its title."""
    if link is None:
        return dash("there is no comparison of the two")
    flag, why = link["flag"], link["why"]
    return Cell(flag, title=why, tone=LINK_TONES.get(flag, "bad"))


def by_choices(campaign: Campaign, build: Callable[[Choices, str], list[Block]]) -> list[Block]:
    """The blocks of each set of choices: unfolded if there is one, else each behind a summary, the first open.

    `build` also gets a prefix that is unique in the page, for the names of its charts.
    """
    return _folded(campaign.groups, build)


def charts_by_choices(campaign: Campaign, build: Callable[[Choices, str], list[Block]]) -> list[Block]:
    """The same of charts, whose numbers are estimates: of very many sets some, from the first to the last, and a
    sentence says so.
    """
    groups = drawn_groups(campaign)
    blocks = _folded(groups, build)
    if len(groups) == len(campaign.groups) or not blocks:
        return blocks
    words = f"Drawn: {len(groups)} of {len(campaign.groups):,} combinations, evenly spaced."
    return [Prose(f"{words} estimates.csv has the numbers of all of them."), *blocks]


def drawn_groups(campaign: Campaign) -> Sequence[Choices]:
    """Those with charts: all of them, or as many as a page can have."""
    groups, scenarios = campaign.groups, len(campaign.scenarios)
    if scenarios <= MOST_DRAWN or len(groups) < 3:
        return groups
    count = max(2, SOME_DRAWN * len(groups) // scenarios)
    return [groups[at * (len(groups) - 1) // (count - 1)] for at in range(count)]


def _folded(groups: Sequence[Choices], build: Callable[[Choices, str], list[Block]]) -> list[Block]:
    if len(groups) == 1:
        return build(groups[0], "c0")
    built = [(group, build(group, f"c{i}")) for i, group in enumerate(groups)]
    shown = [(group, blocks) for group, blocks in built if blocks]
    return [Group(group.title, blocks, open=i == 0, printed=i == 0) for i, (group, blocks) in enumerate(shown)]


def legend(campaign: Campaign) -> Legend:
    """Colour, shape and dash of each protocol, with who provides it."""
    return Legend(
        [
            LegendEntry(
                text=series.label,
                color=f"var(--s{series.look.slot})",
                note=series.provider,
                shape=series.look.shape,
                dash=" ".join(map(str, series.look.dash)),
                key=series.look.key,
            )
            for series in campaign.series
        ]
    )


def parts_legend(slots: Mapping[str, int]) -> Legend:
    """The legend of a bar's parts, by their colours."""
    return Legend([LegendEntry(part, f"var(--p{slot})") for part, slot in slots.items()])


def constants(campaign: Campaign) -> str:
    """The levels that all scenarios share, as half a sentence; empty if there are none."""
    # A link that an experiment calls just that says nothing.
    named = [pair for pair in campaign.constant_levels if pair != ("link", "link")]
    words = ", ".join(level_words(*pair) for pair in named)
    return f"All scenarios: {words}." if words else ""


def metric_words(name: str) -> str:
    """A metric's name in words."""
    return WORDS.get(name, name.replace("-", " "))
