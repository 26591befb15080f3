"""Numbers whose truth is known, where a campaign's would stand."""

from __future__ import annotations

import numpy as np

from wirelab.claims.judgement import TimeOuts
from wirelab.claims.part import Levels
from wirelab.stats.estimate.bootstrap import Draws
from wirelab.stats.estimate.proportion import Share


class Noted:
    """What each source notes of the scenarios that it was asked for, which have their keys as names."""

    words = "measured"

    def __init__(self) -> None:
        self.touched: dict[str, int] = {}
        self.absent: dict[str, str] = {}
        self.few: dict[str, str] = {}
        self.time_outs: dict[tuple[str, bool], TimeOuts] = {}
        self.unusable: dict[str, str] = {}
        self.waited: dict[str, float] = {}
        self.disturbed: dict[str, tuple[int, int]] = {}
        self.without: str | None = None

    def name_of(self, scenario: str) -> str:
        return scenario


class Fake(Noted):
    """A mean for each combination of levels, with a relative standard error."""

    def __init__(self, means: dict[tuple[str, ...], float], error: float = 0.01, df: float = 1000) -> None:
        self.df = df
        super().__init__()
        self.means = {frozenset(levels): value for levels, value in means.items()}
        self.error = error
        self.unknown = self.bound = self.why = ""
        self.ended: dict[frozenset[str], list[tuple[int, int]]] = {}
        self.horizons_s: set[float | None] = set()

    def unanswered(self, levels: Levels) -> list[tuple[int, int]] | None:
        return self.ended.get(frozenset(levels.values()))

    def beyond(self, metric: str, bound_s: float, levels: Levels) -> Share | None:
        key = frozenset(levels.values())
        if key not in self.ended:
            self.absent[" ".join(levels.values())] = self.why
            return None
        late, sizes = zip(*self.ended[key], strict=True)
        self.touched["/".join(sorted(key))] = sum(sizes)
        known = self.unknown not in key
        return Share(late, sizes, (known, known))

    def draws(self, metric: str, statistic: str, levels: Levels, horizon_s: float | None = None) -> Draws | None:
        self.horizons_s.add(horizon_s)
        key = frozenset(levels.values())
        value = self.means.get(key | {metric}, self.means.get(key))
        if value is None:
            self.absent[" ".join(levels.values())] = self.why
            return None
        rng = np.random.default_rng(sorted(map(ord, "".join(sorted(key)) + metric)))
        self.touched["/".join(sorted(key))] = 100
        tells = (self.unknown not in key, not {self.unknown, self.bound} & key)
        return Draws(value, value * np.exp(rng.normal(0, self.error, 4000)), self.df, 100, tells)
