"""What `choose` runs, in which order, and when it ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.choose.worlds import Point, S, World, live_in, with_kernel, work_of
from wirelab.answer.choose.measured import OfChoice
from wirelab.answer.choose.ranking import Parts
from wirelab.cli.choose.work import FIRST, OTHERWISE, SETTINGS, SPENT, TYPICAL, Work
from wirelab.errors import WirelabError
from wirelab.experiment.experiment import Experiment
from wirelab.runner.budget import Budget
from wirelab.runner.start import Options
from wirelab.schema.campaign import JOURNAL, EntryStatus, JournalEntry, read_journal
from wirelab.schema.choose import Chosen
from wirelab.schema.plan import Plan
from wirelab.units import format_duration


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def campaigns(world: World) -> list[tuple[str, int]]:
    """But for those of levers."""
    return [(each.name, each.replicates) for each in world.calls if not each.name.startswith("lever-")]


def answered(work: Work) -> tuple[Chosen, list[Chosen]]:
    """The answer, and the tables that were shown before."""
    shown: list[Chosen] = []
    return work.answer(shown.append), shown


def test_a_table_is_shown_before_anything_but_the_typical_settings_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world = live_in(World(), monkeypatch)
    record, shown = answered(work_of(tmp_path))
    assert campaigns(world) == [(TYPICAL, FIRST), (TYPICAL, 5), (SETTINGS, OTHERWISE)]
    assert [(each["settled"], len(each["settings"])) for each in shown] == [(False, 1)]
    assert {each["trials"] for each in shown[0]["choices"]} == {FIRST}
    assert (record["settled"], record["first"]) == (True, "coaps, persistent")
    assert (record["clock"], record["kernel"], record["warnings"]) == ("virtual", "7.2", [])
    # Every link, with every NAT that a transport sees; the radio's other settings take packets.
    assert len(record["settings"]) == 9


def test_choices_that_are_known_to_be_alike_settle_it_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    world = live_in(World(joules=lambda _: 1.0), monkeypatch)
    record, _ = answered(work_of(tmp_path))
    assert [replicates for name, replicates in campaigns(world) if name == TYPICAL] == [2, 5]
    assert (record["settled"], record["first"], len(record["alike"])) == (True, None, len(record["choices"]))


def test_while_trials_leave_the_first_open_more_are_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Trials of one replicate are compared, so that what they have in common says nothing."""
    own = live_in(World(noise=_by_itself), monkeypatch)
    record, _ = answered(work_of(tmp_path))
    assert [replicates for name, replicates in campaigns(own) if name == TYPICAL] == [2, 5, 8, 12]
    assert not record["settled"]
    common = live_in(World(noise=lambda _, nth: 1 + 0.2 * (nth % 3)), monkeypatch)
    record, _ = answered(work_of(tmp_path))
    assert [replicates for name, replicates in campaigns(common) if name == TYPICAL] == [2, 5]
    assert record["settled"]


