"""Campaigns on a host that answers in no time."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.runner.fakes import Behaviour, Ears, FakeHost, addresses, link_report, make_plan, result
from wirelab.clock.host import HostGoneError, RefusedError
from wirelab.errors import RunError, WirelabError
from wirelab.runner.budget import Budget
from wirelab.runner.campaign import open_campaign
from wirelab.runner.disk import DiskFullError
from wirelab.runner.endpoints import Endpoints
from wirelab.runner.implementations import load
from wirelab.runner.progress import Summary
from wirelab.runner.run import InterruptedRunError, Runner
from wirelab.runner.schedule import Assignment, BlockEnd, LatePackets, Schedule
from wirelab.runner.start import run_campaign
from wirelab.schema import Clock, Confirmation, NotConfirmed, TrialRequest, TrialResult, TrialStatus
from wirelab.schema.campaign import EntryStatus, JournalEntry, read_journal
from wirelab.schema.plan import Plan, Stop


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "results" / "fake"


def run(
    plan: Plan,
    folder: Path,
    behaviour: Behaviour | None = None,
    *,
    jobs: int = 2,
    retry_failed: bool = False,
    fresh: bool = False,
    host: FakeHost | None = None,
) -> tuple[Summary, FakeHost, Ears]:
    host, ears = host or FakeHost(behaviour), Ears()
    endpoints = Endpoints(Path("/agent"), load(None), {}, addresses())
    with open_campaign(folder, plan, "digest", fresh=fresh, retry_failed=retry_failed) as campaign:
        summary = run_campaign(Runner(campaign, host, endpoints, ears), plan, jobs, None)
    return summary, host, ears


def entries(folder: Path) -> list[JournalEntry]:
    return read_journal(folder / "journal.jsonl")[0]


def last(folder: Path) -> dict[str, EntryStatus]:
    return {entry.trial: entry.status for entry in entries(folder)}


def stop_at(number: int, error: BaseException) -> Behaviour:
    calls = 0

    def behave(request: TrialRequest, _: int) -> TrialResult:
        nonlocal calls
        calls += 1
        if calls == number:
            raise error
        return result(request.trial)

    return behave


def test_a_plan_runs_to_its_end_and_every_trial_is_journaled_with_its_records(folder: Path) -> None:
    plan = make_plan(scenarios=2, blocks=3)
    summary, host, _ = run(plan, folder)
    assert summary.run == summary.total == 6
    assert host.most_at_once == 2
    assert set(last(folder).values()) == {EntryStatus.DONE}
    assert json.loads((folder / "plan.json").read_text())["experiment"]["name"] == "fake"
    for trial in last(folder):
        parameters = json.loads((folder / "trials" / trial / "client" / "parameters.json").read_text())
        assert parameters["server"]["address"] == "10.0.0.2"
        assert json.loads((folder / "trials" / trial / "result.json").read_text())["trial"] == trial


def test_the_same_command_twice_runs_nothing_new(folder: Path) -> None:
    run(make_plan(), folder)
    summary, host, _ = run(make_plan(), folder)
    assert host.started == []
    assert (summary.run, summary.reused) == (0, 6)


def test_a_plan_with_a_new_scenario_runs_only_that_scenario(folder: Path) -> None:
    run(make_plan(scenarios=2), folder)
    summary, host, _ = run(make_plan(scenarios=3), folder)
    assert {request.trial[:2] for request in host.started} == {"t2"}
    assert (summary.run, summary.reused) == (3, 6)


def test_ctrl_c_cancels_running_trials_and_the_next_run_continues(folder: Path) -> None:
    with pytest.raises(InterruptedRunError, match="stopped after 3 of 6 trials") as raised:
        run(make_plan(), folder, stop_at(4, KeyboardInterrupt()))
    assert raised.value.exit_code == 130
    statuses = list(last(folder).values())
    assert statuses.count(EntryStatus.DONE) == 3
    assert statuses.count(EntryStatus.CANCELLED) == 2
    summary, _, _ = run(make_plan(), folder)
    assert (summary.run, summary.reused) == (3, 3)
    assert set(last(folder).values()) == {EntryStatus.DONE}


def test_a_trial_that_is_recorded_during_ctrl_c_counts_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    over = Schedule.over
    calls = itertools.count(1)

    def interrupted(schedule: Schedule, assignment: Assignment, late: LatePackets | None) -> BlockEnd | None:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return over(schedule, assignment, late)

    monkeypatch.setattr(Schedule, "over", interrupted)
    with pytest.raises(InterruptedRunError, match="stopped after 3 of 6 trials"):
        run(make_plan(), folder)


def test_finished_trials_survive_a_dead_host(folder: Path) -> None:
    with pytest.raises(HostGoneError):
        run(make_plan(), folder, stop_at(3, HostGoneError("gone")))
    summary, _, _ = run(make_plan(), folder)
    assert (summary.run, summary.reused) == (4, 2)


def test_folders_of_unfinished_trials_are_removed_on_resume(folder: Path) -> None:
    with pytest.raises(HostGoneError):
        run(make_plan(blocks=1), folder, stop_at(2, HostGoneError("gone")))
    [unfinished] = {path.name for path in (folder / "trials").iterdir()} - set(last(folder))
    stale = folder / "trials" / unfinished / "client" / "stale"
    stale.touch()
    run(make_plan(blocks=1), folder)
    assert not stale.exists()


def test_a_failed_trial_is_recorded_and_reported_once_and_not_repeated(folder: Path) -> None:
    def behave(request: TrialRequest, _: int) -> TrialResult:
        return result(request.trial, TrialStatus.FAILED if request.trial.startswith("t0") else TrialStatus.DONE)

    summary, _, ears = run(make_plan(), folder, behave)
    assert summary.failed == 3
    assert ears.said == ["scenario 0: failed: because"]
    _, host, _ = run(make_plan(), folder)
    assert host.started == []


def test_a_trial_with_an_exchange_that_the_link_did_not_confirm_failed_and_is_not_run_again(folder: Path) -> None:
    lacking = NotConfirmed(client=0, index=2, reason="the link delivered 0 of 30 bytes to the server")
    confirmation = Confirmation(checked=3, not_confirmed=(lacking,))

    def behave(request: TrialRequest, _: int) -> TrialResult:
        (folder / "trials" / request.trial / "client" / "stderr.txt").write_text("I did nothing\n")
        return result(request.trial).model_copy(update={"confirmation": confirmation})

    summary, _, ears = run(make_plan(1, 1), folder, behave)
    assert (summary.failed, summary.not_confirmed) == (1, 1)
    [entry] = entries(folder)
    assert (entry.status, entry.not_confirmed) == (EntryStatus.FAILED, 1)
    assert entry.error is not None
    [first, *printed] = entry.error.splitlines()
    assert first.startswith("not confirmed by the link: 1 of 3 exchanges that client builtin calls completed with")
    assert printed[:3] == ["client builtin:", "  its stderr ends with:", "      I did nothing"]
    assert len(ears.said) == 1
    summary, host, _ = run(make_plan(1, 1), folder, behave)
    assert (host.started, summary.not_confirmed) == ([], 1)


def test_a_trial_whose_rows_the_agent_cannot_read_is_not_confirmed(folder: Path) -> None:
    confirmation = Confirmation(checked=0, not_confirmed=(), unread="exchanges.arrow: `outcome` is not text")
    run(
        make_plan(1, 1),
        folder,
        lambda request, _: result(request.trial).model_copy(update={"confirmation": confirmation}),
    )
    [entry] = entries(folder)
    assert entry.status is EntryStatus.FAILED
    words = "not confirmed by the link: the rows of the client cannot be read: exchanges.arrow: `outcome` is not text"
    assert entry.error == words


def test_retry_failed_runs_failed_trials_alone_and_keeps_their_first_records(folder: Path) -> None:
    run(
        make_plan(blocks=1),
        folder,
        lambda request, _: result(
            request.trial, TrialStatus.FAILED if request.trial == "t0-0000" else TrialStatus.DONE
        ),
    )
    _, host, _ = run(make_plan(blocks=1), folder, retry_failed=True)
    assert [request.trial for request in host.started] == ["t0-0000"]
    assert last(folder)["t0-0000"] is EntryStatus.DONE
    assert (folder / "trials" / "t0-0000.discarded-1" / "result.json").exists()


def test_retry_failed_runs_trials_that_timed_out_too(folder: Path) -> None:
    run(make_plan(1, 1), folder, lambda request, _: result(request.trial, TrialStatus.TIMED_OUT))
    _, host, _ = run(make_plan(1, 1), folder, retry_failed=True)
    assert len(host.started) == 1
    assert last(folder) == {"t0-0000": EntryStatus.DONE}


def test_unsupported_and_timed_out_are_not_failed(folder: Path) -> None:
    statuses = {"t0-0000": TrialStatus.UNSUPPORTED, "t1-0000": TrialStatus.TIMED_OUT}
    run(make_plan(blocks=1), folder, lambda request, _: result(request.trial, statuses[request.trial]))
    assert last(folder) == {"t0-0000": EntryStatus.UNSUPPORTED, "t1-0000": EntryStatus.TIMED_OUT}


def test_a_refused_trial_fails_and_the_rest_goes_on(folder: Path) -> None:
    def behave(request: TrialRequest, _: int) -> TrialResult | RefusedError:
        return RefusedError(request.trial, "no such lane") if request.trial == "t0-0000" else result(request.trial)

    summary, _, _ = run(make_plan(), folder, behave)
    assert (summary.run, summary.failed) == (6, 1)
    assert next(entry for entry in entries(folder) if entry.trial == "t0-0000").error == "no such lane"


def test_a_trial_whose_guest_somebody_ended_is_no_failure_and_the_next_run_starts_it(folder: Path) -> None:
    def behave(request: TrialRequest, _: int) -> TrialResult | RefusedError:
        killed = RefusedError(request.trial, "the guest was ended by SIGTERM", again=True)
        return killed if request.trial == "t0-0000" else result(request.trial)

    summary, _, _ = run(make_plan(), folder, behave)
    assert (summary.failed, summary.not_run, summary.is_whole) == (0, 1, False)
    assert last(folder)["t0-0000"] is EntryStatus.NOT_RUN
    summary, host, _ = run(make_plan(), folder)
    assert len(host.started) == 1
    assert (summary.is_whole, last(folder)["t0-0000"]) == (True, EntryStatus.DONE)


@pytest.mark.parametrize("fault", [{"clock_step": True}, {"kernel_drops": 2}, {"oversized": 1}])
def test_an_invalid_trial_is_repeated_twice_and_then_fails(folder: Path, fault: dict[str, int]) -> None:
    broken = link_report().model_copy(update=fault)
    _, host, _ = run(make_plan(1, 1), folder, lambda request, _: result(request.trial, link=broken))
    assert len(host.started) == 3
    assert [entry.status for entry in entries(folder)] == [
        EntryStatus.DISCARDED,
        EntryStatus.DISCARDED,
        EntryStatus.FAILED,
    ]


def test_an_invalid_trial_that_succeeds_the_second_time_is_done(folder: Path) -> None:
    broken = link_report().model_copy(update={"clock_step": True})
    run(make_plan(1, 1), folder, lambda request, attempt: result(request.trial, link=broken if attempt == 1 else None))
    assert [(entry.status, entry.attempt) for entry in entries(folder)] == [
        (EntryStatus.DISCARDED, 1),
        (EntryStatus.DONE, 2),
    ]


ENDED = "the link process ended"


def test_a_link_process_that_ends_is_replaced_and_its_block_runs_again(folder: Path) -> None:
    def behave(request: TrialRequest, attempt: int) -> TrialResult | RefusedError:
        dies = request.trial == "t1-0001" and attempt == 1
        return RefusedError(request.trial, ENDED) if dies else result(request.trial)

    summary, host, ears = run(make_plan(2, 3), folder, behave, jobs=1)
    started = [request.trial for request in host.started]
    assert (host.replaced, sorted(started[4:6])) == (1, ["t0-0001", "t1-0001"])
    assert (len(started), summary.run, summary.failed, summary.discarded) == (8, 6, 0, 2)
    assert set(last(folder).values()) == {EntryStatus.DONE}
    assert [(entry.trial, entry.status, entry.error) for entry in entries(folder)[3:5]] == [
        ("t0-0001", EntryStatus.DISCARDED, ENDED),
        ("t1-0001", EntryStatus.DISCARDED, ENDED),
    ]
    assert ears.said == [f"{ENDED}; another one is started, and block 1 will run again"]


def test_of_parallel_trials_those_of_a_link_process_that_ended_all_run_again(folder: Path) -> None:
    def behave(request: TrialRequest, _: int) -> TrialResult | RefusedError:
        dies = len(host_of) == 0
        host_of.append(request.trial)
        return RefusedError(request.trial, ENDED) if dies else result(request.trial)

    host_of: list[str] = []
    summary, host, _ = run(make_plan(4, 1), folder, behave, jobs=4)
    assert (host.replaced, len(host.started), summary.run, summary.discarded) == (1, 8, 4, 4)
    assert set(last(folder).values()) == {EntryStatus.DONE}


def test_a_link_process_that_ends_again_and_again_ends_the_run_with_finished_trials_kept(folder: Path) -> None:
    def behave(request: TrialRequest, _: int) -> TrialResult | RefusedError:
        return result(request.trial) if request.trial == "t0-0000" else RefusedError(request.trial, ENDED)

    with pytest.raises(RunError, match="the link process ended, 3 times in this run") as error:
        run(make_plan(1, 3), folder, behave, jobs=1)
    assert error.value.exit_code == 1
    assert last(folder) == {"t0-0000": EntryStatus.DONE, "t0-0001": EntryStatus.DISCARDED}


def test_a_late_block_is_discarded_as_a_whole_and_its_records_are_archived(folder: Path) -> None:
    late = link_report(late=50)

    def behave(request: TrialRequest, attempt: int) -> TrialResult:
        return result(request.trial, link=late if request.trial == "t0-0000" and attempt == 1 else None)

    summary, host, ears = run(make_plan(2, 1), folder, behave)
    assert [request.trial for request in host.started] == ["t0-0000", "t1-0000"] * 2
    assert (summary.run, summary.discarded) == (2, 2)
    assert (
        "the link was late: 25.0% of its packets by more than 0.2 ms; repeated with 1 trial at a time" in ears.said[0]
    )
    assert {path.name for path in (folder / "trials").iterdir()} == {
        "t0-0000",
        "t1-0000",
        "t0-0000.discarded-1",
        "t1-0000.discarded-1",
    }
    assert set(last(folder).values()) == {EntryStatus.DONE}


def test_a_block_that_stays_late_is_accepted_and_reported(folder: Path) -> None:
    late = link_report(late=50)
    summary, _, _ = run(make_plan(1, 1), folder, lambda request, _: result(request.trial, link=late))
    final = entries(folder)[-1]
    assert summary.flagged_blocks == 1
    assert final.status is EntryStatus.DONE
    assert final.error is not None
    assert final.error.startswith("kept although the link was late")


def test_a_trial_that_ended_before_it_was_cancelled_counts(folder: Path) -> None:
    class Deaf(FakeHost):
        def cancel(self, trial: str) -> None:
            """The result is on its way already."""

    host = Deaf(stop_at(1, KeyboardInterrupt()))
    with pytest.raises(InterruptedRunError, match="stopped after 1 of 2 trials"):
        run(make_plan(2, 1), folder, jobs=1, host=host)
    assert last(folder) == {"t0-0000": EntryStatus.DONE}


def test_a_crash_between_the_line_and_the_renaming_of_a_discarded_attempt_keeps_its_records(folder: Path) -> None:
    run(make_plan(1, 1), folder)
    entry = entries(folder)[-1].model_copy(update={"status": EntryStatus.DISCARDED, "error": "late"})
    with (folder / "journal.jsonl").open("ab") as journal:
        journal.write(entry.line())
    with open_campaign(folder, make_plan(1, 1), "digest", fresh=False, retry_failed=False) as campaign:
        assert campaign.lost == ()
    assert (folder / "trials" / "t0-0000.discarded-1" / "result.json").exists()


def test_a_lost_line_of_a_repeated_trial_leaves_the_records_of_its_discarded_attempt(folder: Path) -> None:
    def behave(request: TrialRequest, attempt: int) -> TrialResult:
        return result(request.trial, link=link_report(late=50) if attempt == 1 else None)

    run(make_plan(1, 1), folder, behave)
    journal = folder / "journal.jsonl"
    *earlier_lines, _ = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(earlier_lines))
    kept = folder / "trials" / "t0-0000.discarded-1" / "result.json"
    earlier = kept.read_bytes()
    with open_campaign(folder, make_plan(1, 1), "digest", fresh=False, retry_failed=False) as campaign:
        assert campaign.lost == ("t0-0000 is run again: the journal has no whole line of it",)
    assert kept.read_bytes() == earlier


def test_a_lost_line_of_a_discarded_attempt_leaves_its_records(folder: Path) -> None:
    def behave(request: TrialRequest, attempt: int) -> TrialResult:
        return result(request.trial, link=link_report(late=50) if attempt == 1 else None)

    run(make_plan(1, 1), folder, behave)
    journal = folder / "journal.jsonl"
    done = next(line for line in journal.read_bytes().splitlines(keepends=True) if b'"done"' in line)
    journal.write_bytes(done)
    kept = folder / "trials" / "t0-0000.discarded-1" / "result.json"
    earlier = kept.read_bytes()
    with open_campaign(folder, make_plan(1, 1), "digest", fresh=False, retry_failed=False) as campaign:
        assert [entry.trial for entry in campaign.reopened] == ["t0-0000"]
    assert kept.read_bytes() == earlier


def test_after_one_stall_the_block_is_run_again_and_counts(folder: Path) -> None:
    stall = link_report(worst_ns=20_000_000_000)

    def behave(request: TrialRequest, attempt: int) -> TrialResult:
        return result(request.trial, link=stall if attempt == 1 else None)

    summary, _, ears = run(make_plan(1, 1), folder, behave)
    assert "block 0: the link delivered a packet 20 s late, so a timer may have fired; repeated" in ears.said[0]
    assert (summary.discarded, summary.unusable, summary.flagged_blocks) == (1, 0, 0)
    assert entries(folder)[-1].status is EntryStatus.DONE


def test_a_trial_that_stalls_in_each_attempt_is_kept_and_unusable(folder: Path) -> None:
    def behave(request: TrialRequest, _: int) -> TrialResult:
        worst_ns = 30_000_000 if request.trial == "t0-0000" else 1
        return result(request.trial, link=link_report(worst_ns=worst_ns))

    summary, _, ears = run(make_plan(2, 1), folder, behave)
    last = {entry.trial: entry for entry in entries(folder)}
    assert last["t0-0000"].status is EntryStatus.UNUSABLE
    assert "30 ms late, so a timer may have fired, and its block was repeated 2 times" in (last["t0-0000"].error or "")
    assert last["t1-0000"].status is EntryStatus.DONE
    assert (summary.discarded, summary.unusable, summary.failed) == (4, 1, 0)
    assert ears.said[-1].startswith("block 0: kept although the link delivered a packet 30 ms late")


def test_a_trial_that_stalled_in_a_block_that_was_not_over_is_run_again(folder: Path) -> None:
    def stall_and_interrupt(request: TrialRequest, _: int) -> TrialResult:
        if request.trial == "t1-0000":
            raise KeyboardInterrupt
        return result(request.trial, link=link_report(worst_ns=30_000_000))

    with pytest.raises(InterruptedRunError):
        run(make_plan(2, 1), folder, stall_and_interrupt, jobs=1)
    assert last(folder)["t0-0000"] is EntryStatus.DONE
    summary, host, ears = run(make_plan(2, 1), folder)
    assert [request.trial for request in host.started] == ["t0-0000", "t1-0000"]
    assert ears.said[0].startswith("t0-0000 is run again: the link delivered a packet 30 ms late")
    assert summary.reused == 0


def test_a_failed_trial_of_a_block_that_stays_late_keeps_its_reason(folder: Path) -> None:
    late = link_report(late=50)
    run(make_plan(1, 1), folder, lambda request, _: result(request.trial, TrialStatus.FAILED, link=late))
    assert (entries(folder)[-1].error or "").startswith("because\nkept although the link was late")


def test_a_program_that_is_not_installed_fails_its_scenario_with_the_way_to_install_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wirelab.runner.implementations.find_program", lambda _: None)
    summary, host, _ = run(make_plan(1, 2, client="curl"), folder)
    assert host.started == []
    assert summary.failed == 2
    assert entries(folder)[0].error == "curl is not installed; apt install curl"


def test_a_full_disk_stops_the_run_with_finished_trials_kept(folder: Path) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(DiskFullError, match="no space left on the device") as raised:
        run(make_plan(), folder, stop_at(4, full))
    assert raised.value.exit_code == 1
    assert list(last(folder).values()) == [EntryStatus.DONE] * 3


def test_a_failure_on_a_full_disk_is_blamed_on_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(folder.parents[1])
    free = iter([10**9, 10**9])
    monkeypatch.setattr("wirelab.runner.disk.shutil.disk_usage", lambda _: usage._replace(free=next(free, 1)))
    with pytest.raises(DiskFullError):
        run(make_plan(), folder, lambda request, _: result(request.trial, TrialStatus.FAILED))
    assert entries(folder) == []


def test_another_experiments_folder_is_refused(folder: Path) -> None:
    run(make_plan(), folder)
    with pytest.raises(WirelabError, match="is a campaign of 'fake', not of 'other'") as raised:
        run(make_plan(name="other"), folder)
    assert "--out" in str(raised.value)
    assert "--fresh" in str(raised.value)


def test_fresh_archives_the_old_campaign(folder: Path) -> None:
    run(make_plan(), folder)
    summary, _, _ = run(make_plan(name="other"), folder, fresh=True)
    assert summary.run == 6
    assert json.loads((folder.parent / "fake.old-1" / "plan.json").read_text())["experiment"]["name"] == "fake"


def test_a_folder_without_a_campaign_is_refused(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "thesis.tex").touch()
    with pytest.raises(WirelabError, match=r"contains thesis\.tex and is not a campaign"):
        run(make_plan(), folder)


def test_results_of_another_agent_are_not_mixed_in(folder: Path) -> None:
    run(make_plan(), folder)
    with (
        pytest.raises(WirelabError, match="another build"),
        open_campaign(folder, make_plan(), "other", fresh=False, retry_failed=False),
    ):
        pass


def test_two_runners_do_not_share_a_campaign(folder: Path) -> None:
    with (
        open_campaign(folder, make_plan(), "digest", fresh=False, retry_failed=False),
        pytest.raises(RunError, match="is in use by another process"),
        open_campaign(folder, make_plan(), "digest", fresh=False, retry_failed=False),
    ):
        pass


def test_a_full_disk_at_the_start_keeps_the_plan_of_the_last_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(make_plan(), folder)
    before = (folder / "plan.json").read_text()
    with monkeypatch.context() as full:
        full.setattr("wirelab.runner.disk.Path.write_text", _no_space)
        with pytest.raises(DiskFullError):
            run(make_plan(blocks=4), folder)
    assert (folder / "plan.json").read_text() == before
    summary, _, _ = run(make_plan(blocks=4), folder)
    assert (summary.run, summary.reused) == (2, 6)


def _no_space(path: Path, *_: object, **__: object) -> None:
    path.write_bytes(b"")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_trials_start_no_sooner_than_the_gap_after_one_another(folder: Path) -> None:
    now, started = 0.0, []

    class Host(FakeHost):
        def start(self, request: TrialRequest) -> None:
            started.append(now)
            super().start(request)

        def wait(self, timeout_s: float) -> TrialResult | RefusedError | None:
            nonlocal now
            assert timeout_s > 0
            now += timeout_s / 2 + 1e-3
            return super().wait(timeout_s) if self.started else None

    plan = make_plan(scenarios=3, blocks=2)
    endpoints = Endpoints(Path("/agent"), load(None), {}, addresses())
    with open_campaign(folder, plan, "digest", fresh=False, retry_failed=False) as campaign:
        runner = Runner(campaign, Host(), endpoints, Ears(), clock=lambda: now)
        summary = run_campaign(runner, plan, 4, None, gap_s=0.5)
    assert summary.run == len(started) == 6
    assert min(after - before for before, after in itertools.pairwise(started)) >= 0.5


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_budget_of_virtual_time_counts_the_longest_trial_of_each_block(folder: Path, jobs: int) -> None:
    seconds = {"t0": 2, "t1": 3}

    def behave(request: TrialRequest, _: int) -> TrialResult:
        ended_ns = 1 + seconds[request.trial.partition("-")[0]] * 10**9
        return result(request.trial).model_copy(update={"end_ns": ended_ns})

    plan = make_plan(scenarios=2, blocks=8, least=1)
    stop = Stop(replicates=(1, 8), interval=None, budget_ns=7 * 10**9)
    experiment = plan.experiment.model_copy(update={"stop": stop})
    scenarios = tuple(each.model_copy(update={"clock": Clock.VIRTUAL}) for each in plan.scenarios)
    plan = plan.model_copy(update={"experiment": experiment, "scenarios": scenarios})
    summary, _, _ = run(plan, folder, behave, jobs=jobs)
    assert summary.run == 2 * 3, "the blocks end after 3, 6 and 9 s"


def test_a_run_starts_no_trial_after_its_budget_and_the_next_one_continues(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The budget is time of this machine, and one trial alone may be longer than it."""
    now_s = 1000.0
    monkeypatch.setattr("wirelab.runner.budget.time.monotonic", lambda: now_s)

    def slow(request: TrialRequest, _: int) -> TrialResult:
        nonlocal now_s
        now_s += 40
        return result(request.trial)

    plan, host, endpoints = (
        make_plan(scenarios=2, blocks=3),
        FakeHost(slow),
        Endpoints(Path("/agent"), load(None), {}, addresses()),
    )
    with open_campaign(folder, plan, "digest", fresh=False, retry_failed=False) as campaign:
        runner = Runner(campaign, host, endpoints, Ears())
        summary = run_campaign(runner, plan, 1, None, budget=Budget.of(90 * 10**9))
    assert (summary.run, len(host.started), now_s) == (3, 3, 1120.0)
    assert (summary.cut_after_blocks, summary.cut_scenarios) == (2, 2)
    again, _, _ = run(plan, folder)
    assert (again.run, again.reused, again.cut_after_blocks) == (3, 3, None)
