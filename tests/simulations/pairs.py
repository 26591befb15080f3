"""Comparisons of scenarios whose trials share a replicate: what pairs of trials cover, and how wide they are."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from tests.simulations.cells import EFFECT, RESAMPLES, Count, side_of
from tests.simulations.shapes import Shape

from wirelab.stats.compare.scenarios import Ratio, Side, pairs_of, ratio
from wirelab.stats.estimate.model import LEVEL

STATISTICS: tuple[Ratio, ...] = ("mean", "median")
ALIKE = 0.7
"""Of the exchanges that go together."""


@dataclass
class PairCell:
    """Counts by statistic, of comparisons where nothing differs: their intervals, and those that find an effect."""

    shape: Shape
    trials: int
    together: bool
    covered: dict[Ratio, Count] = field(default_factory=dict)
    found: dict[Ratio, Count] = field(default_factory=dict)
    widths: dict[Ratio, list[float]] = field(default_factory=dict)
    paired: int = 0
    asked: int = 0

    def __add__(self, other: PairCell) -> PairCell:
        """The counts of two parts of one cell."""
        return replace(
            self,
            covered={name: count + other.covered[name] for name, count in self.covered.items()},
            found={name: count + other.found[name] for name, count in self.found.items()},
            widths={name: widths + other.widths[name] for name, widths in self.widths.items()},
            paired=self.paired + other.paired,
            asked=self.asked + other.asked,
        )

    def narrower(self, of: Ratio) -> float:
        """The geometric mean of the widths of the intervals in force by those of unpaired ones, both of logarithms."""
        return float(np.exp(np.mean(np.log(self.widths[of]))))


def simulate_pairs(shape: Shape, trials: int, repetitions: int, part: int, *, together: bool) -> PairCell:
    """The same seed gives the same counts."""
    cell = PairCell(shape, trials, together)
    rng = np.random.default_rng(zlib.crc32(f"{shape.name} {trials} pairs {part} {together}".encode()))
    for _ in range(repetitions):
        a, b = _sides(shape, trials, rng, together=together)
        pairs = pairs_of(a, b, RESAMPLES)
        cell.paired += pairs is not None
        cell.asked += 1
        for of in STATISTICS:
            ours, unpaired = ratio(of, a, b, LEVEL, pairs), ratio(of, a, b, LEVEL, None)
            cell.covered.setdefault(of, Count()).add(ours, 1.0)
            cell.found.setdefault(of, Count()).add(ours, EFFECT)
            ends = [each for estimate in (ours, unpaired) for each in (estimate.low, estimate.high)]
            if all(ends) and pairs is not None:
                low, high, first, last = (float(np.log(end or np.nan)) for end in ends)
                cell.widths.setdefault(of, []).append((high - low) / (last - first))
            else:
                cell.widths.setdefault(of, []).append(1.0)
    return cell


def _sides(shape: Shape, trials: int, rng: np.random.Generator, *, together: bool) -> Sequence[Side]:
    """Two scenarios of which nothing differs. Together, most exchanges of a trial go alike in both."""
    first = shape.delays(trials, shape.exchanges, rng)
    second = shape.delays(trials, shape.exchanges, rng)
    if together:
        same = rng.random(first.shape) < ALIKE
        second = np.where(same, first * np.exp(rng.normal(0, 0.1, first.shape)), second)
    return [replace(side_of(shape.cut(rows), rng), replicates=tuple(range(trials))) for rows in (first, second)]
