"""Which protocol has the lowest delay in each scenario, where the difference is significant, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wirelab.report.blocks import Block, Cell, Column, Figure, Group, Prose, Section, Table, dash, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.figures.tiles import Tile, tiles
from wirelab.report.model import Levels, Scenario, level_words
from wirelab.report.numbers import COUNT, MILLISECONDS, plain, with_unit
from wirelab.report.protocols import is_reference
from wirelab.report.ranking import above_time_out, kinds, quality, ranked, ratio, unclear, value, wins
from wirelab.report.sections.common import COMPLETED, completed_cell, grade_cell, legend, metric_words, series_cell
from wirelab.statistic import words_of
from wirelab.stats.compare.scenarios import is_implementation
from wirelab.stats.link.grade import GRADES

OPEN, UNUSABLE, NONE = "no difference shown", GRADES[-1], "half or more of its exchanges timed out or failed"
MOST_NAMED = 2
"""Names that fit a tile; the table has all."""


@dataclass(frozen=True)
class _Axes:
    """Two factors, across and down; each combination of the others has a map of its own."""

    across: str
    down: str

    @classmethod
    def of(cls, campaign: Campaign, choices: Sequence[str]) -> _Axes | None:
        """The two factors with the most levels; None if fewer than two vary next to protocol and declared choices."""
        points = [point for scenario in campaign.scenarios for point in scenario.points]
        paths = [path for path in _varied(campaign) if path not in choices]
        levels = {path: len({str(point.get(path)) for point in points}) for path in paths}
        ordered = sorted(paths, key=lambda path: -levels[path])
        return cls(*ordered[:2]) if len(ordered) > 1 else None


@dataclass(frozen=True)
class _Place:
    """One cell of the grid with its scenarios: ranked, those above the timeout, and those of either that
    may have as low a delay as the first.
    """

    x: str
    y: str
    ranked: list[Scenario]
    above: list[Scenario]
    unclear: list[Scenario]


def section(campaign: Campaign) -> Section | None:
    """Maps over two factors of the grid; None without two factors or two protocols, or if the metric is not a time."""
    declared = tuple(campaign.experiment.choices)
    axes = _Axes.of(campaign, declared)
    compared = [(kind, scenarios) for kind, scenarios in kinds(campaign, campaign.scenarios) if _several(scenarios)]
    if axes is None or campaign.unit is not MILLISECONDS or not compared:
        return None
    maps = [(kind, rest, places) for kind, each in compared for rest, places in _maps(campaign, axes, each).items()]
    by_choice: dict[Levels, list[Figure]] = {}
    base = maps[0][1] if maps else ()
    for i, (kind, rest, places) in enumerate(maps):
        chosen = tuple(pair for pair in rest if pair[0] in declared and pair not in base)
        title = ", ".join(level_words(*pair) for pair in rest if pair[0] not in declared)
        title = ", ".join(filter(None, (kind, title)))
        others = ", ".join(filter(None, (title, *(level_words(*pair) for pair in chosen))))
        by_choice.setdefault(chosen, []).append(_figure(campaign, f"lowest-delay-{i}", title, others, places))
    blocks: list[Block] = list(by_choice.pop((), []))
    blocks += [Group(", ".join(level_words(*pair) for pair in chosen), each) for chosen, each in by_choice.items()]
    words, apart = f"{words_of(campaign.statistic)} {metric_words(campaign.metric)}", bool(compared[0][0])
    note = (
        f"{'Encrypted and unencrypted protocols have maps of their own. ' * apart}"
        f"Each cell names the protocol with the smallest {words}. Below it: how many times as long the next one "
        "takes. Coloured: the difference to every other protocol is significant at 95 %. With many cells, expect a few "
        f"false ones. White: no clear winner, so all that may be the lowest are named, or quality {UNUSABLE}. Values "
        "between cells are not interpolated."
    )
    line = f"The protocol with the smallest {words}, coloured if the difference to every other one is significant."
    return Section("lowest-delay", "Where each has the lowest delay", [Prose(note), legend(campaign), *blocks], line)


def _several(scenarios: Sequence[Scenario]) -> bool:
    """Whether they are of at least two application protocols."""
    return len({each.series.label for each in scenarios if not is_reference(each.series.protocol)}) > 1


def _maps(campaign: Campaign, axes: _Axes, scenarios: Sequence[Scenario]) -> dict[Levels, list[_Place]]:
    """The cells of each combination of the other factors, in the order of the plan."""
    found: dict[Levels, dict[tuple[str, str], list[Scenario]]] = {}
    others = [path for path in _varied(campaign) if path not in (axes.across, axes.down)]
    for scenario in filter(lambda scenario: scenario.compared(campaign.metric), scenarios):
        for point in scenario.points:
            rest = tuple((path, str(point[path])) for path in others if path in point)
            x, y = (level_words(path, str(point.get(path, ""))) for path in (axes.across, axes.down))
            here = found.setdefault(rest, {}).setdefault((x, y), [])
            if scenario not in here:
                here.append(scenario)
    return {rest: [_place(campaign, x, y, here) for (x, y), here in places.items()] for rest, places in found.items()}


def _varied(campaign: Campaign) -> list[str]:
    """Paths of the factors that vary next to the protocol and its implementation."""
    constant = {"protocol", *(path for path, _ in campaign.constant_levels)}
    paths = dict.fromkeys(path for scenario in campaign.scenarios for point in scenario.points for path in point)
    return [path for path in paths if path not in constant and not is_implementation(path)]


def _place(campaign: Campaign, x: str, y: str, scenarios: Sequence[Scenario]) -> _Place:
    ranking, above = ranked(campaign, scenarios), above_time_out(campaign, scenarios)
    return _Place(x, y, ranking, above, unclear(campaign, ranking[0], [*ranking[1:], *above]) if ranking else [])


def _figure(campaign: Campaign, name: str, title: str, others: str, places: Sequence[_Place]) -> Figure:
    words = f"smallest {words_of(campaign.statistic)} {metric_words(campaign.metric)}{f', {others}' if others else ''}"
    table = Table(f"The {words}", _columns(campaign), [_row(campaign, place) for place in places], row_headers=2)
    drawn = tiles(name, f"Map of the {words}", [_tile(campaign, place) for place in places])
    return Figure(title, f"Map of the {words}", "", drawn, [table])


def _columns(campaign: Campaign) -> tuple[Column, ...]:
    return (
        Column("down", numeric=False), Column("across", numeric=False), Column("lowest delay", numeric=False),
        Column(f"{words_of(campaign.statistic)} [interval]", "ms"), COMPLETED,
        Column("next", numeric=False), Column("next / lowest [interval]"), Column("grade", numeric=False),
        Column("significant difference", numeric=False),
    )  # fmt: skip


def _tile(campaign: Campaign, place: _Place) -> Tile:
    values = [
        f"{scenario.series.label} {with_unit(value(campaign, scenario), MILLISECONDS)}" for scenario in place.ranked
    ]
    values += [f"{scenario.series.label} above the time-out" for scenario in place.above]
    tip = f"{place.y}, {place.x}: {'; '.join(values) or NONE}"
    if not place.ranked:
        return Tile(place.x, place.y, None, "none", "in time", tip)
    first, may_be = place.ranked[0], [place.ranked[0], *place.unclear]
    if place.unclear:
        labels = ", ".join(scenario.series.label for scenario in may_be)
        of = f"{len(may_be)} of {len(place.ranked) + len(place.above)}"
        words = labels if len(may_be) <= MOST_NAMED else of
        return Tile(place.x, place.y, None, words, OPEN, f"{tip}; {OPEN}: {labels}")
    if any(_grade(campaign, other, first) == UNUSABLE for other in [*place.ranked[1:], *place.above]):
        return Tile(
            place.x, place.y, None, first.series.label, UNUSABLE, f"{tip}; a comparison's quality is {UNUSABLE}"
        )
    if not wins(campaign, first, [*place.ranked[1:], *place.above]):
        return Tile(place.x, place.y, None, first.series.label, "alone", f"{tip}; no other has a value")
    times = ratio(campaign, place.ranked[1], first) if len(place.ranked) > 1 else None
    figure = f"{plain(times.point, 2)} ×" if times is not None else "others time out"
    return Tile(place.x, place.y, first.series, first.series.label, figure, tip)


def _grade(campaign: Campaign, a: Scenario, b: Scenario) -> str | None:
    """The quality of the comparison of the two; None if not known."""
    found = quality(campaign, a, b)
    return None if found is None else found["flag"]


def _row(campaign: Campaign, place: _Place) -> list[Cell]:
    head = [Cell(place.y), Cell(place.x)]
    if not place.ranked:
        return [*head, *[dash(NONE)] * (len(_columns(campaign)) - len(head))]
    first, after = place.ranked[0], next(iter([*place.ranked[1:], *place.above]), None)
    head += [
        series_cell(first.series, f"#{first.anchor}"),
        estimate(value(campaign, first), MILLISECONDS),
        completed_cell(first),
    ]
    if after is None:
        return [*head, *[dash("no other completed half of its exchanges")] * (len(_columns(campaign)) - len(head))]
    others = (
        f"not from {', '.join(scenario.series.label for scenario in place.unclear)}" if place.unclear else "from all"
    )
    return [
        *head,
        series_cell(after.series, f"#{after.anchor}"),
        estimate(ratio(campaign, after, first), COUNT, "the next one's lies above the time-out"),
        grade_cell(quality(campaign, after, first)),
        Cell(others, tone=None if place.unclear else "clear"),
    ]