def test_while_trials_leave_the_deadline_of_the_lowest_open_more_are_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Three late messages may be more than 5 % of 100, and are less of 160."""

    def late(point: Point) -> int:
        return 3 * (point.candidate.name == "coaps, persistent")

    world = live_in(World(late=late), monkeypatch)
    record, _ = answered(work_of(tmp_path, deadline_ns=10 * S, batch=()))
    assert [replicates for name, replicates in campaigns(world) if name == TYPICAL] == [2, 5, 8, 12]
    assert (record["first"], record["settled"]) == ("coaps, persistent", True)
    world = live_in(World(late=late, near=lambda _: (1.0, 0.0)), monkeypatch)
    answered(work_of(tmp_path, deadline_ns=10 * S, batch=()))
    assert [replicates for name, replicates in campaigns(world) if name == TYPICAL] == [2, 5]


def _by_itself(point: Point, nth: int) -> float:
    return 1 + 0.9 * ((nth + len(point.candidate.name)) % 2)


def test_other_settings_are_run_with_every_nat_that_a_choice_can_see(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world = live_in(World(), monkeypatch)
    answered(work_of(tmp_path))
    [settings] = world.named(SETTINGS)
    assert settings.links == ("nb-iot-psm", "nb-iot-edrx", "nb-iot")
    assert [nat.udp for nat in settings.nats["coaps, persistent"] if nat is not None] == ["120 s", "30 s", "180 s"]
    assert [nat.tcp for nat in settings.nats["mqtts, persistent"] if nat is not None] == ["20 min", "150 s"]
    assert len(settings.nats["coaps, new"]) == 1


def test_what_is_typical_keeps_its_trials_when_other_settings_are_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    live_in(World(), monkeypatch)
    record, _ = answered(work_of(tmp_path))
    assert {each["trials"] for each in record["choices"]} == {5}


def test_a_link_of_which_nothing_else_is_known_has_no_other_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world = live_in(World(), monkeypatch)
    record, _ = answered(work_of(tmp_path, link="ethernet-100m"))
    assert campaigns(world) == [(TYPICAL, FIRST), (TYPICAL, 5)]
    assert (record["criterion"], record["axes"], len(record["settings"])) == ("data", [], 1)


def test_a_spent_budget_leaves_the_rest_out_and_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    world = live_in(World(refused=lambda name, _: name != TYPICAL), monkeypatch)
    record, shown = answered(work_of(tmp_path))
    assert len(shown) == 1
    assert (record["first"], record["settled"], len(record["settings"])) == ("coaps, persistent", True, 1)
    assert record["warnings"] == [
        "The budget did not allow trying everything else that may matter; a longer --budget continues.",
        "The budget did not allow the network's other settings; a longer --budget continues.",
    ]
    # Nothing is tried again and again.
    assert len(world.named("lever-")) == 1


def test_a_budget_that_ends_before_the_first_look_leaves_the_first_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    live_in(World(refused=lambda _, replicates: replicates > FIRST), monkeypatch)
    record, _ = answered(work_of(tmp_path))
    assert not record["settled"]
    assert {each["trials"] for each in record["choices"]} == {FIRST}
    assert len(record["settings"]) == 9


def test_a_budget_for_nothing_ranks_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    live_in(World(refused=lambda *_: True), monkeypatch)
    record, shown = answered(work_of(tmp_path))
    assert (shown, record["first"], record["settled"], record["levers"]) == ([], None, False, [])
    assert {each["not_ranked"] for each in record["choices"]} == {"It was not run."}
    assert record["warnings"][0] == "The budget did not allow the first runs; a longer --budget continues."


def test_without_the_kernel_no_time_out_is_measured_and_no_keep_alive_is_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world = live_in(World(noise=_by_itself), monkeypatch, virtual=False)
    work = work_of(tmp_path, flips=("interval",))
    assert all(each.keep_alive_ns is None for each in work.candidates)
    record, _ = answered(work)
    # In real time a look costs more, so there is one.
    assert campaigns(world) == [(TYPICAL, FIRST), (TYPICAL, 5)]
    assert record["warnings"] == [
        "NAT time-outs and keep-alives were not measured: they need the virtual clock's kernel, which wirelab clock "
        "build builds."
    ]
    assert (record["clock"], record["kernel"], record["maps"]) == ("live", None, [])
    assert [axis["runs"] for axis in record["axes"]] == ["never"] * 3


def test_what_a_question_cannot_have_is_refused_before_anything_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    world = live_in(World(), monkeypatch)
    with pytest.raises(WirelabError, match="unknown link 'nb-iot-psn'") as caught:
        work_of(tmp_path, link="nb-iot-psn")
    assert caught.value.hint is not None
    assert "nb-iot-psm" in caught.value.hint
    with pytest.raises(WirelabError, match="100 ms is less than the link's round trip of 200 ms"):
        work_of(tmp_path, deadline_ns=S // 10)
    with pytest.raises(WirelabError, match="none of these has --auth psk: mqtt"):
        work_of(tmp_path, protocols=("mqtt",), auth="psk")
    assert world.calls == []


def test_a_profile_of_the_users_own_is_asked_about_by_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    live_in(World(), monkeypatch)
    (tmp_path / "mine.toml").write_text('[link]\nrtt = "80 ms"\n', encoding="utf-8")
    record, _ = answered(work_of(tmp_path, link="./mine.toml"))
    assert (record["question"]["link"], record["criterion"]) == ("mine", "data")


def test_what_is_known_of_the_link_is_in_the_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    live_in(World(), monkeypatch)
    work = work_of(tmp_path)
    assert work.rtt_ns == 200_000_000
    record, _ = answered(work)
    assert "uplink 20 kbit/s" in record["question"]["link_words"]


class Campaigns:
    """Runs of which each takes a second for a new trial, or `trial_s`, by a clock of their own. They end as real ones
    do: no trial is started after the budget.
    """

    def __init__(self, patched: pytest.MonkeyPatch, trial_s: float = 1.0) -> None:
        self.now_s, self.plans, self.new = 1000.0, list[Plan](), list[int]()
        with_kernel(patched)
        patched.setattr("wirelab.runner.budget.time.monotonic", lambda: self.now_s)

        def measured(work: Work, name: str, _loaded: Experiment, plan: Plan, budget: Budget) -> dict[str, OfChoice]:
            self.plans.append(plan)
            lacking = _journal(work.folder / name, plan, 0)
            started = 0
            while started < lacking and budget.left_s > 0:
                started, self.now_s = started + 1, self.now_s + trial_s
            _journal(work.folder / name, plan, started)
            self.new.append(started)
            ran = {each.scenario for each in read_journal(work.folder / name / JOURNAL)[0]}
            sizes = {"coaps": 100.0, "mqtts": 300.0}
            joules: Parts = {"tail": {"low": 1, "typical": 1, "high": 1}}
            radio = next(iter(work.network.radios))
            return {
                each.key: OfChoice({0: sizes[each.protocol]}, {radio: {0: joules}}, messages=24)
                if each.key in ran else OfChoice()
                for each in plan.scenarios
            }  # fmt: skip

        patched.setattr(Work, "_measured", measured)


def _journal(folder: Path, plan: Plan, most: int) -> int:
    """Add so many of what it lacks; how many it lacked."""
    folder.mkdir(parents=True, exist_ok=True)
    ended = {each.trial for each in read_journal(folder / JOURNAL)[0]}
    new = [
        JournalEntry(
            trial=trial.trial, scenario=trial.scenario, block=0, lane=0, lanes=1, status=EntryStatus.DONE, error=None,
            attempt=1, agent="a", written="2026-01-01T00:00:00Z",
        )
        for block in plan.blocks for trial in block.trials if trial.trial not in ended
    ]  # fmt: skip
    _append(folder, new[:most])
    return len(new)


def _append(folder: Path, entries: Sequence[JournalEntry]) -> None:
    with (folder / JOURNAL).open("ab") as file:
        file.writelines(each.line() for each in entries)


def test_nothing_is_started_that_the_budget_does_not_allow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By what a new trial took until then."""
    ran = Campaigns(monkeypatch)
    work = work_of(tmp_path / "x", budget_s=1000, link="ethernet-100m")
    link, nats, count = ("ethernet-100m",), {each.name: (None,) for each in work.candidates}, len(work.candidates)
    assert work.run(TYPICAL, work.candidates, link, nats, 2) is not None
    # Of five replicates, two are there.
    ran.now_s = 2000 - count + 0.5
    found = work.run(TYPICAL, work.candidates, link, nats, 5)
    assert (found is not None, work.lacking) == (True, f"{3 * count} of {5 * count} trials")
    # Of the three that are missing, the budget allows one.
    ran.now_s = 2000 - count - 0.5
    assert work.run(TYPICAL, work.candidates, link, nats, 5) is not None
    assert (ran.new, work.lacking) == ([2 * count, 0, count + 1], f"{2 * count - 1} of {5 * count} trials")
    ran.now_s = 1000
    assert work.run(TYPICAL, work.candidates, link, nats, 5) is not None
    assert work.lacking == ""
    ran.now_s = 2000.5
    assert work.run("lever", work.candidates[:1], link, nats, 1) is None
    # Nothing of it is there, so nothing is measured.
    assert work.run(SETTINGS, work.candidates, link, nats, 1) is None
    assert len(ran.plans) == 4


