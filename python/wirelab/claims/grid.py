"""The grid of choices of a file of claims, and which of its points each verdict of a campaign belongs to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from wirelab.claims.fitted import fitted
from wirelab.claims.interpretations import InterpretationTable, base_levels, primary_of
from wirelab.claims.load import Claims
from wirelab.claims.model import Claim
from wirelab.claims.over_grid import FITTED, Point, over_grid
from wirelab.claims.part import Levels, as_compared, selectors
from wirelab.claims.samples import same_level
from wirelab.claims.settable import UNSET
from wirelab.schema.plan import ExperimentRecord, Level
from wirelab.schema.verdicts import ChoiceVerdict, GridRecord, OverGrid, Standing

AS_RUN = "as run"
"""The level of a choice that a campaign does not name."""
FACTORS = {"links": "link", "protocols": "protocol"}
"""Tables of an experiment whose keys are levels of a factor."""


@dataclass(frozen=True)
class Grid:
    """The choices of `claims`. Where a campaign varies a choice, and a scenario has no level of it, that is the first.
    A campaign that does not vary it may run anything, unless `sets` says which level (`--set PATH=LEVEL`).
    """

    claims: Claims
    varied: Collection[str] = ()
    sets: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, claims: Claims, planned: ExperimentRecord) -> Grid:
        """With what a campaign varies, and the one level that its command line sets of other paths."""
        sets = {path: str(levels[0]) for path, levels in planned.sets.items() if len(levels) == 1}
        return cls(claims, {*planned.factors, *planned.choices}, sets)

    def record(self) -> GridRecord:
        """As `verdicts.json` has it."""
        file, leading = self.claims.file, primary_of(self.claims.file)
        return {
            "frozen": None if file.frozen is None else {
                "digest": file.frozen.digest, "at": file.frozen.at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            },
            "primary": None if leading is None else leading.name,
            "choices": [
                {
                    "path": each.path, "title": each.title, "levels": each.levels,
                    "after_the_fact": each.after_the_fact is not None,
                }
                for each in file.choice
            ],
            "interpretations": [
                {
                    "name": each.name, "title": each.title, "basis": each.basis, "used": len(each.used),
                    "levels": self._whole({**base_levels(self.claims.file), **each.levels}),
                    "used_claims": each.used_claims,
                    "after_the_fact": each.after_the_fact is not None,
                }
                for each in file.interpretation
            ],
        }  # fmt: skip

    def of_claim(self, claim: Claim, rows: Sequence[ChoiceVerdict]) -> OverGrid | None:
        """A claim over the points of `rows`; None if there is one point and no choice is declared."""
        if len(rows) < 2 and not self._choices():
            return None
        return self.over(claim, _distinct(self.points(claim, rows)))

    def over(self, claim: Claim, points: Sequence[Point]) -> OverGrid:
        """A claim over points, of one campaign or of several."""
        choices, paths = self._choices(), self.paths(claim)
        standings: dict[str, Standing | None] = {
            each.name: FITTED if fitted(claim, each, self.claims) else self._at(points, each, paths)
            for each in self.claims.file.interpretation
        }
        return over_grid(points, prod(len(choices[path]) for path in paths) if choices else None, standings)

    def points(self, claim: Claim, rows: Sequence[ChoiceVerdict]) -> list[Point]:
        """The point of each row."""
        choices, paths = self._choices(), self.paths(claim)
        named = {each.name: (each, fitted(claim, each, self.claims)) for each in self.claims.file.interpretation}
        depends = [
            {path: str(level) for path, level in row["levels"].items() if path in paths or path not in choices}
            for row in rows
        ]
        places = _filled([self._place(levels, paths) for levels in depends])
        known = {path: choices.get(path, [level]) for path, level in places[0].items()} if choices else {}
        return [
            Point(
                levels=levels,
                verdict=row["verdict"],
                by_rule=row.get("under_published_rule"),
                effect=None if (ours := row.get("ours")) is None else ours["point"],
                missing=row["missing"],
                fitted=any(by_fit and self._is_at(levels, each, paths) for each, by_fit in named.values()),
                outside=any(levels[path] not in (*mine, AS_RUN) for path, mine in known.items()),
            )
            for levels, row in zip(places, rows, strict=True)
        ]

    def paths(self, claim: Claim) -> list[str]:
        """Paths of the choices that a claim depends on. Open metrics change their meaning together, and the first of
        them names the point. A choice whose levels the claim itself compares is none: the claim is one at all of them.
        Neither is a choice of a link or a protocol that no part of the claim names.
        """
        own = _compared(claim)
        open_metrics = [name for name, meant in self.claims.file.metrics.items() if len(meant) > 1]
        ambiguous = any(name in open_metrics for part in claim.parts for name in part.metric_names())
        naming = open_metrics[:1] if ambiguous else []
        paths = [path for path in self._choices() if path not in open_metrics or path in naming]
        return [path for path in paths if path not in own and _reaches(path, claim)]

    def place(self, levels: Mapping[str, Level]) -> Levels:
        """A point of a campaign, with a level for each choice that is not of a metric."""
        paths = [path for path in self._choices() if path not in self.claims.file.metrics]
        return self._place({path: str(level) for path, level in levels.items()}, paths)

    def stands_at(self, place: Mapping[str, str], interpretation: InterpretationTable) -> bool:
        """Whether a place is at an interpretation."""
        return self._is_at(place, interpretation, [path for path in self._choices() if path in place])

    def _choices(self) -> dict[str, list[str]]:
        return {each.path: each.levels for each in self.claims.file.choice}

    def choice_at(
        self, interpretation: InterpretationTable, choices: Sequence[Mapping[str, Level]]
    ) -> Mapping[str, Level] | None:
        """The one of a campaign's combinations of levels that is at an interpretation; None if none is."""
        paths = [each.path for each in self.claims.file.choice if each.path not in self.claims.file.metrics]
        for choice in choices:
            place = self._place({path: str(level) for path, level in choice.items()}, paths)
            if self._is_at(place, interpretation, paths):
                return choice
        return None

    def _whole(self, levels: Levels) -> Levels:
        """Levels as the choices write them: `2ms` is `2 ms`."""
        known = {each.path: each.levels for each in self.claims.file.choice}
        return {
            path: next((each for each in known.get(path, []) if same_level(each, level)), level)
            for path, level in levels.items()
        }

    def _place(self, levels: Levels, paths: Sequence[str]) -> Levels:
        """A point of a campaign, with a level for each choice that the claim depends on."""
        unnamed = {
            path: self.sets.get(path, level if path in self.varied or level == UNSET else AS_RUN)
            for path, level in base_levels(self.claims.file).items()
            if path in paths
        }
        return self._whole({**unnamed, **levels})

    def _is_at(self, levels: Mapping[str, str], interpretation: InterpretationTable, paths: Sequence[str]) -> bool:
        there = {**base_levels(self.claims.file), **interpretation.levels}
        return all(levels[path] == there[path] for path in paths)

    def _at(
        self, points: Sequence[Point], interpretation: InterpretationTable, paths: Sequence[str]
    ) -> Standing | None:
        here = (each for each in points if not each.outside and self._is_at(each.levels, interpretation, paths))
        return next((point.standing for point in here), None)


