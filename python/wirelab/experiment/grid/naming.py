"""Names of scenarios, for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from wirelab.experiment.grid.points import Factor
from wirelab.experiment.grid.scenario import label, shorten


@dataclass(frozen=True)
class Naming:
    """Names the scenarios of one experiment."""

    factors: tuple[Factor, ...]

    def name(self, levels: Mapping[str, Any]) -> str:
        """The levels that tell scenarios apart, for people: a factor's level alone, unless another factor has one that
        looks alike; that and a choice's with its path. An interpretation that sets several levels shows by its name.
        """
        whole = [
            name for name, own in self._interpretations.items()
            if len(own) > 1 and all(levels.get(path) == level for path, level in own.items())
        ]  # fmt: skip
        of_whole = {path for name in whole for path in self._interpretations[name]}
        words: dict[str, None] = {}
        for factor in self.factors:
            if factor.path not in levels or factor.path in of_whole:
                continue
            level = levels[factor.path]
            if factor.table == "factors":
                if factor.path == "protocol" or len(factor.levels) > 1:
                    word = label(factor.path, level)
                    words[f"{factor.path} {word}" if factor.path in self._alike else word] = None
                continue
            own = factor.interpretation is None or factor.path in self._interpretations.get(factor.interpretation, {})
            if own and level in map(shorten, factor.levels):
                words[f"{factor.path} {label(factor.path, level)}"] = None
        return ", ".join([*words, *whole])

    @cached_property
    def _interpretations(self) -> dict[str, dict[str, Any]]:
        """What each interpretation sets to another level than the base."""
        base = {factor.path: factor.levels for factor in self.factors if factor.table == "factors"}
        found: dict[str, dict[str, Any]] = {}
        for factor in self.factors:
            if factor.interpretation is not None and factor.levels != base.get(factor.path):
                found.setdefault(factor.interpretation, {})[factor.path] = shorten(factor.levels[0])
        return found

    @cached_property
    def _alike(self) -> frozenset[str]:
        """Paths of factors with a level that looks like one of another factor; a protocol shows by its place."""
        paths: dict[str, set[str]] = {}
        for factor in self.factors:
            if factor.table == "factors" and (factor.path == "protocol" or len(factor.levels) > 1):
                for level in factor.levels:
                    paths.setdefault(label(factor.path, shorten(level)), set()).add(factor.path)
        return frozenset(path for alike in paths.values() if len(alike) > 1 for path in alike - {"protocol"})
