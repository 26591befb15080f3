"""Puts parts of one campaign, run on several machines, together: every trial once, or nothing at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import WirelabError
from wirelab.runner.campaign import ELSEWHERE, FAILURES
from wirelab.runner.digest import campaign_digest
from wirelab.runner.disk import faults_as_errors, require_writable
from wirelab.runner.facts import now, write
from wirelab.runner.shards import Shard, lacking
from wirelab.schema import Clock
from wirelab.schema.campaign import JOURNAL, PLAN, PROBES, TRIALS, EntryStatus, JournalEntry, read_journal, read_plan
from wirelab.schema.plan import Plan
from wirelab.schema.record import FACTS, CampaignRecord, RunRecord, read_record
from wirelab.schema.records import damage

PARTS = "parts"
"""Folder of the merged campaign: what ran each part, and how its links were probed."""
DERIVED = (".parquet", ".csv")
NOT_COPIED = frozenset({
    TRIALS, JOURNAL, FACTS, PROBES, PARTS, "lock", "host.log", "report.html", "estimates.json", "verdicts.json",
    "energy.json", "wirelab-agent", "figures",
})  # fmt: skip
"""What a part has of its own, or what is computed from the merged trials."""


@dataclass(frozen=True)
class Part:
    """One folder that was run: its plan and record, and the entry of each trial of the plan that it finished."""

    folder: Path
    plan: Plan
    record: CampaignRecord
    finished: Mapping[str, JournalEntry]

    @classmethod
    def read(cls, folder: Path) -> Part:
        """Raises `WirelabError` for what is not a campaign, and for a trial whose records are damaged."""
        if not (folder / PLAN).is_file() or (record := read_record(folder)) is None:
            raise WirelabError(f"'{folder}' is not a campaign that was run", hint="a folder of run --shard I/N")
        plan = read_plan(folder)
        last = {entry.trial: entry for entry in read_journal(folder / JOURNAL)[0]}
        found = {}
        for block in plan.blocks:
            for trial in block.trials:
                entry = last.get(trial.trial)
                if entry is None or not entry.status.final or entry.scenario != trial.scenario:
                    continue
                why = damage(folder / TRIALS / trial.trial, entry.records, done=entry.status is EntryStatus.DONE)
                if why is not None:
                    hint = "run the same command there again: it repeats this trial"
                    raise WirelabError(f"{folder}: trial {trial.trial} is damaged: {why}", hint=hint)
                found[trial.trial] = entry
        return cls(folder, plan, record, found)

    @property
    def shard(self) -> tuple[int, int] | None:
        """The part of the plan that its last run ran."""
        return self.record.runs[-1].shard if self.record.runs else None


def merge(folders: Sequence[Path], out: Path) -> list[Part]:
    """Write one campaign with the trials of all of them. Raises `WirelabError`, and then nothing is written: for parts
    of different plans, versions, clocks or kernels, for trials that differ although they should be the same, and for
    trials that no part has.
    """
    parts = [Part.read(folder) for folder in folders]
    for other in parts[1:]:
        _require_alike(parts[0], other)
    owners = _owners(parts)
    _require_whole(parts, owners)
    require_writable(out.parent, out, ELSEWHERE)
    if out.exists():
        raise WirelabError(f"{out} is already there", "--out", "name another folder")
    partial = out.with_name(f".{out.name}.{os.getpid()}")
    with faults_as_errors(out.parent):
        try:
            _write(parts, owners, partial)
            partial.rename(out)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return parts


def _require_alike(one: Part, other: Part) -> None:
    """Raise `WirelabError` with the first thing in which two parts differ."""
    ours, theirs = one.record, other.record
    differ = (
        ("experiments", one.plan.experiment.name, other.plan.experiment.name),
        ("seeds", one.plan.seed, other.plan.seed),
        ("clocks", one.plan.clock.value, other.plan.clock.value),
        ("versions of Wirelab", ours.wirelab, theirs.wirelab),
        ("builds of wirelab-agent", ours.agent.sha256[:12], theirs.agent.sha256[:12]),
        ("kernels of the virtual clock", ours.kernel and ours.kernel.recipe, theirs.kernel and theirs.kernel.recipe),
        ("numbers of trials", one.plan.trials, other.plan.trials),
        ("plans", "", "" if one.plan == other.plan else "other scenarios or settings"),
    )
    for what, left, right in differ:
        if left != right:
            detail = f": {left} and {right}" if left else f": {right}"
            hint = "merge parts of one command, which differ in --shard and --out alone"
            raise WirelabError(f"{one.folder} and {other.folder} have different {what}{detail}", hint=hint)


def _owners(parts: Sequence[Part]) -> dict[str, Part]:
    """Which part each trial is taken from: the first that has it. Raises `WirelabError` if under the virtual clock
    another has other records of it, since there they are the same in each run.
    """
    owners = dict[str, Part]()
    for part in parts:
        for trial, entry in part.finished.items():
            owner = owners.setdefault(trial, part)
            other = owner.finished[trial]
            if owner is not part and part.plan.clock is Clock.VIRTUAL and entry.records != other.records:
                what = f"{owner.folder} and {part.folder} have different records of trial {trial}"
                raise WirelabError(what, hint="one of them was changed, or a program is not deterministic")
    return owners


def _require_whole(parts: Sequence[Part], owners: Mapping[str, Part]) -> None:
    """Raise `WirelabError` with the shards that were not run to their end, and the command that runs each."""
    plan = parts[0].plan
    missing = plan.trials - len(owners)
    if not missing:
        return
    known = next((part for part in parts if part.shard is not None), None)
    if known is None or known.shard is None:
        raise WirelabError(f"{missing} of {plan.trials} trials are in no part", hint="add the folders that have them")
    shards = lacking(plan, known.shard[1], owners)
    named = ", ".join(map(str, shards[:MOST])) + f" and {len(shards) - MOST} more" * (len(shards) > MOST)
    what = f"{missing} of {plan.trials} trials are in no part: shard {named} did not run to its end"
    raise WirelabError(what, hint=f"run it, and name its folder: {_command(known, shards[0])}")


MOST = 10
"""Shards that an error names."""


def _command(known: Part, shard: Shard) -> str:
    """How another part of the same plan is run."""
    words = [*known.record.command]
    for option in ("--shard", "--out"):
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
    words = [word for word in words if not word.startswith(("--shard=", "--out="))]
    return " ".join([*(f"'{word}'" if " " in word else word for word in words), "--shard", str(shard)])


def _write(parts: Sequence[Part], owners: Mapping[str, Part], out: Path) -> None:
    first = parts[0]
    (out / TRIALS).mkdir(parents=True)
    for path in sorted(first.folder.iterdir()):
        if path.name in NOT_COPIED or path.suffix in DERIVED or ".old-" in path.name:
            continue
        _copy(path, out / path.name)
    if (first.folder / PROBES).is_dir():
        _copy(first.folder / PROBES, out / PROBES)
    with (out / JOURNAL).open("wb") as journal:
        for trial in _in_order(first.plan):
            owner = owners[trial]
            journal.write(owner.finished[trial].line())
            if (folder := owner.folder / TRIALS / trial).is_dir():
                _copy(folder, out / TRIALS / trial)
        journal.flush()
        os.fsync(journal.fileno())
    for number, part in enumerate(parts, start=1):
        kept = out / PARTS / f"{number:04d}"
        kept.mkdir(parents=True)
        for name in (FACTS, PROBES):
            if (path := part.folder / name).exists():
                _copy(path, kept / name)
    write(out, first.record, [_run_record(parts, owners, out)])


def _in_order(plan: Plan) -> Iterator[str]:
    for block in plan.blocks:
        yield from (trial.trial for trial in block.trials)


def _run_record(parts: Sequence[Part], owners: Mapping[str, Part], out: Path) -> RunRecord:
    """The runs of all parts as one."""
    runs = [run for part in parts for run in part.record.runs]
    entries = [part.finished[trial] for trial, part in owners.items()]
    virtual = parts[0].plan.clock is Clock.VIRTUAL
    return RunRecord(
        began=min((run.began for run in runs), default=now()),
        ended=max((run.ended for run in runs if run.ended is not None), default=now()),
        claims_sha256=runs[-1].claims_sha256 if runs else None,
        total=len(owners),
        run=len(owners),
        reused=0,
        failed=sum(entry.status in FAILURES for entry in entries),
        not_confirmed=sum(entry.not_confirmed > 0 for entry in entries),
        discarded=sum(run.discarded or 0 for run in runs),
        flagged_blocks=sum(run.flagged_blocks or 0 for run in runs),
        lanes=max((run.lanes or 0 for run in runs), default=None),
        elapsed_s=sum(run.elapsed_s or 0.0 for run in runs),
        digest=campaign_digest(out, owners) if virtual else None,
    )


def _copy(source: Path, target: Path) -> None:
    """A file or a folder, by hard links if both are on one file system: records are never changed in place."""
    if source.is_dir():
        shutil.copytree(source, target, copy_function=_linked)
    else:
        _linked(str(source), str(target))


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
