"""`python -m tests.simulations [REPETITIONS] [FILE]`: prints the tables, puts them into FILE, and checks the limits."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.simulations.cells import Cell, every_cell, simulate
from tests.simulations.changes import ChangeCell, change_table, changes_beyond_limits, simulate_changes
from tests.simulations.pairs import PairCell, simulate_pairs
from tests.simulations.tables import beyond_limits, pair_tables, pairs_beyond_limits, tables, within

TRIALS = (10, 30)
BEGIN, END = "<!-- simulated -->", "<!-- end -->"


def main(arguments: list[str]) -> int:
    """The number of cells that are within the limits, for the last line of a part of `make nightly`."""
    repetitions = int(arguments[0]) if arguments else 4000
    made: dict[tuple[int, str], Cell] = {}
    with ProcessPoolExecutor() as pool:
        for cell in pool.map(simulate, *zip(*every_cell(repetitions, TRIALS), strict=True)):
            key = cell.trials, cell.shape.name
            made[key] = made[key] + cell if key in made else cell
            print(f"{cell.shape.name}, {cell.trials} trials: a part is done", file=sys.stderr, flush=True)
        pairs: dict[tuple[int, str, bool], PairCell] = {}
        for together in (False, True):
            simulated = partial(simulate_pairs, together=together)
            for pair in pool.map(simulated, *zip(*every_cell(repetitions, TRIALS[:1]), strict=True)):
                of = pair.trials, pair.shape.name, together
                pairs[of] = pairs[of] + pair if of in pairs else pair
                print(f"{pair.shape.name}, pairs of trials: a part is done", file=sys.stderr, flush=True)
        changes: dict[str, ChangeCell] = {}
        for change in pool.map(simulate_changes, *zip(*every_cell(repetitions // 2, TRIALS[:1]), strict=True)):
            name = change.shape.name
            changes[name] = changes[name] + change if name in changes else change
            print(f"{name}, comparisons of campaigns: a part is done", file=sys.stderr, flush=True)
    cells = sorted(made.values(), key=lambda cell: cell.trials)
    text = "\n\n".join([tables(cells, repetitions), pair_tables([*pairs.values()]), change_table([*changes.values()])])
    print(text)
    if len(arguments) > 1:
        path = Path(arguments[1])
        before, _, rest = path.read_text(encoding="utf-8").partition(BEGIN)
        path.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    wrong = [problem for cell in cells for problem in beyond_limits(cell)]
    wrong += [problem for change in changes.values() for problem in changes_beyond_limits(change)]
    wrong += [problem for pair in pairs.values() for problem in pairs_beyond_limits(pair)]
    print("\n".join(wrong))
    print(f"{sum(within(cell) for cell in cells)} passed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
