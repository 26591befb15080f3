"""Puts parts of one campaign, run on several machines, together: every trial once, or nothing at all."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import WirelabError
from wirelab.launcher import program
from wirelab.runner.campaign import ELSEWHERE, FAILURES
from wirelab.runner.digest import campaign_digest
from wirelab.runner.disk import faults_as_errors, require_writable
from wirelab.runner.facts import now, write
from wirelab.runner.lock import FILE as LOCK
from wirelab.runner.lock import locked
from wirelab.runner.shards import OPTION, lacking, units
from wirelab.schema import Clock
from wirelab.schema.campaign import (
    EXPERIMENT,
    JOURNAL,
    PAGES,
    PLAN,
    PROBES,
    TRIALS,
    EntryStatus,
    JournalEntry,
    read_journal,
    read_plan,
)
from wirelab.schema.plan import Plan
from wirelab.schema.record import FACTS, CampaignRecord, RunRecord, read_record
from wirelab.schema.records import damage

PARTS = "parts"
"""Folder of the merged campaign with the record of each part: what ran it."""
CERTIFICATES, IMPLEMENTATIONS = "certificates", "implementations.toml"
MOST = 10
"""Shards that an error names."""


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
            raise WirelabError(f"'{folder}' is not a campaign that was run", hint=f"a folder of run {OPTION} I/N")
        plan = read_plan(folder)
        last = {entry.trial: entry for entry in read_journal(folder / JOURNAL)[0]}
        found = {}
        for trial in (each for block in plan.blocks for each in block.trials):
            entry = last.get(trial.trial)
            if entry is None or not entry.status.final or entry.scenario != trial.scenario or _stalled(entry):
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

    @property
    def claims_sha256(self) -> str | None:
        """Digest of the claims that its last run found."""
        return self.record.runs[-1].claims_sha256 if self.record.runs else None


def _stalled(entry: JournalEntry) -> bool:
    """Whether a run would repeat it: the link was so late that a timer may have fired, and its block was not over."""
    return entry.status is EntryStatus.DONE and entry.stall_ns > 0


def merge(folders: Sequence[Path], out: Path) -> list[Part]:
    """Write one campaign with the trials of all of them. Raises `WirelabError`, and then nothing is written: for parts
    of different plans, versions, clocks or kernels, for trials that are there twice and differ, and for trials that no
    part has.
    """
    if os.path.lexists(out):
        raise WirelabError(f"{out} is already there", "--out", "name another folder")
    require_writable(out.parent, out, ELSEWHERE)
    with ExitStack() as held:
        for folder in dict.fromkeys(folder.resolve() for folder in folders):
            held.enter_context(locked(folder))
        parts = [Part.read(folder) for folder in folders]
        for other in parts[1:]:
            _require_alike(parts[0], other)
        owners = _owners(parts)
        _require_whole(parts, owners)
        partial = out.with_name(f".{out.name}.merging")
        missing = [each for each in (out.parent, *out.parent.parents) if not each.exists()]
        with faults_as_errors(next(each for each in (out.parent, *out.parent.parents) if each.exists())):
            partial.mkdir(parents=True, exist_ok=True)
            _require_own(partial)
            held.enter_context(locked(partial))
            try:
                _clear(partial)
                _write(parts, owners, partial)
                partial.rename(out)
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                for folder in missing:
                    if folder.is_dir() and not any(folder.iterdir()):
                        folder.rmdir()
                raise
    return parts


def _require_own(partial: Path) -> None:
    """Raise `WirelabError` if another user has put something there, whose files would be removed."""
    if partial.is_symlink() or partial.stat().st_uid != os.geteuid():
        raise WirelabError(f"{partial} is not a folder of this user", "--out", "name another folder")


def _clear(partial: Path) -> None:
    """Remove what a merge left that was killed."""
    for path in partial.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()


def _require_alike(one: Part, other: Part) -> None:
    """Raise `WirelabError` with the first thing in which two parts differ."""
    ours, theirs = one.record, other.record
    live = one.plan.clock is Clock.LIVE
    programs = sorted({*ours.implementations, *theirs.implementations})
    versions = [
        (f"versions of {name}", *(of.implementations[name].version if name in of.implementations else "none"
                                  for of in (ours, theirs)))
        for name in programs
    ]  # fmt: skip
    differ = (
        ("experiments", one.plan.experiment.name, other.plan.experiment.name),
        ("seeds", one.plan.seed, other.plan.seed),
        ("clocks", one.plan.clock.value, other.plan.clock.value),
        ("versions of Wirelab", ours.wirelab, theirs.wirelab),
        ("builds of wirelab-agent", ours.agent.sha256[:12], theirs.agent.sha256[:12]),
        ("kernels of the virtual clock", ours.kernel and ours.kernel.recipe, theirs.kernel and theirs.kernel.recipe),
        ("kernels", live and ours.host.kernel, live and theirs.host.kernel),
        ("processors", live and ours.host.cpu, live and theirs.host.cpu),
        *versions,
        ("claims", one.claims_sha256, other.claims_sha256),
        ("numbers of trials", one.plan.trials, other.plan.trials),
        ("plans", "", "" if one.plan == other.plan else "other scenarios or settings"),
    )
    for what, left, right in differ:
        if left != right:
            detail = f": {left} and {right}" if left else f": {right}"
            hint = "merge parts of one command, which differ in --shard and --out alone"
            raise WirelabError(f"{one.folder} and {other.folder} have different {what}{detail}", hint=hint)


def _owners(parts: Sequence[Part]) -> dict[str, Part]:
    """Which part each trial is taken from; all trials of a unit are taken from one. Raises `WirelabError` if another
    part has other records of it: under the virtual clock they are the same in each run, and in real time nobody may
    choose among two runs by the order of arguments.
    """
    owners = dict[str, Part]()
    for unit in units(parts[0].plan):
        whole = [part for part in parts if all(trial in part.finished for trial in unit)]
        for other in whole[1:]:
            _require_same(whole[0], other, unit)
        owners |= dict.fromkeys(unit, whole[0]) if whole else {}
    return owners


def _require_same(one: Part, other: Part, unit: Sequence[str]) -> None:
    for trial in unit:
        if one.finished[trial].records != other.finished[trial].records:
            what = f"{one.folder} and {other.folder} have different records of trial {trial}"
            virtual = one.plan.clock is Clock.VIRTUAL
            changed = "one of them was changed, or a program is not deterministic"
            raise WirelabError(what, hint=changed if virtual else "this shard was run twice: name one of the folders")


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
    command = shlex.join([program(), *_whole_command(known)[1:], OPTION, str(shards[0])])
    raise WirelabError(what, hint=f"run it, and name its folder: {command}")


def _whole_command(part: Part) -> list[str]:
    """The command line that runs all of the plan."""
    words = [*part.record.command]
    for option in (OPTION, "--out"):
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
    return [word for word in words if not word.startswith((f"{OPTION}=", "--out="))]


def _write(parts: Sequence[Part], owners: Mapping[str, Part], out: Path) -> None:
    first = parts[0]
    (out / TRIALS).mkdir(parents=True)
    experiment = first.plan.experiment
    own = experiment.energy.files if experiment.energy is not None else ()
    named = (PLAN, EXPERIMENT, IMPLEMENTATIONS, CERTIFICATES, PAGES, *own, *filter(None, [experiment.claims]))
    for name in named:
        _copy(first.folder / name, out / name)
    # Each machine's link is judged. Under the virtual clock it is the same link.
    probed = parts[:1] if first.plan.clock is Clock.VIRTUAL else parts
    for number, part in enumerate(probed, start=1):
        for folder in sorted(path for path in (part.folder / PROBES).glob("*") if path.is_dir()):
            _copy(folder, out / PROBES / (folder.name if number == 1 else f"{folder.name}-{number}"))
    live, numbers = first.plan.clock is Clock.LIVE, {id(part): number for number, part in enumerate(parts, start=1)}
    with (out / JOURNAL).open("wb") as journal:
        for trial in (each.trial for block in first.plan.blocks for each in block.trials):
            owner = owners[trial]
            # Under the virtual clock a merged journal says what one machine's would.
            entry = owner.finished[trial].model_copy(update={"part": numbers[id(owner)]} if live else {})
            journal.write(entry.line())
            _copy(owner.folder / TRIALS / trial, out / TRIALS / trial, link=True)
        journal.flush()
        os.fsync(journal.fileno())
    for number, part in enumerate(parts, start=1):
        _copy(part.folder / FACTS, out / PARTS / f"{number:04d}.json")
    command = tuple(_whole_command(first))
    write(out, first.record.model_copy(update={"command": command}), [_run_record(parts, owners, out)])


def _run_record(parts: Sequence[Part], owners: Mapping[str, Part], out: Path) -> RunRecord:
    """The runs of all parts as one."""
    runs = [run for part in parts for run in part.record.runs]
    entries = [part.finished[trial] for trial, part in owners.items()]
    virtual = parts[0].plan.clock is Clock.VIRTUAL
    return RunRecord(
        began=min((run.began for run in runs), default=now()),
        ended=max((run.ended for run in runs if run.ended is not None), default=now()),
        claims_sha256=parts[0].claims_sha256,
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


def _copy(source: Path, target: Path, *, link: bool = False) -> None:
    """A file, or a folder with its files, if it is there; of trials by hard links, for no record is changed in place.
    What is neither, such as a symbolic link, is left out.
    """
    for path in _files(source):
        goal = target / path.relative_to(source) if path != source else target
        goal.parent.mkdir(parents=True, exist_ok=True)
        if link and _linked(path, goal):
            continue
        shutil.copy2(path, goal)


def _files(source: Path) -> Iterator[Path]:
    if source.is_symlink():
        return
    if source.is_file():
        yield source
    elif source.is_dir():
        for path in sorted(source.iterdir()):
            yield from _files(path)


def _linked(source: Path, target: Path) -> bool:
    """False if the two are on different file systems, or links are not allowed."""
    try:
        os.link(source, target)
    except OSError:
        return False
    return True
