"""Verdicts of several campaigns to one for a claim. Which campaign speaks is decided by the exchanges that it
attempted, never by their result. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isfinite

from wirelab.claims.family import reason
from wirelab.claims.forms.from_level import FromLevel
from wirelab.claims.grid import AS_RUN, Grid
from wirelab.claims.interpretations import InterpretationTable
from wirelab.claims.judgement import CONFIRMED, CONTRADICTED, INCONCLUSIVE, all_of
from wirelab.claims.load import Claims
from wirelab.claims.model import Claim
from wirelab.claims.over_grid import DEPENDS, FITTED, Point, range_of
from wirelab.claims.part import Form, Levels, Part, Place
from wirelab.errors import WirelabError
from wirelab.launcher import launched
from wirelab.replicate.effects import PartAt, parts_at
from wirelab.replicate.needed import BY_RULE, bounds_of, needed
from wirelab.replicate.source import Source
from wirelab.schema.host import Clock
from wirelab.schema.replication import Needed, PointVerdict, ReplicatedClaim, ReplicatedPart
from wirelab.schema.verdicts import ChoiceVerdict, ClaimRecord, EffectAt, PartRecord, VerdictQuality
from wirelab.stats.link.grade import GRADES


@dataclass(frozen=True)
class Places:
    """Points that several claims share, each once."""

    levels: list[Levels]

    def index(self, levels: Levels) -> int:
        """The index of a point, which is added if it is new."""
        if levels not in self.levels:
            self.levels.append(levels)
        return self.levels.index(levels)


@dataclass(frozen=True)
class _Candidate:
    """A campaign's verdict at one point."""

    point: Point
    row: ChoiceVerdict
    source: int
    exchanges: float
    n: int

    @property
    def weight(self) -> tuple[bool, float]:
        """What was run speaks before what was not; then the number of exchanges of the claim's scenarios decides."""
        return not self.point.missing, self.exchanges


