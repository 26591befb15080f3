"""Several campaigns of a paper to one record. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from wirelab import __version__
from wirelab.claims.future import FutureTable
from wirelab.claims.grid import Grid
from wirelab.claims.interpretations import primary_of
from wirelab.claims.load import Claims
from wirelab.claims.printed import orders_inside, printed
from wirelab.errors import WirelabError
from wirelab.replicate.listed import in_order
from wirelab.replicate.numbers import numbers
from wirelab.replicate.one_claim import OneClaim, Places
from wirelab.replicate.source import Source
from wirelab.schema.printed import ModelRecord, SkillRecord
from wirelab.schema.replication import REPLICATION_VERSION, CampaignSummary, FutureWork, ReplicatedClaim, Replication


def combine(claims: Claims, sources: Sequence[Source], left_out: Sequence[str] = ()) -> Replication:
    """One record of the campaigns of a paper, whatever their order here; of equally large ones, the earlier of the list
    in the file of claims speaks. `left_out` says which campaigns were not run, and why.
    """
    _require_different(sources)
    sources = in_order(claims, sources)
    grid, leading = Grid(claims), primary_of(claims.file)
    points = Places([])
    judged = [OneClaim(claims, sources, leading, claim).record(grid, points) for claim in claims.claims]
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
        "campaigns": [_summary(claims, source) for source in sources],
        "left_out": [*left_out],
        "width": _width(judged),
        "claims": judged,
        "points": points.levels,
        "printed": len(printed(claims)),
        "numbers": found,
        "skill": _skill(sources),
        "models": _models(sources),
        "inside": orders_inside(claims),
        "future": [_future(each) for each in claims.file.future],
    }


def _future(line: FutureTable) -> FutureWork:
    work: FutureWork = {"text": line.text, "found": line.found, "not_yet": line.not_yet}
    if line.run is not None:
        work["run"] = line.run
    if line.digest is not None:
        work["digest"] = line.digest
    return work


def _require_different(sources: Sequence[Source]) -> None:
    """Raises `WirelabError` if two have the same records, which would count twice."""
    names: dict[str, str] = {}
    for source in sources:
        name, digest = source.summary["name"], source.summary["digest"]
        if digest is not None and digest in names:
            what = f"{names[digest]} and {name} have the same records (digest {digest[:12]})"
            raise WirelabError(what, "--from", "name one of them")
        if digest is not None:
            names[digest] = name


def _summary(claims: Claims, source: Source) -> CampaignSummary:
    """A campaign, with the claims that were written after it was judged."""
    known = {each["id"] for each in source.verdicts["claims"]}
    lacks = [claim.id for claim in claims.claims if claim.id not in known]
    return {**source.summary, "lacks": lacks} if lacks else source.summary


def _width(claims: Sequence[ReplicatedClaim]) -> float | None:
    ours = [part["ours"] for claim in claims for part in claim["parts"] if "after_the_fact" not in part]
    bounds = [(each["low"], each["high"]) for each in ours if each is not None]
    widths = [high / low for low, high in bounds if low is not None and high is not None and low > 0]
    return median(widths) if widths else None


def _skill(sources: Sequence[Source]) -> list[SkillRecord]:
    """Of each interpretation, without and with the outlier rule: from the campaign that lacks fewest printed numbers;
    of equal ones from that with most exchanges a scenario.
    """
    best: dict[tuple[str, bool], tuple[tuple[int, float], SkillRecord]] = {}
    for source in sources:
        for each in source.verdicts.get("skill", []):
            key, weight = (each["interpretation"], each["by_rule"]), (-each["missing"], source.exchanges_each)
            if key not in best or weight > best[key][0]:
                best[key] = weight, each
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
