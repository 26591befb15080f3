"""What `compare` finds of two campaigns of one scenario: alarms where the truth is on the margin, and its power."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from tests.simulations.shapes import TIME_OUT_S, Shape

from wirelab.schema.changes import MeasureChange
from wirelab.stats.compare.changes import each_level, judged, measure_of
from wirelab.stats.compare.scenarios import Side
from wirelab.stats.estimate.sample import Sample

MARGINS = (0.0, 0.05)
EFFECTS = (1.1, 1.2, 1.5, 2.0)
"""How many times as long, or as many, for the power at the last margin."""
MOST_ALARMS = 0.06
BYTES, FRAME_BYTES = 3000, 1500
ROUND_TRIPS, SPLIT_SHARE = 3.5, 0.1
STATISTICS = {
    "median": ("median", ("end-to-end-delay", "s")),
    "p95": ("p95", ("end-to-end-delay", "s")),
    "bytes": ("mean", ("wire-bytes", "bytes")),
    "round trips": ("mean", ("round-trips", "")),
}
CASES = [*((1 + margin, margin) for margin in MARGINS), *((effect, MARGINS[-1]) for effect in EFFECTS)]
"""Truths with margins: on the margin first, then beyond it."""


@dataclass
class ChangeCell:
    """How often a statistic is found larger or smaller, by the truth and the margin; `any` is of the whole family."""

    shape: Shape
    trials: int
    asked: int = 0
    alarms: dict[tuple[str, float, float], int] = field(default_factory=dict)

    def __add__(self, other: ChangeCell) -> ChangeCell:
        """The counts of two parts of one cell."""
        keys = {**self.alarms, **other.alarms}
        alarms = {key: self.alarms.get(key, 0) + other.alarms.get(key, 0) for key in keys}
        return replace(self, asked=self.asked + other.asked, alarms=alarms)

    def share(self, statistic: str, truth: float, margin: float) -> float:
        """Of all pairs of campaigns."""
        return self.alarms.get((statistic, truth, margin), 0) / self.asked


def simulate_changes(shape: Shape, trials: int, repetitions: int, part: int) -> ChangeCell:
    """The same seed gives the same counts."""
    cell = ChangeCell(shape, trials)
    rng = np.random.default_rng(zlib.crc32(f"{shape.name} {trials} changes {part}".encode()))
    for _ in range(repetitions):
        cell.asked += 1
        old, new = (_sides(shape, trials, rng) for _ in range(2))
        for truth, margin in CASES:
            found = _judged(old, {name: _scaled(side, truth) for name, side in new.items()}, margin)
            changed = {name for name, each in found.items() if each["change"] in {"larger", "smaller"}}
            for name in [*changed, *(["any"] if changed else [])]:
                cell.alarms[name, truth, margin] = cell.alarms.get((name, truth, margin), 0) + 1
    return cell


def _sides(shape: Shape, trials: int, rng: np.random.Generator) -> dict[str, Side]:
    """A campaign: delays; bytes, of a frame more where packets were lost; round trips, of one more there, and of half a
    one more where an answer came in two.
    """
    delays = shape.delays(trials, shape.exchanges, rng)
    lost = rng.binomial(4, rng.beta(5, 45, (trials, 1)), delays.shape)
    sizes = Sample.of(BYTES + FRAME_BYTES * lost)
    turns = Sample.of(ROUND_TRIPS + lost + (rng.random(delays.shape) < SPLIT_SHARE) / 2)
    delay = Side.of("", Shape.cut(delays), rng, TIME_OUT_S, "p95")
    return {"median": delay, "p95": delay, "bytes": Side.of("", sizes, rng), "round trips": Side.of("", turns, rng)}


def _scaled(side: Side, times: float) -> Side:
    """A campaign in which all is so many times as much."""
    draws = (None if each is None else each.times(times) for each in (side.mean, side.median, side.percentile))
    mean, median, percentile = draws
    return replace(side, mean=mean, median=median, percentile=percentile)


def _judged(old: dict[str, Side], new: dict[str, Side], margin: float) -> dict[str, MeasureChange]:
    measures = {name: measure_of(of, metric, (old[name], new[name])) for name, (of, metric) in STATISTICS.items()}
    level = each_level(len(measures))
    return {name: judged(measure, margin, level) for name, measure in measures.items()}


def change_table(cells: Sequence[ChangeCell]) -> str:
    """Alarms where the truth is on the margin, then the power."""
    head = ["truth", "margin", "statistic", *(cell.shape.name for cell in cells)]
    rows = []
    for truth, margin in CASES:
        for name in (*STATISTICS, "any"):
            shares = [f"{cell.share(name, truth, margin):.1%}" for cell in cells]
            rows.append([f"{truth:g} times", f"{margin:.0%}", name, *shares])
    lines = [head, ["---"] * len(head), *rows]
    first = (
        f"### `compare`, {cells[0].trials} trials a side\n\n"
        f"In {cells[0].asked:,} simulated pairs of campaigns, how often a statistic is found larger or smaller.\n"
        "The statistics share one error rate of 5 %; `any` is of all of them.\n"
        "Where the truth is on the margin, whatever is found is a false alarm:"
    )
    return first + "\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def changes_beyond_limits(cell: ChangeCell) -> Iterator[str]:
    """False alarms of the family that are too many."""
    for margin in MARGINS:
        share = cell.share("any", 1 + margin, margin)
        if share > MOST_ALARMS:
            yield f"{cell.shape.name}: compare finds a change on the margin of {margin:.0%} in {share:.1%}"
