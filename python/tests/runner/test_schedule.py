"""The schedule in virtual time."""

from __future__ import annotations

from collections.abc import Callable

from tests.runner.fakes import make_plan
from wirelab.runner.schedule import Assignment, BlockEnd, BlockOutcome, Cut, Schedule, Stopping
from wirelab.runner.timing_error import LatePackets

IN_TIME = LatePackets(100, 0)
LATE = LatePackets(100, 50)


def schedule(
    scenarios: int = 2,
    blocks: int = 3,
    jobs: int = 2,
    stopping: Stopping | None = None,
    finished: tuple[str, ...] = (),
    *,
    alone: tuple[int, ...] = (),
) -> Schedule:
    plan = make_plan(scenarios, blocks)
    keys = {plan.scenarios[number].key for number in alone}
    return Schedule([block.trials for block in plan.blocks], jobs, stopping or Stopping(blocks), finished, keys)


def drain(
    subject: Schedule, late: Callable[[Assignment], LatePackets | None] = lambda _: IN_TIME
) -> tuple[list[str], list[BlockEnd]]:
    """Run everything; trials end in the order of their starts. Gives what was started, and every block's end."""
    started: list[str] = []
    ends: list[BlockEnd] = []
    running: list[Assignment] = []
    for _ in range(1000):
        while (assignment := subject.next()) is not None:
            running.append(assignment)
            started.append(assignment.trial.trial)
        if not running:
            return started, ends
        over = running.pop(0)
        if (end := subject.over(over, late(over))) is not None:
            ends.append(end)
    raise AssertionError("the schedule does not end")


def test_every_trial_runs_once_and_every_block_is_accepted() -> None:
    started, ends = drain(schedule())
    assert sorted(started) == sorted(f"t{s}-{b:04d}" for s in range(2) for b in range(3))
    assert [(end.block, end.outcome) for end in ends] == [(b, BlockOutcome.ACCEPTED) for b in range(3)]


def test_each_job_runs_one_trial_at_a_time() -> None:
    subject = schedule(scenarios=5, jobs=3)
    taken = [subject.next() for _ in range(4)]
    assert [assignment.lane for assignment in taken if assignment] == [0, 1, 2]
    assert taken[3] is None
    assert taken[1] is not None
    subject.over(taken[1], IN_TIME)
    again = subject.next()
    assert again is not None
    assert again.lane == 1


def test_with_a_fixed_number_blocks_overlap() -> None:
    subject = schedule(scenarios=1, blocks=3, jobs=3)
    assert [a.block for a in iter(subject.next, None)] == [0, 1, 2]


def test_with_a_stopping_rule_a_block_beyond_the_minimum_waits_for_those_before() -> None:
    subject = schedule(scenarios=1, blocks=3, jobs=1, stopping=Stopping(1, enough=lambda _: False))
    first = subject.next()
    assert first is not None
    assert subject.next() is None
    subject.over(first, IN_TIME)
    second = subject.next()
    assert second is not None
    assert second.block == 1


def test_the_rule_is_asked_once_before_each_block_and_skips_finished_scenarios() -> None:
    asked: list[str] = []

    def enough(scenario: str) -> bool:
        asked.append(scenario[-1])
        return scenario.endswith("1")

    started, _ = drain(schedule(scenarios=2, blocks=4, jobs=1, stopping=Stopping(2, enough)))
    assert started.count("t1-0002") == 0
    assert len([trial for trial in started if trial.startswith("t0")]) == 4
    assert asked == ["0", "1", "0"]


def test_the_rule_is_asked_once_for_as_many_blocks_as_the_jobs_can_run() -> None:
    asked: list[str] = []
    stopping = Stopping(1, enough=lambda scenario: bool(asked.append(scenario[-1])))
    drain(schedule(scenarios=2, blocks=7, jobs=7, stopping=stopping))
    assert asked == ["0", "1"] * 2


def test_no_block_starts_after_the_budget() -> None:
    over: list[int] = []
    subject = schedule(scenarios=2, blocks=5, jobs=1, stopping=Stopping(1, time_is_up=lambda: len(over) >= 3))

    def count(assignment: Assignment) -> LatePackets:
        over.append(assignment.block)
        return IN_TIME

    drain(subject, count)
    assert over == [0, 0, 1, 1]
    assert not subject.outstanding


