"""The simulations in small: they print their figures, and only gross errors fail. `make nightly` has the limits."""

from __future__ import annotations

import pytest
from tests.simulations.cells import simulate
from tests.simulations.changes import STATISTICS as COMPARED
from tests.simulations.changes import change_table, simulate_changes
from tests.simulations.pairs import STATISTICS, simulate_pairs
from tests.simulations.shapes import SHAPES, Shape
from tests.simulations.tables import is_labelled, pair_tables, tables

REPETITIONS = 60


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
def test_intervals_are_not_grossly_wrong(shape: Shape) -> None:
    cell = simulate(shape, 10, REPETITIONS)
    print(tables([cell], REPETITIONS))
    for name, count in cell.coverage.items():
        if count.share is not None and not is_labelled(cell, name):
            assert count.share > 0.85, name
    for name, count in cell.same.items():
        if count.share is not None:
            assert 1 - count.share < 0.2, name
    assert cell.same.keys() == cell.longer.keys()


@pytest.mark.parametrize("together", [False, True])
def test_pairs_of_trials_are_not_grossly_wrong(*, together: bool) -> None:
    cell = simulate_pairs(SHAPES[1], 10, REPETITIONS, 0, together=together)
    print(pair_tables([cell]))
    assert all(count.share is not None and count.share > 0.85 for count in cell.covered.values())
    assert (cell.paired > cell.asked / 3) == together
    assert all(not together or cell.narrower(of) < 1 for of in STATISTICS)


@pytest.mark.parametrize("shape", SHAPES[:3], ids=[shape.name for shape in SHAPES[:3]])
def test_comparisons_of_campaigns_are_not_grossly_wrong(shape: Shape) -> None:
    cell = simulate_changes(shape, 10, REPETITIONS, 0)
    print(change_table([cell]))
    for margin in (0.0, 0.05):
        assert cell.share("any", 1 + margin, margin) < 0.2
    assert all(cell.share(name, 2.0, 0.05) >= cell.share(name, 1.05, 0.05) for name in COMPARED)
    assert cell.share("median", 2.0, 0.05) > 0.9


def test_the_same_seed_gives_the_same_counts() -> None:
    assert simulate(SHAPES[0], 10, 5).coverage == simulate(SHAPES[0], 10, 5).coverage
