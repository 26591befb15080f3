"""Runs a plan: hands trials to the host, judges what comes back, and journals it.

The one place where a campaign changes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from wirelab.clock.host import Host, RefusedError
from wirelab.errors import RunError
from wirelab.runner.barriers import link_barrier
from wirelab.runner.campaign import Campaign, remove_any
from wirelab.runner.disk import faults_as_errors, require_space
from wirelab.runner.endpoints import Endpoints
from wirelab.runner.facts import now
from wirelab.runner.progress import Observer, Progress, Summary, jobs_words
from wirelab.runner.schedule import Assignment, BlockEnd, BlockOutcome, Schedule
from wirelab.runner.timing_error import late_packets, stall_words, tolerance_ns
from wirelab.runner.unconfirmed import unconfirmed
from wirelab.runner.unready import Unready
from wirelab.schema import LinkReport, TrialResult, TrialStatus
from wirelab.schema.campaign import RESULT, EntryStatus, JournalEntry, read_result
from wirelab.schema.plan import Scenario
from wirelab.schema.records import sync_records

MAX_TRIAL_ATTEMPTS = 3
MOST_REPLACED_HOSTS = 2
"""Of one run: a link process that ends a third time ends the run."""
_POLL_S = 1.0
_CANCEL_S = 5.0


class InterruptedRunError(RunError):
    """The user, or the system, ended the run."""

    exit_code = 130


@dataclass(frozen=True)
class _Running:
    assignment: Assignment
    attempt: int


class Runner:
    """One run of a campaign."""

    def __init__(
        self,
        campaign: Campaign,
        host: Host,
        endpoints: Endpoints,
        observer: Observer,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._campaign = campaign
        self._host = host
        self._endpoints = endpoints
        self._observer = observer
        self._clock = clock
        self._began = self._next_start = clock()
        self._gap_s = 0.0
        self._scenarios = {scenario.key: scenario for scenario in campaign.plan.scenarios}
        self._running: dict[str, _Running] = {}
        self._attempts: Counter[str] = Counter()
        self._unready = Unready(endpoints.implementations)
        self._barriers = {
            key: link_barrier(scenario, campaign.plan) or endpoints.barrier(scenario)
            for key, scenario in self._scenarios.items()
        }
        earlier = campaign.finished()
        self.finished = frozenset(earlier)
        """Trials that an earlier run finished."""
        self._reused = len(earlier)
        self._status = {trial: entry.status for trial, entry in earlier.items()}
        self._discarded = self._flagged = self._run = self._replaced = 0
        self._reported: set[str] = set()

    @property
    def elapsed_s(self) -> float:
        """Since this run began."""
        return self._clock() - self._began

    def lasted_ns(self) -> dict[str, int]:
        """How long each finished trial took, by its own clock; those of earlier runs too."""
        results = {trial: self._campaign.trial_folder(trial) / RESULT for trial in self._campaign.finished()}
        read = {trial: read_result(path) for trial, path in results.items() if path.exists()}
        return {trial: each.end_ns - each.start_ns for trial, each in read.items()}

    def run(self, schedule: Schedule, gap_s: float = 0.0) -> Summary:
        """Run to the end of the schedule, starting a trial not before `gap_s` after the one before; whatever is
        raised, what has finished is kept.
        """
        self._schedule, self._gap_s = schedule, gap_s
        for entry in self._campaign.reopened:
            self._observer.say(f"{entry.trial} is run again: {entry.error}")
        try:
            with faults_as_errors(self._campaign.folder):
                while (wait_s := self._start_all()) is not None:
                    self._take(self._host.wait(wait_s))
                    self._observer.update(self._progress())
        except KeyboardInterrupt:
            self._cancel()
            raise self._interrupted() from None
        progress = self._progress()
        self._observer.update(progress)
        return Summary(
            total=progress.total, run=self._run, reused=self._reused, failed=progress.failed, discarded=self._discarded,
            flagged_blocks=self._flagged, lanes=schedule.jobs, elapsed_s=progress.elapsed_s,
            cut_after_blocks=schedule.cut and schedule.cut.blocks,
            cut_scenarios=schedule.cut.scenarios if schedule.cut else 0, not_run=progress.not_run,
            not_confirmed=sum(entry.not_confirmed > 0 for entry in self._campaign.finished().values()),
            unusable=sum(entry.status is EntryStatus.UNUSABLE for entry in self._campaign.finished().values()),
        )  # fmt: skip

    def _start_all(self) -> float | None:
        """Start a trial in each free lane, with a gap between starts. Gives how long to wait, or None at the end."""
        while (left_s := self._next_start - self._clock()) <= 0:
            assignment = self._schedule.next()
            if assignment is None:
                return None if self._schedule.idle else _POLL_S
            self._start(assignment)
        return min(left_s, _POLL_S)

    def _start(self, assignment: Assignment) -> None:
        trial = assignment.trial
        scenario = self._scenarios[trial.scenario]
        running = _Running(assignment, self._campaign.attempt(trial))
        barrier = self._barriers[scenario.key]
        if barrier is not None:
            self._record(self._entry(running, barrier.status, barrier.error))
            self._judged(self._schedule.over(assignment, None))
            return
        if (why := self._unready.barrier(scenario)) is not None:
            self._record(self._entry(running, EntryStatus.NOT_RUN, why))
            self._judged(self._schedule.over(assignment, None))
            return
        require_space(self._campaign.folder)
        folder = self._campaign.trial_folder(trial.trial)
        remove_any(folder)
        request = self._endpoints.request(scenario, trial, self._host.lane(assignment.lane), folder)
        self._host.start(request)
        self._next_start = self._clock() + self._gap_s
        self._running[trial.trial] = running

    def _take(self, over: TrialResult | RefusedError | None) -> None:
        if over is None:
            return
        running = self._running.pop(over.trial)
        assignment = running.assignment
        scenario = self._scenarios[assignment.trial.scenario]
        if isinstance(over, RefusedError) and over.link_ended:
            self._replace_host(running, over.message)
            return
        if isinstance(over, RefusedError):
            status = EntryStatus.NOT_RUN if over.again else EntryStatus.FAILED
            self._record(self._entry(running, status, over.message))
            self._judged(self._schedule.over(assignment, None))
            return
        path = self._campaign.trial_folder(over.trial) / RESULT
        path.write_text(over.model_dump_json(), encoding="utf-8")
        why = next(filter(None, map(invalid, (over.link, *over.other_links.values()))), None)
        self._attempts[over.trial] += why is not None
        if why is not None and self._attempts[over.trial] < MAX_TRIAL_ATTEMPTS:
            self._campaign.discard([self._entry(running, EntryStatus.DISCARDED, why)], why)
            self._discarded += 1
            self._schedule.repeat(assignment)
            return
        status, error = (EntryStatus.FAILED, why) if why is not None else (_status(over.status), over.error)
        if status is EntryStatus.DONE and (broken := self._endpoints.wrong_rows(scenario, path.parent, over)):
            status, error = EntryStatus.FAILED, broken
        not_confirmed = 0
        # What the link did not carry in full, it can neither confirm nor deny.
        if status is EntryStatus.DONE and (lacking := unconfirmed(scenario, over, path.parent)):
            status, error = EntryStatus.FAILED, lacking
            not_confirmed = len(over.confirmation.not_confirmed) if over.confirmation is not None else 0
        unready = None if why is not None else self._unready.hear(scenario, over, path.parent)
        if unready is not None:
            error = unready
        if status is EntryStatus.FAILED:
            # A client that could not write its exchanges fails: the disk is to blame, not its protocol.
            require_space(self._campaign.folder, error)
        stall_ns = self._campaign.plan.stall_ns
        late = late_packets(over.link, scenario.link, stall_ns, over.other_links.values())
        recorded = {"records": sync_records(path.parent), "not_confirmed": not_confirmed, "stall_ns": late.stall_ns}
        self._record(self._entry(running, status, error).model_copy(update=recorded))
        # What never became ready is not repeated with a late block: it would be late for nothing.
        self._judged(self._schedule.over(assignment, late if unready is None else None))

    def _replace_host(self, running: _Running, why: str) -> None:
        """Have another link process, and the blocks of the trials that it carried run again.

        Raises `RunError` if it has ended so often that it would end again.
        """
        self._replaced += 1
        cut_short = [running, *self._running.values()]
        self._running.clear()
        ended = {trial.trial for trial in self._schedule.take_back(each.assignment for each in cut_short)}
        entries = [entry for entry in self._campaign.finished().values() if entry.trial in ended]
        self._take_back(entries, why)
        self._campaign.discard([self._entry(each, EntryStatus.DISCARDED, why) for each in cut_short], why)
        self._discarded += len(cut_short)
        if self._replaced > MOST_REPLACED_HOSTS:
            raise RunError(
                f"{why}, {self._replaced} times in this run",
                hint="the machine may lack memory; finished trials are kept, and the same command continues",
            )
        self._host.replace()
        blocks = sorted({each.assignment.block for each in cut_short})
        again = f"block{'s' * (len(blocks) > 1)} {' and '.join(map(str, blocks))}"
        self._observer.say(f"{why}; another one is started, and {again} will run again")

    def _take_back(self, entries: list[JournalEntry], why: str) -> None:
        """Discard trials that this run has recorded."""
        self._campaign.discard(entries, why)
        self._discarded += len(entries)
        self._run -= len(entries)
        for entry in entries:
            del self._status[entry.trial]

    def _record(self, entry: JournalEntry) -> None:
        self._campaign.journal.append(entry)
        self._status[entry.trial] = entry.status
        self._run += 1
        if entry.status is not EntryStatus.DONE and entry.scenario not in self._reported:
            self._reported.add(entry.scenario)
            self._observer.say(
                f"{self._scenarios[entry.scenario].name}: {entry.status}: {entry.error or 'no reason given'}"
            )

    def _judged(self, end: BlockEnd | None) -> None:
        """Record the end of a block."""
        if end is None or end.outcome is BlockOutcome.ACCEPTED:
            return
        names = {trial.trial for trial in end.trials}
        entries = [entry for entry in self._campaign.finished().values() if entry.trial in names]
        why = _late_words(end, [self._scenarios[trial.scenario] for trial in end.trials])
        if end.outcome is BlockOutcome.FLAGGED:
            self._flagged += 1
            self._campaign.journal.append(*(_kept(entry, end, why) for entry in entries))
            self._observer.say(f"block {end.block}: kept although {why}")
            return
        self._take_back(entries, why)
        self._observer.say(f"block {end.block}: {why}; repeated with {jobs_words(self._schedule.jobs)}")

    def _cancel(self) -> None:
        """Cancel the running trials; those that do not answer in time die with the host."""
        for name in list(self._running):
            self._host.cancel(name)
        deadline = self._clock() + _CANCEL_S
        ended = []
        while self._running and self._clock() < deadline:
            over = self._host.wait(_POLL_S)
            if isinstance(over, TrialResult) and over.status is not TrialStatus.CANCELLED:
                # It had ended before the request to cancel it arrived.
                self._take(over)
            elif over is not None and (running := self._running.pop(over.trial, None)) is not None:
                ended.append(self._entry(running, EntryStatus.CANCELLED, None))
        self._campaign.journal.append(*ended)

    def _interrupted(self) -> InterruptedRunError:
        return InterruptedRunError(
            f"stopped after {len(self._status)} of {self._total()} trials",
            hint="the same command continues where this one stopped",
        )

    def _entry(self, running: _Running, status: EntryStatus, error: str | None) -> JournalEntry:
        trial, block, lane, jobs = running.assignment
        return JournalEntry(
            trial=trial.trial, scenario=trial.scenario, block=block, lane=lane, lanes=jobs, status=status, error=error,
            attempt=running.attempt, agent=self._campaign.agent_digest, written=now(),
        )  # fmt: skip

    def _total(self) -> int:
        """Finished and outstanding trials. An interrupt may come between a trial's record and the schedule's update."""
        return len(self._status.keys() | self._schedule.outstanding)

    def _progress(self) -> Progress:
        return Progress(
            over=len(self._status),
            total=self._total(),
            reused=self._reused,
            failed=sum(status in {EntryStatus.FAILED, EntryStatus.TIMED_OUT} for status in self._status.values()),
            running=len(self._running),
            jobs=self._schedule.jobs,
            discarded=self._discarded,
            elapsed_s=self.elapsed_s,
            not_run=sum(status is EntryStatus.NOT_RUN for status in self._status.values()),
        )


def _kept(entry: JournalEntry, end: BlockEnd, why: str) -> JournalEntry:
    """The last entry of a trial in a block that stayed late; the reason of a failed trial stays in front.

    Nothing is estimated from a trial in which a timer may have fired.
    """
    status, remark = entry.status, f"kept although {why}"
    if entry.stall_ns and status is EntryStatus.DONE:
        status = EntryStatus.UNUSABLE
        remark = f"{stall_words(entry.stall_ns)}, and its block was repeated {end.attempt - 1} times"
    error = remark if entry.error is None else f"{entry.error}\n{remark}"
    return entry.model_copy(update={"status": status, "error": error, "written": now()})


def invalid(link: LinkReport) -> str | None:
    """Why the link makes a trial unusable; None if it carried every packet."""
    if link.clock_step:
        return "the clock stepped"
    if link.kernel_drops:
        return f"the kernel dropped {link.kernel_drops} packets before or after the link"
    if link.oversized:
        return f"{link.oversized} frames were longer than the MTU"
    return None


def _status(status: TrialStatus) -> EntryStatus:
    return EntryStatus.FAILED if status is TrialStatus.CANCELLED else EntryStatus(status.value)


def _late_words(end: BlockEnd, scenarios: list[Scenario]) -> str:
    if end.late.stall_ns:
        return stall_words(end.late.stall_ns)
    tolerances = sorted({tolerance_ns(scenario.link) for scenario in scenarios})
    span = " to ".join(f"{ns / 1e6:g}" for ns in dict.fromkeys((tolerances[0], tolerances[-1])))
    return f"the link was late: {end.late.share:.1%} of its packets by more than {span} ms"