@dataclass(frozen=True)
class OneClaim:
    """One claim in all campaigns."""

    claims: Claims
    sources: Sequence[Source]
    leading: InterpretationTable | None
    claim: Claim

    def record(self, grid: Grid, places: Places) -> ReplicatedClaim:
        """The claim over all campaigns."""
        candidates = self._candidates()
        firsts = {index: next(each for each in candidates if each.source == index) for index in self._having}
        speaking, at_primary = self._speaking(firsts)
        order = sorted(speaking, key=lambda index: firsts[index].weight, reverse=True)
        if self.claims.file.outlier_rule:
            order = order[:1]
        parts = self._parts(order, firsts)
        self._live(parts, speaking, firsts)
        later = self._later(order, firsts)
        spoke = {part["campaign"] for part in parts}
        same, index = len(spoke) == 1, min(spoke, key=order.index)
        first, point = self._of(index), firsts[index].point
        ratio = next((part for part in parts if part["form"] == "ratio"), parts[0] if len(parts) == 1 else None)
        ours = ratio["ours"] if ratio else first["ours"]
        n = first["n"] if same else sum(part["n"] for part in parts if part["decides"])
        if not same:
            decided = all_of([part["verdict"] for part in parts if part["decides"]])
            missing = decided == INCONCLUSIVE and any(
                part["decides"] and self._lacks(part, firsts[part["campaign"]]) for part in parts
            )
            effect = None if ours is None else ours["point"]
            point = replace(point, verdict=decided, by_rule=None, missing=missing, effect=effect)
        shown = point.standing
        spoken = replace(firsts[index], point=point, row={**firsts[index].row, "ours": ours}, n=n)
        union = self._union(candidates, {self._key(firsts[index]) for index in speaking}, spoken)
        over = grid.over(self.claim, [each.point for each in union])
        self._range(parts, union, spoken)
        verdict = shown if at_primary else None
        record: ReplicatedClaim = {
            "id": self.claim.id,
            "form": first["form"],
            "text": first["text"],
            "verdict": verdict,
            "shown": shown,
            "levels": dict(point.levels),
            "why": first["why"] if same else _reason(parts),
            "paper": ratio["paper"] if ratio else first["paper"],
            "ours": ours,
            "n": n,
            "link": first["link"] if same else _worst(parts),
            "parts": [*parts, *later],
            "over_grid": over if self.claims.file.choice or len(union) > 1 else None,
            "points": [_point(each, places) for each in union],
            "published": first["published"],
            "contradiction": first["contradiction"],
            "needed": self._needed(parts, point) if shown in {INCONCLUSIVE, DEPENDS} else None,
        }
        if point.by_rule is not None and shown not in {None, FITTED}:
            record["verdicts"] = [point.verdict, point.by_rule]
        return record

    def _needed(self, parts: Sequence[ReplicatedPart], point: Point) -> Needed:
        """What would decide it. More values do not, if the outlier rule has already decided otherwise."""
        found = needed(self._forms, parts, self.sources, self.claims.file.factor)
        would = {CONFIRMED: "would confirm", CONTRADICTED: "would contradict"}
        if found["n"] is None or point.by_rule not in would or would[point.by_rule] in found["why"]:
            return found
        return {"n": None, "hours": None, "why": BY_RULE}

    @cached_property
    def _forms(self) -> list[Form]:
        """The parts that need one decision each, as they were judged."""
        return [part for written in self.claim.parts for part in written.expand()]

    @cached_property
    def _later_forms(self) -> list[Form]:
        """The same of parts that were written later, which stand behind them."""
        return [part for written in self.claim.later for part in written.expand()]

    @cached_property
    def _having(self) -> list[int]:
        """Campaigns that were judged by the claim as it stands: what was written later may be missing in some."""
        judged = [{each["id"]: each for each in source.verdicts["claims"]} for source in self.sources]
        least, later = len(self._forms), len(self._later_forms)
        found = [
            index for index, claims in enumerate(judged)
            if (own := claims.get(self.claim.id)) is not None and least <= len(_parts_of(own)) <= least + later
        ]  # fmt: skip
        if not found:
            names = " ".join(source.summary["name"] for source in self.sources)
            what = f"no campaign was judged by claim {self.claim.id} of {self.claims.name}"
            raise WirelabError(what, hint=f"{launched('analyze')} each anew: {names}")
        return found

    def _of(self, source: int) -> ClaimRecord:
        return next(each for each in self.sources[source].verdicts["claims"] if each["id"] == self.claim.id)

    def _parts_at(self, source: int, row: ChoiceVerdict) -> list[PartAt]:
        """Each part in a campaign at the levels of one of its rows."""
        known = (source, repr(sorted(row["levels"].items())))
        if known not in self._known:
            forms = [*self._forms, *self._later_forms]
            self._known[known] = parts_at(forms, self.claims, self.sources[source], row["levels"])
        return self._known[known]

    @cached_property
    def _known(self) -> dict[tuple[int, str], list[PartAt]]:
        return {}

    def _exchanges(self, source: int, row: ChoiceVerdict) -> float:
        """Those of the claim's scenarios; of a campaign that does not say which, the mean of a scenario."""
        own = sum(each.exchanges for each in self._parts_at(source, row)[: len(self._forms)])
        return own or self.sources[source].exchanges_each

    def _n(self, source: int, row: ChoiceVerdict) -> int:
        """How many values the verdict of a row rests on; a scenario of several parts counts once."""
        if "n" in row:
            return row["n"]
        values: dict[str, int] = {}
        for form, at in zip(self._forms, self._parts_at(source, row), strict=False):
            values |= at.values if form.decides else {}
        return sum(values.values())

    def _candidates(self) -> list[_Candidate]:
        """Every row of every campaign, those of a campaign in their order."""
        found: list[_Candidate] = []
        for index in self._having:
            source = self.sources[index]
            rows = self._of(index)["choices"]
            points = source.grid(self.claims).points(self.claim, rows)
            numbers = [self._of(index)["n"], *(self._n(index, row) for row in rows[1:])]
            found += [
                _Candidate(point, row, index, self._exchanges(index, row), n)
                for point, row, n in zip(points, rows, numbers, strict=True)
            ]
        return found

    def _speaking(self, firsts: Mapping[int, _Candidate]) -> tuple[list[int], bool]:
        """Campaigns whose parts are of one point, and whether it leads: that of the primary interpretation, else that
        of the first campaign. A file without choices has one point, which leads.
        """
        choices = bool(self.claims.file.choice)
        if self.leading is not None and choices:
            grid = Grid(self.claims)
            found = [
                index
                for index, first in firsts.items()
                if not first.point.outside and grid.stands_at(first.point.levels, self.leading)
            ]
            if found:
                return found, True
        one = firsts[self._having[0]]
        same = [
            index
            for index, first in firsts.items()
            if (self._key(first) == self._key(one) if choices else first.point.levels == one.point.levels)
        ]
        return same, not choices

    def _parts(self, order: Sequence[int], firsts: Mapping[int, _Candidate]) -> list[ReplicatedPart]:
        """Each part from the largest campaign that ran all of it; of equal ones from the earlier."""
        return [self._from_largest(number, form, order, firsts) for number, form in enumerate(self._forms)]

    def _later(self, order: Sequence[int], firsts: Mapping[int, _Candidate]) -> list[ReplicatedPart]:
        """The same of parts that were written later, from the campaigns that were judged by them."""
        found = []
        for number, form in enumerate(self._later_forms, len(self._forms)):
            having = [index for index in order if number < len(_parts_of(self._of(index)))]
            if having:
                found.append(self._from_largest(number, form, having, firsts))
        return found

    def _from_largest(
        self, number: int, form: Form, order: Sequence[int], firsts: Mapping[int, _Candidate]
    ) -> ReplicatedPart:
        given = {index: _parts_of(self._of(index)) for index in order}
        index = max(sorted(order), key=partial(self._size, given, firsts, number))
        part = given[index][number]
        record = _part(part, f"{self.claim.id}.{number + 1}", index, decides=form.decides)
        if isinstance(form, Part) and form.title:
            record["title"] = form.title
        if (after := part.get("after_the_fact")) is not None:
            record["after_the_fact"] = str(after)
        if bounds := bounds_of(form, self.claims.file.factor):
            record["bounds"] = bounds
        if isinstance(form, Place | FromLevel):
            record["along"] = [*form.along.levels]
        return record

    def _live(self, parts: Sequence[ReplicatedPart], speaking: Sequence[int], firsts: Mapping[int, _Candidate]) -> None:
        """Of a part that rests on the virtual clock: what the largest live campaign of the same point finds."""
        live = [index for index in speaking if self.sources[index].summary["clock"] == Clock.LIVE]
        if not live:
            return
        given = {index: _parts_of(self._of(index)) for index in live}
        for number, part in enumerate(parts):
            if part["campaign"] in live:
                continue
            index = max(sorted(live), key=partial(self._size, given, firsts, number))
            found = given[index][number]
            if found["ours"] is not None and not self._lacks(found, firsts[index]):
                part["live"] = {
                    "verdict": found["verdict"], "why": found["why"], "ours": found["ours"],
                    "link": found.get("link"), "campaign": index,
                }  # fmt: skip

    def _size(
        self,
        given: Mapping[int, Sequence[PartRecord | ClaimRecord]],
        firsts: Mapping[int, _Candidate],
        number: int,
        source: int,
    ) -> tuple[bool, bool, int, float]:
        """Of a part in a campaign: one that ran all its scenarios is larger, then one with more exchanges in them."""
        at = self._parts_at(source, firsts[source].row)[number]
        lacks = self._lacks(given[source][number], firsts[source])
        return not lacks, at.whole, at.exchanges, self.sources[source].exchanges_each

    @staticmethod
    def _lacks(part: PartRecord | ClaimRecord | ReplicatedPart, first: _Candidate) -> bool:
        """Whether a scenario of a part is missing. Campaigns record that of a whole claim: one that is inconclusive for
        it has a part that is inconclusive for it.
        """
        return part["verdict"] == INCONCLUSIVE and (first.point.missing or part["n"] == 0)

    def _range(self, parts: Sequence[ReplicatedPart], union: Sequence[_Candidate], spoken: _Candidate) -> None:
        """Over which effects each of several parts ranges; where the claim is judged, the parts have theirs."""
        if len(parts) < 2:
            return
        found: list[list[EffectAt]] = [[] for _ in parts]
        for each in union:
            if not each.point.counts:
                continue
            if self._key(each) == self._key(spoken):
                values = [None if part["ours"] is None else part["ours"]["point"] for part in parts]
            else:
                values = self._effects(each)
            for number, value in enumerate(values):
                if value is not None and isfinite(value):
                    found[number].append({"value": value, "levels": dict(each.point.levels)})
        for part, at in zip(parts, found, strict=True):
            if len(at) > 1 and (over := range_of(at)) is not None:
                part["range"] = over

    def _effects(self, each: _Candidate) -> list[float | None]:
        """Those of the parts at a point. A part of which the campaign's own judgement has no estimate has none: its
        scenarios may be such that must not be used.
        """
        size = len(self._forms)
        judged = _parts_of(self._of(each.source))[:size]
        found = self._parts_at(each.source, each.row)[:size]
        return [None if own["ours"] is None else at.effect for own, at in zip(judged, found, strict=True)]

    def _key(self, each: _Candidate) -> object:
        """What is one point in all campaigns. What experiments leave as run differs from one to the other."""
        levels, inside = self._levels(each)
        as_run = not inside or AS_RUN in levels.values()
        return frozenset(levels.items()), self.sources[each.source].summary["experiment"] if as_run else None

    def _levels(self, each: _Candidate) -> tuple[Levels, bool]:
        """The levels of a point that the claim depends on, and whether it is of the grid."""
        paths = Grid(self.claims).paths(self.claim)
        inside = bool(paths) and not each.point.outside
        return {path: each.point.levels[path] for path in paths} if inside else dict(each.point.levels), inside

    def _union(self, candidates: Sequence[_Candidate], keys: Set[object], spoken: _Candidate) -> list[_Candidate]:
        """One verdict for each point. At that of the campaigns that speak (`keys`) it is their verdict together."""
        best: dict[object, _Candidate] = {}
        for each in candidates:
            key = self._key(each)
            here, at = (spoken, self._key(spoken)) if key in keys else (each, key)
            here = replace(here, point=replace(here.point, levels=self._levels(here)[0]))
            if at not in best or here.weight > best[at].weight:
                best[at] = here
        return [*best.values()]