def test_no_trial_of_an_open_block_starts_once_starts_end() -> None:
    over: list[int] = []
    subject = schedule(scenarios=3, blocks=2, jobs=2, stopping=Stopping(2, starts_end=lambda: len(over) >= 2))

    def count(assignment: Assignment) -> LatePackets:
        over.append(assignment.block)
        return IN_TIME

    started, _ = drain(subject, count)
    # What ran when starts ended has ended too.
    assert started == ["t0-0000", "t1-0000", "t2-0000"]
    assert over == [0, 0, 0]
    assert subject.cut == Cut(1, 3)
    assert not subject.outstanding


def test_starts_that_end_when_nothing_is_left_cut_nothing() -> None:
    over: list[int] = []
    subject = schedule(scenarios=1, blocks=2, jobs=1, stopping=Stopping(2, starts_end=lambda: len(over) >= 2))
    drain(subject, lambda each: over.append(each.block) or IN_TIME)  # type: ignore[func-returns-value]
    assert (over, subject.cut) == ([0, 1], None)


def test_a_late_block_is_not_repeated_after_starts_have_ended() -> None:
    over: list[int] = []
    subject = schedule(scenarios=1, blocks=1, jobs=1, stopping=Stopping(1, starts_end=lambda: bool(over)))
    started, ends = drain(subject, lambda each: over.append(each.block) or LatePackets(100, 50, 1))  # type: ignore[func-returns-value]
    assert started == ["t0-0000"]
    assert [end.outcome for end in ends] == [BlockOutcome.DISCARDED]
    assert (subject.cut, subject.outstanding) == (Cut(1, 1), set())


def test_a_late_block_is_repeated_as_a_whole_with_half_the_jobs() -> None:
    subject = schedule(scenarios=4, blocks=1, jobs=4)
    late_once = iter([LATE] * 4)
    jobs: list[int] = []

    def watch(assignment: Assignment) -> LatePackets:
        jobs.append(assignment.jobs)
        return next(late_once, IN_TIME)

    started, ends = drain(subject, watch)
    assert [end.outcome for end in ends] == [BlockOutcome.DISCARDED, BlockOutcome.ACCEPTED]
    assert len(ends[0].trials) == 4
    assert len(started) == 8
    assert jobs == [4] * 4 + [2] * 4


def test_a_block_that_is_late_three_times_is_accepted_with_a_flag() -> None:
    subject = schedule(scenarios=2, blocks=1, jobs=4)
    started, ends = drain(subject, lambda _: LATE)
    assert [end.outcome for end in ends] == [BlockOutcome.DISCARDED, BlockOutcome.DISCARDED, BlockOutcome.FLAGGED]
    assert len(started) == 6
    assert subject.jobs == 1


def test_a_block_that_is_late_with_one_job_is_accepted_with_a_flag_without_a_repeat() -> None:
    started, ends = drain(schedule(scenarios=2, blocks=1, jobs=1), lambda _: LATE)
    assert [end.outcome for end in ends] == [BlockOutcome.FLAGGED]
    assert len(started) == 2


def test_a_block_that_stalled_is_repeated_twice_even_with_one_job_and_is_kept() -> None:
    def only_the_second(assignment: Assignment) -> LatePackets:
        return LatePackets(100, 0, 30_000_000) if assignment.trial.trial == "t1-0000" else IN_TIME

    started, ends = drain(schedule(scenarios=2, blocks=1, jobs=1), only_the_second)
    assert [end.outcome for end in ends] == [BlockOutcome.DISCARDED, BlockOutcome.DISCARDED, BlockOutcome.FLAGGED]
    assert len(started) == 6
    assert (ends[-1].attempt, ends[-1].late.stall_ns) == (3, 30_000_000)


def test_late_blocks_that_overlapped_halve_the_jobs_once() -> None:
    subject = schedule(scenarios=2, blocks=2, jobs=4)
    first_four = iter([LATE] * 4)
    jobs: list[int] = []

    def watch(_: Assignment) -> LatePackets:
        jobs.append(subject.jobs)
        return next(first_four, IN_TIME)

    drain(subject, watch)
    assert min(jobs) == 2


def test_each_block_accepted_after_a_late_one_adds_a_job() -> None:
    subject = schedule(scenarios=1, blocks=12, jobs=4)
    seen: list[int] = []

    def late_once(assignment: Assignment) -> LatePackets:
        seen.append(subject.jobs)
        return LATE if len(seen) == 1 else IN_TIME

    drain(subject, late_once)
    assert min(seen) == 2
    assert seen[-1] == 4
    assert max(seen) == 4


def test_a_trial_that_never_used_the_link_is_not_repeated_with_its_block() -> None:
    subject = schedule(scenarios=2, blocks=1, jobs=2)
    late_once = iter([None, LATE])
    started, ends = drain(subject, lambda _: next(late_once, IN_TIME))
    assert [trial.trial for trial in ends[0].trials] == ["t1-0000"]
    assert started == ["t0-0000", "t1-0000", "t1-0000"]