def _filled(places: Sequence[Levels]) -> list[Levels]:
    """Places with the same paths: one that some places lack is as run there."""
    paths = dict.fromkeys(path for place in places for path in place)
    return [{path: place.get(path, AS_RUN) for path in paths} for place in places]


def _compared(claim: Claim) -> set[str]:
    """Paths of which each part that decides a claim names levels."""
    named = [
        {path for _, levels in selectors(part) for path, _ in levels} for part in claim.parts if part.decides
    ]  # fmt: skip
    return set[str].intersection(*named) if named else set()


def _reaches(path: str, claim: Claim) -> bool:
    """Whether a choice is in force in the scenarios of a claim: `links.NAME` and `protocols.NAME` hold for those of
    this link or protocol alone. A part that names neither has scenarios of each.
    """
    table, _, rest = path.partition(".")
    factor, name = FACTORS.get(table), rest.partition(".")[0]
    if factor is None:
        return True
    named = [
        {as_compared(level) for _, levels in selectors(part) for each, level in levels if each == factor}
        for part in claim.parts
    ]
    return any(not levels or as_compared(name) in levels for levels in named)


def _distinct(points: Sequence[Point]) -> list[Point]:
    """Each point once: that which was run, of several the first."""
    best: dict[frozenset[tuple[str, str]], Point] = {}
    for point in points:
        at = frozenset(point.levels.items())
        if at not in best or (best[at].missing and not point.missing):
            best[at] = point
    return [*best.values()]