def _parts_of(claim: ClaimRecord) -> Sequence[PartRecord | ClaimRecord]:
    """Those with a name of their own. What one part consists of has none, such as the cells of an existence."""
    return [part for part in claim["parts"] if "id" in part] or [claim]


def _part(part: PartRecord | ClaimRecord, name: str, campaign: int, *, decides: bool) -> ReplicatedPart:
    return {
        "id": name,
        "form": part["form"],
        "text": part["text"],
        "verdict": part["verdict"],
        "why": part["why"],
        "decides": decides,
        "paper": part["paper"],
        "ours": part["ours"],
        "judged": part["judged"],
        "n": part["n"],
        "link": part.get("link"),
        "campaign": campaign,
    }


def _reason(parts: Sequence[ReplicatedPart]) -> str:
    return reason([(part["verdict"], part["text"], part["why"]) for part in parts if part["decides"]])


def _worst(parts: Sequence[ReplicatedPart]) -> VerdictQuality | None:
    found = [part["link"] for part in parts if part["decides"] and part["link"] is not None]
    return max(found, key=lambda each: GRADES.index(each["flag"]), default=None)


def _point(each: _Candidate, places: Places) -> PointVerdict:
    ours = each.row.get("ours")
    return {
        "at": places.index(dict(each.point.levels)),
        "standing": each.point.standing,
        "counts": each.point.counts,
        "value": None if ours is None else ours["point"],
        "low": None if ours is None else ours["low"],
        "high": None if ours is None else ours["high"],
        "n": each.n,
        "campaign": each.source,
    }
