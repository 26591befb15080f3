"""A campaign's folder: opened, checked against the plan, cleaned of unfinished trials."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import Where, WirelabError
from wirelab.runner.disk import FULL, faults_as_errors, require_writable
from wirelab.runner.facts import now
from wirelab.runner.journal import Journal
from wirelab.runner.lock import locked
from wirelab.runner.timing_error import stall_words
from wirelab.schema.campaign import (
    JOURNAL,
    PLAN,
    RESULT,
    TRIALS,
    EntryStatus,
    JournalEntry,
    attempt_folder,
    read_journal,
    read_plan,
)
from wirelab.schema.plan import Plan, Trial
from wirelab.schema.records import damage
from wirelab.schema.replaced import replace_file

ELSEWHERE = "name another folder with --out"
FAILURES = frozenset({EntryStatus.FAILED, EntryStatus.TIMED_OUT, EntryStatus.UNUSABLE})
"""Ends of attempts that are run again on request."""
_NOT_COUNTED = frozenset({EntryStatus.CANCELLED, EntryStatus.NOT_RUN})
"""Ends of what is no attempt."""


@dataclass
class Campaign:
    """An open campaign; holds its lock."""

    folder: Path
    plan: Plan
    agent_digest: str
    journal: Journal
    reopened: tuple[JournalEntry, ...] = ()
    """Trials whose records are missing or torn, which are run again; `error` says why."""
    lost: tuple[str, ...] = ()
    """Lines of the journal that were removed because they are torn or damaged, and trials that ended without a line."""

    def trial_folder(self, trial: str) -> Path:
        """The folder of a trial's records."""
        return self.folder / TRIALS / trial

    def finished(self) -> dict[str, JournalEntry]:
        """The plan's finished trials, with the entry that counts."""
        last = {entry.trial: entry for entry in self.journal.entries}
        return {
            trial.trial: last[trial.trial]
            for block in self.plan.blocks
            for trial in block.trials
            if trial.trial in last and self._holds(last[trial.trial], trial)
        }

    def attempt(self, trial: Trial) -> int:
        """Number of the attempt that comes next, from 1: of a trial's name, for records of attempts are kept by it."""
        ended = (e for e in self.journal.entries if e.trial == trial.trial and e.status not in _NOT_COUNTED)
        return 1 + max((entry.attempt for entry in ended), default=0)

    def discard(self, entries: list[JournalEntry], why: str) -> None:
        """Declare finished attempts discarded and set their records aside."""
        again = [
            e.model_copy(update={"status": EntryStatus.DISCARDED, "error": why, "written": now()}) for e in entries
        ]
        self.journal.append(*again)
        for entry in again:
            self.set_aside(entry)

    def set_aside(self, entry: JournalEntry) -> None:
        """Keep the records of a discarded attempt under its own name. A folder next to kept ones is of a later attempt,
        of which the journal has no line: it is removed.
        """
        folder = self.trial_folder(entry.trial)
        kept = attempt_folder(self.folder, entry.trial, entry.attempt)
        if os.path.lexists(kept):
            remove_any(folder)
        elif os.path.lexists(folder):
            folder.rename(kept)

    def reopen_damaged(self) -> None:
        """Discard the finished trials that have lost a record, and those that stalled and whose block was not over."""
        found = []
        for entry in self.finished().values():
            folder = self.trial_folder(entry.trial)
            done = entry.status is EntryStatus.DONE
            why = stall_words(entry.stall_ns) if done and entry.stall_ns else None
            if (why := why or damage(folder, entry.records, done=done)) is not None:
                found.append(entry.model_copy(update={"error": why}))
        for entry in found:
            self.discard([entry], entry.error or "")
        self.reopened = tuple(found)

    def _holds(self, entry: JournalEntry, trial: Trial) -> bool:
        return entry.status.final and entry.scenario == trial.scenario and entry.agent == self.agent_digest


@contextmanager
def open_campaign(
    folder: Path, plan: Plan, agent_digest: str, *, fresh: bool, retry_failed: bool | Collection[str]
) -> Iterator[Campaign]:
    """Open or begin a campaign. Finished trials of unchanged scenarios stay; a folder of something else is refused.
    Of those that failed, `retry_failed` runs all again, or those that it names.

    A new campaign that fails before its first trial is removed, and the archived one is restored.
    """
    aside = _set_aside(folder) if fresh else None
    missing = _first_missing(folder)
    with faults_as_errors(folder.parent if not folder.exists() else folder):
        _make(folder)
        with locked(folder):
            try:
                with _opened(folder, plan, agent_digest, retry_failed) as campaign:
                    yield campaign
            except BaseException:
                if missing is not None and not _has_begun(folder):
                    _remove(folder, missing)
                    if aside is not None:
                        aside.rename(folder)
                raise