def test_an_invalid_trial_is_repeated_first() -> None:
    subject = schedule(scenarios=3, blocks=1, jobs=1)
    first = subject.next()
    assert first is not None
    subject.repeat(first)
    again = subject.next()
    assert again is not None
    assert again.trial == first.trial


def test_finished_trials_are_not_handed_out() -> None:
    started, _ = drain(schedule(scenarios=2, blocks=2, finished=("t0-0000", "t0-0001", "t1-0000")))
    assert started == ["t1-0001"]


def test_the_rule_is_not_asked_for_a_scenario_with_a_finished_trial_in_the_block() -> None:
    asked: list[str] = []
    stopping = Stopping(1, enough=lambda scenario: bool(asked.append(scenario[-1])))
    drain(schedule(scenarios=2, blocks=2, stopping=stopping, finished=("t0-0000", "t1-0000", "t0-0001")))
    assert asked == ["1"]


def test_a_budget_that_ends_a_run_is_reported_with_its_blocks_and_unfinished_scenarios() -> None:
    subject = schedule(scenarios=3, blocks=9, jobs=3, stopping=Stopping(1, time_is_up=lambda: True))
    started, _ = drain(subject)
    assert len(started) == 3
    assert subject.cut == Cut(blocks=1, scenarios=3)


def test_scenarios_that_the_rule_finished_are_not_unfinished_by_the_budget() -> None:
    asked: list[str] = []

    def enough(scenario: str) -> bool:
        asked.append(scenario)
        return scenario.endswith("0")

    stopping = Stopping(2, enough=enough, time_is_up=lambda: True)
    subject = schedule(scenarios=2, blocks=9, jobs=2, stopping=stopping)
    started, _ = drain(subject)
    assert len(started) == 4
    assert len(asked) == 2
    assert subject.cut == Cut(blocks=2, scenarios=1)


def test_a_budget_that_ends_after_the_rule_cuts_nothing() -> None:
    subject = schedule(blocks=9, stopping=Stopping(2, enough=lambda _: True, time_is_up=lambda: True))
    assert len(drain(subject)[0]) == 4
    assert subject.cut is None


def test_trials_that_run_alone_come_first_and_have_no_parallel_trial() -> None:
    subject = schedule(scenarios=3, blocks=2, jobs=4, alone=(1,))
    for block in range(2):
        assignment = subject.next()
        assert assignment is not None
        assert (assignment.trial.trial, assignment.jobs) == (f"t1-{block:04d}", 1)
        assert subject.next() is None
        subject.over(assignment, IN_TIME)
    assert [a.trial.trial for a in iter(subject.next, None)] == ["t0-0000", "t2-0000", "t0-0001", "t2-0001"]


def test_beyond_the_minimum_a_trial_that_runs_alone_waits_for_its_block_and_for_the_others() -> None:
    for stopping in (Stopping(1, enough=lambda _: False), Stopping(1)):
        subject = schedule(scenarios=2, blocks=3, jobs=2, stopping=stopping, alone=(1,))
        started, ends = drain(subject)
        assert started == ["t1-0000", "t0-0000", "t0-0001", "t1-0001", "t0-0002", "t1-0002"]
        assert [end.outcome for end in ends] == [BlockOutcome.ACCEPTED] * 3


def test_a_repeated_trial_that_runs_alone_waits_until_nothing_runs() -> None:
    subject = schedule(scenarios=2, blocks=2, jobs=2, alone=(0,))
    first = subject.next()
    assert first is not None
    subject.repeat(first)
    again = subject.next()
    assert again is not None
    assert again.trial == first.trial


def test_with_steps_of_their_own_the_rule_and_the_budget_do_not_depend_on_the_jobs() -> None:
    def ran(jobs: int) -> tuple[list[str], Cut | None]:
        over: list[str] = []

        def enough(scenario: str) -> bool:
            return scenario.endswith("0") and len(over) >= 4

        stopping = Stopping(1, enough, time_is_up=lambda: len(over) >= 7, step_jobs=1)
        subject = schedule(scenarios=2, blocks=9, jobs=jobs, stopping=stopping)

        def note(assignment: Assignment) -> LatePackets:
            over.append(assignment.trial.trial)
            return IN_TIME

        started, _ = drain(subject, note)
        return sorted(started), subject.cut

    one, cut = ran(1)
    assert cut is not None
    assert 4 < len(one) < 18
    assert [ran(jobs) for jobs in (2, 3, 8)] == [(one, cut)] * 3
