"""Verdicts of several campaigns to one for each claim. The number of values decides which campaign speaks, never its
result. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

from wirelab import __version__
from wirelab.claims.grid import AS_RUN, Grid
from wirelab.claims.interpretations import InterpretationTable, primary_of
from wirelab.claims.judgement import CONTRADICTED, INCONCLUSIVE, all_of
from wirelab.claims.load import Claims
from wirelab.claims.model import Claim
from wirelab.claims.over_grid import DEPENDS, FITTED, Point
from wirelab.claims.part import Form, Levels
from wirelab.claims.printed import orders_inside, printed
from wirelab.errors import WirelabError
from wirelab.launcher import launched
from wirelab.replicate.needed import needed
from wirelab.replicate.numbers import numbers
from wirelab.replicate.source import Source
from wirelab.schema.printed import ModelRecord, SkillRecord
from wirelab.schema.replication import (
    REPLICATION_VERSION,
    PointVerdict,
    ReplicatedClaim,
    ReplicatedPart,
    Replication,
)
from wirelab.schema.verdicts import ChoiceVerdict, ClaimRecord, PartRecord, Standing, VerdictQuality
from wirelab.stats.link.grade import GRADES

VERDICTS = ("confirmed", "contradicted", "inconclusive")


def combine(claims: Claims, sources: Sequence[Source], left_out: Sequence[str] = ()) -> Replication:
    """One record of the campaigns of a paper; of equal numbers of values, the earlier campaign speaks. `left_out` says
    which campaigns were not run, and why.
    """
    grid, leading = Grid(claims), primary_of(claims.file)
    points = _Places([])
    judged = [_Claims(claims, sources, leading, claim).record(grid, points) for claim in claims.claims]
    found, units = numbers(claims, sources)
    return {
        "schema_version": REPLICATION_VERSION,
        "paper": claims.file.paper,
        "doi": claims.file.doi,
        "version": __version__,
        "claims_file": claims.name,
        "claims_sha256": claims.sha256,
        "error_rate": claims.file.error_rate,
        "factor": claims.file.factor,
        "labels": claims.file.labels,
        "units": units,
        "outlier_rule": claims.file.outlier_rule is not None,
        "primary": None if leading is None else leading.name,
        "grid": grid.record(),
        "campaigns": [source.summary for source in sources],
        "left_out": [*left_out],
        "width": _width(judged),
        "claims": judged,
        "points": points.levels,
        "printed": len(printed(claims)),
        "numbers": found,
        "skill": _skill(sources),
        "models": _models(sources),
        "inside": orders_inside(claims),
        "future": [{"text": each.text, "found": each.found, "not_yet": each.not_yet} for each in claims.file.future],
    }


def _width(claims: Sequence[ReplicatedClaim]) -> float | None:
    ours = [part["ours"] for claim in claims for part in claim["parts"]]
    bounds = [(each["low"], each["high"]) for each in ours if each is not None]
    widths = [high / low for low, high in bounds if low is not None and high is not None and low > 0]
    return median(widths) if widths else None


def _skill(sources: Sequence[Source]) -> list[SkillRecord]:
    """Of each interpretation from the campaign with most exchanges a scenario, without and with the outlier rule."""
    best: dict[tuple[str, bool], tuple[float, SkillRecord]] = {}
    for source in sources:
        for each in source.verdicts.get("skill", []):
            key = (each["interpretation"], each["by_rule"])
            if key not in best or source.exchanges_each > best[key][0]:
                best[key] = source.exchanges_each, each
    return [each for _, each in best.values()]


def _models(sources: Sequence[Source]) -> list[ModelRecord]:
    """Each model next to the campaign that has most of its means; of equal ones the first."""
    best: dict[str, ModelRecord] = {}
    for source in sources:
        for each in source.verdicts.get("models", []):
            if each["name"] not in best or _compared(each) > _compared(best[each["name"]]):
                best[each["name"]] = each
    return list(best.values())


def _compared(model: ModelRecord) -> int:
    return 0 if model["ours"] is None else model["ours"]["n"]


@dataclass(frozen=True)
class _Places:
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

    @property
    def weight(self) -> tuple[bool, int, float]:
        """What was run speaks before what was not; then the number of values decides."""
        return not self.point.missing, _n(self.row), self.exchanges


@dataclass(frozen=True)
class _Claims:
    """One claim in all campaigns."""

    claims: Claims
    sources: Sequence[Source]
    leading: InterpretationTable | None
    claim: Claim

    def record(self, grid: Grid, places: _Places) -> ReplicatedClaim:
        """The claim over all campaigns."""
        candidates = self._candidates()
        at_primary = [index for index in self._having if self._leads(candidates, index)]
        speaking = at_primary or self._having
        order = sorted(speaking, key=lambda index: -self._of(index)["n"])
        parts = self._parts(order)
        shown = self._shown(order, parts, fitted=self._is_fitted(candidates, order[0]))
        first = self._of(order[0])
        same = {part["campaign"] for part in parts} <= {order[0]}
        ratio = next((part for part in parts if part["form"] == "ratio"), parts[0] if len(parts) == 1 else None)
        union = list(self._union(candidates))
        over = grid.over(self.claim, [each.point for each in union])
        levels = next(each.point.levels for each in candidates if each.source == order[0])
        verdict = shown if at_primary and self._has_primary else None
        return {
            "id": self.claim.id,
            "form": first["form"],
            "text": first["text"],
            "verdict": verdict,
            "shown": shown,
            "levels": dict(levels),
            "why": first["why"] if same else _why(parts),
            "paper": ratio["paper"] if ratio else first["paper"],
            "ours": ratio["ours"] if ratio else first["ours"],
            "n": first["n"] if same else sum(part["n"] for part in parts if part["decides"]),
            "link": first["link"] if same else _worst(parts),
            "parts": parts,
            "over_grid": over if self.claims.file.choice or len(union) > 1 else None,
            "points": [_point(each, places) for each in union],
            "published": first["published"],
            "contradiction": first["contradiction"],
            "needed": needed(self._forms, parts, self.sources, self.claims.file.factor)
            if shown in {INCONCLUSIVE, DEPENDS}
            else None,
        }

    @property
    def _has_primary(self) -> bool:
        """A file without choices has one point, which leads."""
        return self.leading is not None or not self.claims.file.choice

    @cached_property
    def _forms(self) -> list[Form]:
        """The parts that need one decision each, as they were judged."""
        return [part for written in self.claim.parts for part in written.expand()]

    @cached_property
    def _having(self) -> list[int]:
        """Campaigns that were judged by the claim as it stands: one written later may be missing in some."""
        judged = [{each["id"]: each for each in source.verdicts["claims"]} for source in self.sources]
        found = [
            index for index, claims in enumerate(judged)
            if (own := claims.get(self.claim.id)) is not None and len(_parts_of(own)) == len(self._forms)
        ]  # fmt: skip
        if not found:
            names = " ".join(source.summary["name"] for source in self.sources)
            what = f"no campaign was judged by claim {self.claim.id} of {self.claims.name}"
            raise WirelabError(what, hint=f"{launched('analyze')} each anew: {names}")
        return found

    def _of(self, source: int) -> ClaimRecord:
        return next(each for each in self.sources[source].verdicts["claims"] if each["id"] == self.claim.id)

    def _candidates(self) -> list[_Candidate]:
        """Every row of every campaign, those of a campaign in their order."""
        found: list[_Candidate] = []
        for index in self._having:
            source = self.sources[index]
            rows = self._of(index)["choices"]
            points = source.grid(self.claims).points(self.claim, rows)
            found += [
                _Candidate(point, row, index, source.exchanges_each) for point, row in zip(points, rows, strict=True)
            ]
        return found

    def _leads(self, candidates: Sequence[_Candidate], source: int) -> bool:
        """Whether the parts of a campaign were judged at the primary interpretation."""
        first = next(each.point for each in candidates if each.source == source)
        if self.leading is None or not self.claims.file.choice:
            return not self.claims.file.choice
        return not first.outside and Grid(self.claims).stands_at(first.levels, self.leading)

    def _is_fitted(self, candidates: Sequence[_Candidate], source: int) -> bool:
        return next(each.point for each in candidates if each.source == source).fitted

    def _parts(self, order: Sequence[int]) -> list[ReplicatedPart]:
        """Each part from the campaign with most values of it."""
        given = {index: _parts_of(self._of(index)) for index in order}
        found = []
        for number, form in enumerate(self._forms):
            index = max(order, key=lambda source: given[source][number]["n"])
            part = given[index][number]
            found.append(_part(part, f"{self.claim.id}.{number + 1}", index, decides=form.decides))
        return found

    def _shown(self, order: Sequence[int], parts: Sequence[ReplicatedPart], *, fitted: bool) -> Standing:
        """The verdict from the parts, by the rule that judges each campaign's. With an outlier rule it is decided only
        if each campaign that speaks gives the same verdict by the rule.
        """
        if fitted:
            return FITTED
        verdict = all_of([part["verdict"] for part in parts if part["decides"]])
        spoke = [self._of(index) for index in order if index in {part["campaign"] for part in parts}]
        by_rule = [(each["verdict"], each["under_published_rule"]) for each in spoke]
        return DEPENDS if any(rule not in {None, plain} for plain, rule in by_rule) else verdict

    def _union(self, candidates: Sequence[_Candidate]) -> Iterator[_Candidate]:
        """One verdict for each point. What experiments leave as run differs from one to the other."""
        paths = Grid(self.claims).paths(self.claim)
        best: dict[object, _Candidate] = {}
        for each in candidates:
            inside = bool(paths) and not each.point.outside
            levels = {path: each.point.levels[path] for path in paths} if inside else dict(each.point.levels)
            as_run = not inside or AS_RUN in levels.values()
            key = (frozenset(levels.items()), self.sources[each.source].summary["experiment"] if as_run else None)
            here = replace(each, point=replace(each.point, levels=levels))
            if key not in best or here.weight > best[key].weight:
                best[key] = here
        yield from best.values()


def _parts_of(claim: ClaimRecord) -> Sequence[PartRecord | ClaimRecord]:
    return claim["parts"] or [claim]


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


def _why(parts: Sequence[ReplicatedPart]) -> str:
    """A reason over the parts of several campaigns, as one campaign gives it."""
    deciding = [part for part in parts if part["decides"]]
    counts = {verdict: sum(part["verdict"] == verdict for part in deciding) for verdict in VERDICTS}
    words = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    why = f"of {len(deciding)} parts {words}"
    against = next((part for part in deciding if part["verdict"] == CONTRADICTED), None)
    return why if against is None else f"{why}; against it: {against['text']}: {against['why']}"


def _worst(parts: Sequence[ReplicatedPart]) -> VerdictQuality | None:
    found = [part["link"] for part in parts if part["decides"] and part["link"] is not None]
    return max(found, key=lambda each: GRADES.index(each["flag"]), default=None)


def _n(row: ChoiceVerdict) -> int:
    ours = row.get("ours")
    return 0 if ours is None else ours["n"]


def _point(each: _Candidate, places: _Places) -> PointVerdict:
    ours = each.row.get("ours")
    return {
        "at": places.index(dict(each.point.levels)),
        "standing": each.point.standing,
        "counts": each.point.counts,
        "value": None if ours is None else ours["point"],
        "low": None if ours is None else ours["low"],
        "high": None if ours is None else ours["high"],
        "n": _n(each.row),
        "campaign": each.source,
    }
