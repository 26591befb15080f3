"""A campaign's scenarios by their points in the grid, with their samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from wirelab.claims.part import as_compared
from wirelab.schema.plan import Level
from wirelab.stats.dataset import Dataset, points
from wirelab.stats.estimate.sample import Sample
from wirelab.stats.settings_in_force import not_in_force, settings_in_force

Point = Mapping[str, Level]


@dataclass
class Samples:
    """A campaign's scenarios by their points in the grid, and their samples, read once. `medians` says whether any
    claim uses them.
    """

    dataset: Dataset
    grid: frozenset[str]
    medians: bool
    _points: dict[frozenset[tuple[str, str]], str] = field(default_factory=dict)
    _samples: dict[str, dict[str, Sample]] = field(default_factory=dict)
    _undisturbed: dict[str, dict[str, Sample]] = field(default_factory=dict)
    _horizons: dict[str, dict[str, float | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for scenario in self.dataset.scenarios:
            for point in points(scenario):
                self._points[point_key(point)] = scenario.key

    def scenario(self, point: Point) -> str | None:
        """Key of the scenario at exactly these levels."""
        return self._points.get(point_key(point))

    @cached_property
    def not_in_force(self) -> dict[str, str]:
        """By key, for each scenario that does not match its levels: the setting that was not in force, and why."""
        rows = settings_in_force(self.dataset)
        whys = ((one, not_in_force(rows.get(one.key, ()))) for one in self.dataset.scenarios)
        return {one.key: f"a setting was not in force: {one.name}: {why}" for one, why in whys if why}

    def of(self, scenario: str) -> dict[str, Sample]:
        """The scenario's samples by metric."""
        if scenario not in self._samples:
            measured = list(self.dataset.measured(scenario))
            self._samples[scenario] = {one.metric.name: one.sample for one in measured}
            self._horizons[scenario] = {one.metric.name: one.horizon_s for one in measured}
            self._undisturbed[scenario] = {
                one.metric.name: one.undisturbed for one in measured if one.undisturbed is not None
            }
        return self._samples[scenario]

    def calm(self, scenario: str) -> dict[str, Sample]:
        """The same without the exchanges that the emulator disturbed, of metrics with any."""
        self.of(scenario)
        return self._undisturbed[scenario]

    def horizon_s(self, scenario: str, metric: str) -> float | None:
        """Where time-outs count in the metric's mean; None if a time-out says nothing about its value."""
        self.of(scenario)
        return self._horizons[scenario].get(metric)

    def choices(self) -> list[dict[str, Level]]:
        """Every combination of levels outside the publication's grid, in plan order."""
        found: dict[frozenset[tuple[str, str]], dict[str, Level]] = {}
        for scenario in self.dataset.scenarios:
            for point in points(scenario):
                choice = {path: level for path, level in point.items() if path not in self.grid}
                found.setdefault(point_key(choice), choice)
        return list(found.values())


def point_key(point: Point) -> frozenset[tuple[str, str]]:
    """What a point has in common with others at the same levels."""
    return frozenset((path, as_compared(level)) for path, level in point.items())


def same_level(one: object, other: object) -> bool:
    """Whether two levels as written are the same."""
    return as_compared(one) == as_compared(other)
