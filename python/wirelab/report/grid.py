"""The grid of a plan, cut for the page: groups of choices, and conditions within each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wirelab.report.model import Condition, Group, Levels, Scenario, level_words, makes_row
from wirelab.schema.plan import Level, Plan
from wirelab.stats.compare.scenarios import is_implementation

Point = Mapping[str, Level]
Levelled = dict[Levels, dict[Levels, list[Scenario]]]
MOST_MARKS = 48
"""Rows that fit a chart; with more, factors split the charts."""
LONGEST = 60
"""Letters that fit a row's label."""


@dataclass(frozen=True)
class Factors:
    """Which factors vary, and which of these are choices: those the experiment calls so and those that make no row.

    The implementation makes a series, as the protocol does, unless the experiment calls it a choice. Any other factor
    makes rows too, in the experiment's order, as long as a chart shows them well and every scenario has one row.
    """

    varied: frozenset[str]
    choices: tuple[str, ...]
    constant: Levels
    compared: frozenset[str] = frozenset()

    @classmethod
    def of(cls, plan: Plan, scenarios: Sequence[Scenario]) -> Factors:
        """From every grid point of each scenario."""
        points = [point for scenario in scenarios for point in scenario.points]
        paths = dict.fromkeys(path for point in points for path in point)
        declared = plan.experiment.choices
        varied = frozenset(path for path in paths if len({str(point.get(path)) for point in points}) > 1)
        left = [path for path in paths if path in varied and path not in declared and not _makes_series(path)]
        divide = set(left) - _rows(left, points, scenarios)
        chosen = tuple(path for path in paths if path in varied and (path in declared or path in divide))
        first = points[0] if points else {}
        constant = tuple(
            (path, str(level)) for path, level in first.items() if path not in varied and path != "protocol"
        )
        return cls(varied, chosen, constant)

    def without(self, path: str) -> Factors:
        """The same, with a factor that separates no conditions: its levels are compared like protocols."""
        return replace(
            self, compared=self.compared | {path}, choices=tuple(each for each in self.choices if each != path)
        )

    def groups(self, scenarios: Sequence[Scenario]) -> tuple[Group, ...]:
        """The first group is the base; the others follow in the order of the choices."""
        found: Levelled = {}
        for scenario in scenarios:
            for point in scenario.points:
                row = found.setdefault(self._choices(point), {}).setdefault(self._row(point), [])
                if scenario not in row:
                    row.append(scenario)
        order = {scenario.series.label: i for i, scenario in reversed(list(enumerate(scenarios)))}
        seen: set[str] = set()
        groups = []
        base = next(iter(found), ())
        for choices in sorted(found, key=lambda choices: self._distance(choices, base)):
            rows = found[choices]
            keys = {scenario.key for row in rows.values() for scenario in row}
            conditions = tuple(
                Condition(self._named(levels), tuple(sorted(row, key=lambda s: order[s.series.label])))
                for levels, row in rows.items()
            )
            groups.append(Group(self._title(choices, base), conditions, frozenset(keys - seen)))
            seen |= keys
        return tuple(groups)

    def _distance(self, choices: Levels, base: Levels) -> tuple[int, ...]:
        """The base first, then points that differ from it in one choice, in the order of the choices."""
        return tuple(self.choices.index(path) for path, level in choices if (path, level) not in base)

    def _choices(self, point: Point) -> Levels:
        return tuple((path, str(point[path])) for path in self.choices if path in point)

    def _row(self, point: Point) -> Levels:
        apart = {*self.choices, *self.compared}
        return tuple((path, str(point[path])) for path in point if path not in apart and not _makes_series(path))

    def _named(self, levels: Levels) -> str:
        point = dict(levels)
        return _label(point, [path for path in point if path in self.varied]) or point.get("link", "all")

    def _title(self, choices: Levels, base: Levels) -> str:
        """The title of a group; later groups name only their difference to the first."""
        differing = [pair for pair in choices if pair not in base]
        return ", ".join(level_words(*pair) for pair in (differing or choices))


def _rows(paths: Sequence[str], points: Sequence[Point], scenarios: Sequence[Scenario]) -> set[str]:
    """The paths that make rows of one chart."""
    rows = {path for path in paths if makes_row(path)}
    series = len({scenario.series.label for scenario in scenarios})
    for path in paths:
        touches_all = all(len({str(point.get(path)) for point in each.points}) == 1 for each in scenarios)
        labels = {_label(point, [other for other in paths if other in rows or other == path]) for point in points}
        if touches_all and len(labels) * series <= MOST_MARKS and max(map(len, labels)) <= LONGEST:
            rows.add(path)
    return rows


def _label(point: Point, paths: Sequence[str]) -> str:
    """Levels of a point in words, the link last."""
    ordered = sorted(paths, key=lambda path: path == "link")
    return " · ".join(level_words(path, str(point[path])) for path in ordered if path in point)


def _makes_series(path: str) -> bool:
    return path == "protocol" or is_implementation(path)
