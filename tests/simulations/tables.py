"""The counts of simulations as tables, and the limits that they must keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.simulations.cells import EFFECT, Cell, Count
from tests.simulations.pairs import STATISTICS, PairCell

from wirelab.stats.compare.scenarios import Ratio

LEAST, MOST = 0.93, 0.97
MOST_FALSE = 0.06
DESCRIPTIVE = frozenset({"standard deviation"})
"""Estimators whose intervals are labelled: they cover too rarely under loss."""

OF_ONE_VALUE = frozenset({"restricted mean", "ratio of restricted means"})
"""Labelled where each trial has one value."""


def tables(cells: Sequence[Cell], repetitions: int) -> str:
    """Coverage, and false positives with the power next to them."""
    found = [f"In {repetitions:,} simulations each."]
    for trials in dict.fromkeys(cell.trials for cell in cells):
        found += _of(trials, [cell for cell in cells if cell.trials == trials])
    return "\n\n".join(found)


def _of(trials: int, cells: Sequence[Cell]) -> list[str]:
    heads = [cell.shape.name for cell in cells]
    covered = [[name, *(_covered(cell.coverage[name]) for cell in cells)] for name in dict.fromkeys(cells[0].coverage)]
    found = [
        [name, *(_found(cell.same[name], cell.longer[name]) for cell in cells)] for name in dict.fromkeys(cells[0].same)
    ]
    effect = f"A difference found where nothing differs, and (in brackets) where delays are {EFFECT:g} times as long:"
    return [
        f"### {trials} trials", "Coverage of intervals at 95 %:", _table(["estimator", *heads], covered), effect,
        _table(["comparison", *heads], found),
    ]  # fmt: skip


def beyond_limits(cell: Cell) -> Iterator[str]:
    """What is beyond the limits and has no label."""
    where = f"{cell.shape.name}, {cell.trials} trials"
    for name, count in cell.coverage.items():
        if (share := count.share) is not None and share < LEAST and not is_labelled(cell, name):
            yield f"{where}: intervals of the {name} cover {share:.1%}"
    for name, count in cell.same.items():
        if (share := count.share) is not None and 1 - share > MOST_FALSE and not is_labelled(cell, name):
            yield f"{where}: the {name} finds a difference in {1 - share:.1%}"


def within(cell: Cell) -> int:
    """How many estimators and comparisons keep the limits."""
    return len(cell.coverage) + len(cell.same) - len(list(beyond_limits(cell)))


def is_labelled(cell: Cell, name: str) -> bool:
    """Whether a report says that these intervals are descriptive."""
    return name in DESCRIPTIVE or (cell.shape.exchanges == 1 and name in OF_ONE_VALUE)


def pair_tables(cells: Sequence[PairCell]) -> str:
    """Ratios of scenarios whose trials share a replicate, with those of unrelated trials."""
    shapes = list(dict.fromkeys(cell.shape.name for cell in cells))
    rows = []
    for together in (False, True):
        mine = [cell for cell in cells if cell.together == together]
        words = "go together" if together else "are unrelated"
        rows.append([f"pairs in force, trials {words}", *(f"{cell.paired / cell.asked:.0%}" for cell in mine)])
        rows += [[f"ratio of {of}s, trials {words}", *(_pair(cell, of) for cell in mine)] for of in STATISTICS]
    head = (
        f"A difference found where nothing differs, (in brackets) where delays are {EFFECT:g} times as long, and the "
        "mean width by that of unpaired intervals.\nPairs of trials are in force if their means correlate:"
    )
    return "\n\n".join([f"### Pairs of {cells[0].trials} trials", head, _table(["comparison", *shapes], rows)])


def pairs_beyond_limits(cell: PairCell) -> Iterator[str]:
    """What is beyond the limits and has no label."""
    words = "together" if cell.together else "unrelated"
    for of, count in cell.covered.items():
        labelled = of == "mean" and cell.shape.exchanges == 1
        if (share := count.share) is not None and 1 - share > MOST_FALSE and not labelled:
            yield f"{cell.shape.name}, {words}: the ratio of {of}s finds a difference in {1 - share:.1%}"


def _pair(cell: PairCell, of: Ratio) -> str:
    return f"{_found(cell.covered[of], cell.found[of])}, {cell.narrower(of):.2f}"


def _covered(count: Count) -> str:
    share = count.share
    if share is None:
        return "not printed"
    mark = "**" if share < LEAST else "*" * (share > MOST)
    given = f" of {count.given / count.asked:.0%}" if count.given < 0.995 * count.asked else ""
    return f"{mark}{share:.1%}{mark}{given}"


def _found(same: Count, longer: Count) -> str:
    if same.share is None:
        return "not printed"
    false, power = 1 - same.share, None if longer.share is None else 1 - longer.share
    mark = "**" * (false > MOST_FALSE)
    return f"{mark}{false:.1%}{mark}{f' ({power:.0%})' if power is not None else ''}"


def _table(head: list[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
