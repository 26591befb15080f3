"""Which of many combinations of a test's parameters are always run, and which only at night."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import pytest


def nightly(*values: object) -> Any:
    """A case for `make nightly`."""
    return pytest.param(*values, marks=pytest.mark.nightly)


def covering(cases: Iterable[tuple[Hashable, ...]], *together: tuple[int, ...]) -> list[Any]:
    """Of these cases, always those that bring something new, the others at night.

    New is a value at one of the given places, or at several of them together: `(0,), (1, 2)` runs each first value, and
    each pair of the second and the third, at least once.
    """
    seen: set[tuple[tuple[int, ...], tuple[Hashable, ...]]] = set()
    chosen = []
    for case in cases:
        brings = {(places, tuple(case[place] for place in places)) for places in together}
        chosen.append(nightly(*case) if brings <= seen else pytest.param(*case))
        seen |= brings
    return chosen
