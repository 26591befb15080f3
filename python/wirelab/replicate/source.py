"""A campaign as `combine` needs it: its verdicts, its printed numbers' estimates, and where it stands in the grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

from wirelab.claims import interpretations
from wirelab.claims.grid import Grid
from wirelab.claims.load import Claims, load
from wirelab.claims.model import ClaimTable
from wirelab.claims.part import LATER
from wirelab.claims.samples import point_key
from wirelab.errors import WirelabError
from wirelab.launcher import launched
from wirelab.schema.campaign import JOURNAL, measured_between, read_journal, read_plan
from wirelab.schema.estimates import AnalysedScenario, Estimates, read_estimates
from wirelab.schema.plan import Plan, Preview
from wirelab.schema.record import CampaignRecord, RunRecord, read_record
from wirelab.schema.replication import CampaignSummary
from wirelab.schema.verdicts import Verdicts, read_verdicts
from wirelab.stats.dataset import points


@dataclass(frozen=True)
class Source:
    """A campaign's files, and its summary."""

    plan: Plan
    estimates: Estimates
    verdicts: Verdicts
    summary: CampaignSummary

    def grid(self, claims: Claims) -> Grid:
        """The grid of the claims, with what this campaign varies and sets."""
        return Grid.of(claims, self.plan.experiment)

    @property
    def exchanges_each(self) -> float:
        """Mean number of exchanges of a scenario."""
        return self.summary["exchanges"] / max(self.summary["scenarios"], 1)

    @property
    def seconds_each(self) -> float | None:
        """Seconds of this machine's clock for an exchange; None if they are not recorded."""
        seconds, exchanges = self.summary["seconds"], self.summary["exchanges"]
        return None if seconds is None or not exchanges else seconds / exchanges

    @cached_property
    def by_key(self) -> dict[str, AnalysedScenario]:
        """Estimates of each scenario."""
        return {each["key"]: each for each in self.estimates["scenarios"]}

    @cached_property
    def by_point(self) -> dict[frozenset[tuple[str, str]], AnalysedScenario]:
        """The same at each point of the grid."""
        return {
            point_key(point): self.by_key[each.key]
            for each in self.plan.scenarios
            if each.key in self.by_key
            for point in points(each)
        }


def read_source(folder: Path, claims: Claims, quality: str, why: str | None = None) -> Source:
    """A campaign of these claims. Raises `WirelabError` if it has no verdicts, or was judged by other claims. It may
    lack claims, parts of claims and interpretations that were written after it.
    """
    verdicts = read_verdicts(folder)
    if verdicts is None:
        raise WirelabError(
            f"'{folder}' has no verdicts: its experiment has no claims, or it was not analyzed",
            hint=launched(f"analyze {folder}"),
        )
    plan = read_plan(folder)
    own = load(folder / (plan.experiment.claims or claims.name))
    if verdicts["claims_sha256"] != own.sha256:
        raise WirelabError(
            f"{folder / own.name} changed after '{folder}' was judged by it", hint=launched(f"analyze {folder}")
        )
    if own.file.paper != claims.file.paper:
        what = f"{folder.name} is a campaign of {own.file.paper}, and not of {claims.file.paper}"
        raise WirelabError(what, "--from", f"{launched(f'replicate {own.file.paper}')} takes it")
    if (other := _differing(own, claims)) is not None:
        raise WirelabError(
            f"'{folder}' was judged by other claims than those of {claims.name}: {other} differs",
            hint=f"copy {claims.name} to {folder}, then {launched(f'analyze {folder}')}",
        )
    estimates, record = read_estimates(folder), read_record(folder)
    return Source(plan, estimates, verdicts, _summary(folder, plan, estimates, record, quality, why))


def _differing(own: Claims, claims: Claims) -> str | None:
    """What decides verdicts and differs in two files of claims."""
    known = {each.id: each for each in own.file.claim}
    changed = next((each.id for each in claims.file.claim if _changed(known.get(each.id, each), each)), None)
    if changed is not None:
        return f"claim {changed}"
    at = datetime.min.replace(tzinfo=UTC) if own.file.frozen is None else own.file.frozen.at
    if interpretations.digest(own.file, at) != interpretations.digest(claims.file, at):
        return "what is frozen"
    return None if own.file.published == claims.file.published else "[published]"


def _seconds(runs: Sequence[RunRecord], written: Sequence[str]) -> float | None:
    """How long all runs took. One that was stopped recorded no time: it lasted until its last trial was written."""
    total = 0.0
    for run, after in zip_longest(runs, runs[1:]):
        if run.elapsed_s is not None:
            total += run.elapsed_s if run.run else 0.0
        elif mine := [at for at in written if run.began <= at and (after is None or at < after.began)]:
            total += (datetime.fromisoformat(max(mine)) - datetime.fromisoformat(run.began)).total_seconds()
    return total or None


def _changed(own: ClaimTable, claim: ClaimTable) -> bool:
    """Whether two versions of a claim differ in more than the parts that were written later, which stand at its end."""
    more = claim.part[len(own.part) :]
    whole = claim.model_copy(update={"part": claim.part[: len(own.part)]})
    return own != whole or any(LATER not in part for part in more)


def _summary(  # noqa: PLR0913, PLR0917 (one parameter for each file that it is made of)
    folder: Path, plan: Plan, estimates: Estimates, record: CampaignRecord | None, quality: str, why: str | None
) -> CampaignSummary:
    measured = measured_between(folder)
    ends = [each["denominators"] for each in estimates["scenarios"]]
    runs = () if record is None else record.runs
    quick = plan.experiment.preview
    summary: CampaignSummary = {
        "name": folder.resolve().name,
        "experiment": plan.experiment.name,
        "sets": {path: [str(level) for level in levels] for path, levels in plan.experiment.sets.items()},
        "clock": plan.clock.value,
        "version": None if record is None else record.wirelab,
        "kernel": None if record is None else record.emulated_by,
        "measured": None if measured is None else measured[1][:10],
        "began": None if measured is None else measured[0],
        "scenarios": len(estimates["scenarios"]),
        "trials": sum(each["trials"] for each in ends),
        "exchanges": sum(each["exchanges"] for each in ends),
        "completed": sum(each["completed"] for each in ends),
        "seconds": _seconds(runs, [each.written for each in read_journal(folder / JOURNAL)[0]]),
        "quality": quality,
        "quick": None if quick is None else _ran_words(quick, [each["trials"] for each in ends]),
        "digest": next((run.digest for run in reversed(runs) if run.digest is not None), None),
    }
    if any(run.elapsed_s is None for run in runs):
        summary["stopped"] = True
    if why is not None:
        summary["why"] = why
    return summary


def _ran_words(preview: Preview, trials: Sequence[int]) -> str:
    """What a quick run did: its budget may have ended before the plan did."""
    fewest, most = min(trials, default=0), max(trials, default=0)
    if fewest >= preview.replicates[1]:
        return quick_words(preview)
    ran = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return f"{ran} of {preview.replicates[0]} trials a scenario (the budget ended), {_each(preview)}"


def quick_words(preview: Preview) -> str:
    """How a budget scaled a plan down."""
    of_trials, trials = preview.replicates
    return f"{trials} of {of_trials} trials a scenario, {_each(preview)}"


def _each(preview: Preview) -> str:
    of_each, each = preview.exchanges
    return f"{each} of {of_each} exchanges each"