@contextmanager
def _opened(folder: Path, plan: Plan, agent_digest: str, again: bool | Collection[str]) -> Iterator[Campaign]:
    _check_same(folder, plan)
    with Journal(folder / JOURNAL) as journal:
        _check_agent(folder, journal, agent_digest)
        campaign = Campaign(folder, plan, agent_digest, journal)
        replace_file(folder / PLAN, json.dumps(plan.to_json(), indent=1) + "\n")
        if again:
            failed = [e for e in campaign.finished().values() if e.status in FAILURES]
            named = [e for e in failed if again is True or e.trial in again]
            campaign.discard(named, "failed, run again on request")
        _remove_unfinished(campaign)
        campaign.reopen_damaged()
        yield campaign


def _has_begun(folder: Path) -> bool:
    """Whether a trial has been over."""
    return any(entry.status not in _NOT_COUNTED for entry in read_journal(folder / JOURNAL)[0])


def require_makeable(folder: Path) -> None:
    """Raise `WirelabError` if this folder of a campaign can neither be made nor written."""
    require_writable(folder, folder, ELSEWHERE)


def _make(folder: Path) -> None:
    require_makeable(folder)
    try:
        (folder / TRIALS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno in FULL:
            raise
        raise WirelabError(f"cannot be made: {error.strerror}", Where(str(folder)), ELSEWHERE) from None


def _first_missing(folder: Path) -> Path | None:
    """The uppermost of the folders that have to be made; none if it is there."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    return missing[-1] if missing else None


def _remove(folder: Path, uppermost: Path) -> None:
    """Remove a folder, and those above it that were made for it, as long as nobody else has put something there."""
    shutil.rmtree(folder, ignore_errors=True)
    above = folder.parent
    with suppress(OSError):
        while above.is_relative_to(uppermost):
            above.rmdir()
            above = above.parent


def _set_aside(folder: Path) -> Path | None:
    """Rename an earlier campaign; its new name."""
    if not folder.exists():
        return None
    with locked(folder):
        number = 1
        while (aside := folder.with_name(f"{folder.name}.old-{number}")).exists():
            number += 1
        folder.rename(aside)
    return aside


def _check_same(folder: Path, plan: Plan) -> None:
    path = folder / PLAN
    if not path.exists():
        strangers = [entry.name for entry in folder.iterdir() if entry.name not in {"lock", TRIALS}]
        if strangers:
            raise WirelabError(f"{folder} contains {strangers[0]} and is not a campaign", hint=ELSEWHERE)
        return
    old = read_plan(folder)
    if old.experiment.name != plan.experiment.name:
        what = f"{folder} is a campaign of '{old.experiment.name}', not of '{plan.experiment.name}'"
    elif old.seed != plan.seed:
        what = f"{folder} is a campaign with seed {old.seed}, not {plan.seed}"
    else:
        return
    raise WirelabError(what, hint="name another folder with --out, or set the old one aside with --fresh")


def _check_agent(folder: Path, journal: Journal, digest: str) -> None:
    if any(entry.agent != digest for entry in journal.entries):
        raise WirelabError(
            f"{folder} was measured with another build of wirelab-agent",
            hint="name another folder with --out, or set the old one aside with --fresh",
        )


def _remove_unfinished(campaign: Campaign) -> None:
    """Remove the folders of trials that the journal does not know; `lost` names those that have ended."""
    ended = []
    last = {entry.trial: entry for entry in campaign.journal.entries}
    for entry in last.values():
        # A crash may have come between the line and the renaming; a folder next to a kept attempt is of a later one.
        kept = attempt_folder(campaign.folder, entry.trial, entry.attempt)
        if entry.status is EntryStatus.DISCARDED and not os.path.lexists(kept):
            campaign.set_aside(entry)
    for folder in (campaign.folder / TRIALS).iterdir():
        known = "." in folder.name or (folder.name in last and last[folder.name].status.final)
        if not known:
            if (folder / RESULT).exists():
                ended.append(f"{folder.name} is run again: the journal has no whole line of it")
            remove_any(folder)
    lines = (f"{words}; this line is removed" for words in campaign.journal.removed)
    campaign.lost = (*lines, *sorted(ended))


def remove_any(path: Path) -> None:
    """Remove what has this name: a folder with all that is in it, or a file; a symbolic link itself."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