def test_a_machine_that_is_slower_than_the_budget_ends_with_what_was_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nobody knows how long a trial takes before the first one has ended."""
    ran = Campaigns(monkeypatch, trial_s=20)
    work = work_of(tmp_path / "x", budget_s=90, link="ethernet-100m")
    trials = 2 * len(work.candidates)
    assert trials > 5
    record, _ = answered(work)
    assert (ran.new, ran.now_s) == ([5], 1000 + 5 * 20)
    assert work.pace_s == 20
    takes = f"{format_duration(20 * (trials - 5) * S)} or longer"
    left = (
        f"The budget did not allow {trials - 5} of {trials} trials, which takes {takes}; a longer --budget continues."
    )
    assert left in record["warnings"]
    not_run = [each["name"] for each in record["choices"] if each["not_ranked"] == "It was not run."]
    assert len(not_run) == len(work.candidates) - 5
    assert (record["settled"], record["first"]) == (False, None)
    # The next call continues with what is lacking.
    again = work_of(tmp_path / "x", budget_s=900, link="ethernet-100m")
    answered(again)
    assert ran.new[1] == trials - 5


def test_what_an_earlier_call_has_run_in_part_counts_in_a_call_without_a_budget(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = Campaigns(monkeypatch, trial_s=20)
    first, _ = answered(work_of(tmp_path / "x", budget_s=90, link="ethernet-100m"))
    again, _ = answered(work_of(tmp_path / "x", budget_s=0, link="ethernet-100m"))
    assert ran.new[1:] == [0]
    # Only a call that ran something knows how long the rest takes.
    assert {**again, "warnings": []} == {**first, "warnings": []}


def test_fresh_needs_budget_for_what_is_archived(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran = Campaigns(monkeypatch)
    work = work_of(tmp_path / "x", link="ethernet-100m")
    nats = {each.name: (None,) for each in work.candidates}
    work.run(TYPICAL, work.candidates, ("ethernet-100m",), nats, 2)
    work.fresh, work.begun, work.spent_s, work.trials = True, set(), 1.0, 1
    ran.now_s += 299.5
    assert work.run(TYPICAL, work.candidates, ("ethernet-100m",), nats, 2) is None


def test_other_settings_of_which_some_were_run_are_those_that_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = Campaigns(monkeypatch)
    work = work_of(tmp_path / "x", batch=())
    nats = {each.name: work.network.nats_of(each) for each in work.candidates}
    found = work.run(SETTINGS, work.candidates, work.network.links, nats, OTHERWISE)
    assert found is not None
    assert not work.lacking
    [plan] = ran.plans
    other = work_of(tmp_path / "y", budget_s=len(plan.scenarios) - 1.5, batch=())
    some = other.run(SETTINGS, other.candidates, other.network.links, nats, OTHERWISE)
    assert some is not None
    assert len(some) == len(found) - 1
    assert other.kept.keys() == some.keys()
    assert other.lacking == f"{len(plan.scenarios) + 1} of {plan.trials} trials"


def test_the_same_question_again_runs_nothing_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran = Campaigns(monkeypatch)
    first, _ = answered(work_of(tmp_path / "x", link="ethernet-100m"))
    new = [*ran.new]
    assert all(new)
    work = work_of(tmp_path / "x", link="ethernet-100m")
    # What is there needs no budget.
    ran.now_s += 1e6
    again, _ = answered(work)
    assert ran.new[len(new) :] == [0] * len(new)
    assert again == first


def test_what_was_there_already_says_nothing_of_how_long_a_trial_takes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = Campaigns(monkeypatch)
    folder, link = tmp_path / "x", ("ethernet-100m",)
    work = work_of(folder, link="ethernet-100m")
    nats = {each.name: (None,) for each in work.candidates}
    work.run(TYPICAL, work.candidates, link, nats, 2)
    assert work.pace_s == 1.0
    again = work_of(folder, link="ethernet-100m")
    again.run(TYPICAL, again.candidates, link, nats, 2)
    assert again.pace_s == 0.0
    again.run(TYPICAL, again.candidates, link, nats, 3)
    assert again.pace_s == 1.0
    assert ran.new[1:] == [0, len(work.candidates)]


def test_the_next_call_needs_budget_for_trials_that_failed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran = Campaigns(monkeypatch)
    folder, link = tmp_path / "x", ("ethernet-100m",)
    work = work_of(folder, link="ethernet-100m")
    nats = {each.name: (None,) for each in work.candidates}
    work.run(TYPICAL, work.candidates, link, nats, 2)
    last = read_journal(folder / TYPICAL / JOURNAL)[0][-1]
    _append(folder / TYPICAL, [last.model_copy(update={"status": EntryStatus.FAILED, "error": "no memory"})])
    again = work_of(folder, link="ethernet-100m")
    again.spent_s, again.trials = 1.0, 1
    ran.now_s += 299.5
    given = list[Budget]()
    usual = Work._measured

    def measured(self: Work, name: str, loaded: Experiment, plan: Plan, budget: Budget) -> dict[str, OfChoice]:
        given.append(budget)
        return usual(self, name, loaded, plan, budget)

    monkeypatch.setattr(Work, "_measured", measured)
    again.run(TYPICAL, again.candidates, link, nats, 2)
    # Trials that failed in this call are not run again by it.
    again.begun.add(TYPICAL)
    again.run(TYPICAL, again.candidates, link, nats, 2)
    assert given == [SPENT, again.budget]


def test_trials_that_failed_are_run_again_once_in_each_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with_kernel(monkeypatch)
    given = list[tuple[bool, bool]]()

    def run_plan(_plan: Plan, folder: Path, options: Options, *_: object) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        given.append((options.fresh, options.retry_failed))

    monkeypatch.setattr("wirelab.runner.start.run_plan", run_plan)
    monkeypatch.setattr("wirelab.metrics.dataset.measure", lambda _: None)
    monkeypatch.setattr("wirelab.stats.dataset.Dataset.read", lambda _: None)
    monkeypatch.setattr("wirelab.cli.choose.work.measured", lambda *_: {})
    work = work_of(tmp_path / "x", link="ethernet-100m")
    nats = {each.name: (None,) for each in work.candidates}
    for fresh in (False, True):
        work.fresh, work.begun = fresh, set()
        for replicates in (2, 5):
            work.run(TYPICAL, work.candidates, ("ethernet-100m",), nats, replicates)
    assert given == [(False, True), (False, False), (True, True), (False, False)]


def test_each_run_is_found_by_its_choice_its_link_and_its_nat(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ran = Campaigns(monkeypatch)
    work = work_of(tmp_path / "x")
    links, nats = work.network.links, {each.name: work.network.nats_of(each) for each in work.candidates}
    found = work.run(SETTINGS, work.candidates, links, nats, 2)
    assert found is not None
    assert {*found} == {(name, link, nat) for name, of in nats.items() for link in links for nat in of}
    assert {*work.kept} == {*found}
    [plan] = ran.plans
    assert len(plan.scenarios) == len({each.key for each in plan.scenarios}) == len(found)
    for (name, link, nat), (campaign, key) in work.kept.items():
        scenario = plan.scenario(key)
        assert (campaign, scenario.link_name, scenario.protocol) == (SETTINGS, link, name.partition(",")[0])
        assert nat is not None and scenario.link.nat is not None
        assert nat.words.startswith(f"UDP {scenario.link.nat.udp_timeout_ns / 1e9:g} s")


def test_programs_that_run_are_in_the_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Campaigns(monkeypatch)
    record, _ = answered(work_of(tmp_path / "x", link="ethernet-100m", batch=()))
    assert {each["program"] for each in record["choices"]} == {"builtin"}


def test_what_a_link_cannot_carry_is_apart_with_all_its_connections(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = Campaigns(monkeypatch)
    record, _ = answered(work_of(tmp_path / "x", budget_s=1e6, link="lorawan-eu868-dr5", every_ns=86_400 * S))
    assert {each["protocol"] for each in record["choices"]} == {"coaps"}
    [apart] = record["apart"]
    assert apart["protocol"] == "mqtts"
    assert apart["why"].startswith("lorawan-eu868-dr5 carries 54.7 bit/s: opening mqtts ")
    assert apart["why"].endswith("workload.timeout is 2 min.")
    # A connection that is kept has to be opened, too.
    assert {each.protocol for plan in ran.plans for each in plan.scenarios} == {"coaps"}


def test_a_link_that_carries_nothing_of_what_was_asked_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = Campaigns(monkeypatch)
    work = work_of(tmp_path / "x", link="lorawan-eu868-dr0", every_ns=86_400 * S)
    with pytest.raises(WirelabError, match="lorawan-eu868-dr0 carries none of these protocols: lorawan-eu") as caught:
        answered(work)
    assert (caught.value.where, ran.plans) == ("--link", [])
    assert caught.value.hint is not None


def test_a_program_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Campaigns(monkeypatch)
    monkeypatch.setattr("wirelab.runner.implementations.find_program", lambda _: None)
    work = work_of(tmp_path / "x", link="ethernet-100m", protocols=("coaps", "mqtts-psk"), auth="psk")
    record, _ = answered(work)
    [apart] = record["apart"]
    assert (apart["protocol"], {each["protocol"] for each in record["choices"]}) == ("mqtts-psk", {"coaps"})
    assert "is not installed" in apart["why"]
