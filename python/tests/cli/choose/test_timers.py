"""Which other timers of the network's `choose` runs, and what it does without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.choose.worlds import Point, S, World, live_in, typically, work_of
from wirelab.answer.choose.timers import Silence
from wirelab.cli.choose.levers import TO_KEEP_DEADLINE, radio_levers
from wirelab.cli.choose.timers import timed
from wirelab.cli.choose.work import OTHERWISE, Work
from wirelab.schema.choose import Lever
from wirelab.units import duration_ns

KEPT, FRESH = "coaps, persistent", "coaps, new"
ACTIVE = "idle before PSM (T3324) 8 s"
PINGED = "coaps, persistent, a ping each 24 s"
SOONER = "nb-iot-psm, inactivity 10 s, active 8 s, rai off"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def every(seconds: float) -> Any:
    """All packets of a message are within a second, and then the link is silent up to the next."""
    return lambda _: {Silence(0.5, up=False), Silence(seconds, up=True)}


def worked(world: World, patched: pytest.MonkeyPatch, **asked: Any) -> Work:
    live_in(world, patched)
    return typically(work_of(Path("x"), **{"deadline_ns": 10 * S, "protocols": ("coaps",), **asked}))


def test_a_message_that_finds_every_timer_over_is_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(silences=every(599))
    work = worked(world, monkeypatch)
    assert timed(work) == {}
    assert world.named("timers") == []
    assert work.delays_known


def test_what_a_timer_moves_is_run_over_a_link_that_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 26 s after a ping the radio is in PSM only if the active time is 8 s."""

    def silences(point: Point) -> set[Silence]:
        return every(26 if point.candidate.name == PINGED else 599)(point)

    world = World(silences=silences)
    work = worked(world, monkeypatch)
    found = timed(work)
    assert {run[0] for run, _ in found} == {PINGED}
    radios = {radio for _, radio in found}
    assert {radio for radio in radios if "inactivity 10 s" in radio} == {
        "inactivity 10 s, active 8 s, rai off", "inactivity 10 s, active 8 s, rai on"
    }  # fmt: skip
    # What is idle after 26 s in any case is not run.
    assert not [radio for radio in radios if "active 60 s" in radio]
    calls = {each.links: each.names for each in world.named("timers")}
    assert calls[SOONER,] == [PINGED]
    assert work.links[SOONER]["profile"] == "nb-iot-psm"
    sleeps = work.links[SOONER]["radio"]["sleeps"]  # type: ignore[index]
    assert [duration_ns(sleep["after"]) / S for sleep in sleeps] == [0.2, 10, 18]
    one = found[(PINGED, "nb-iot-psm", work.network.nats[0]), "inactivity 10 s, active 8 s, rai off"]
    assert one is not None
    assert "inactivity 10 s, active 8 s, rai off" in one.energies


def test_what_the_budget_does_not_allow_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(silences=every(24), refused=lambda name, _: name.startswith("timers"))
    work = worked(world, monkeypatch)
    found = timed(work)
    assert found
    assert {*found.values()} == {None}
    [warning] = work.warnings
    assert warning.startswith("The budget did not allow other timers of the radio that move packets")
    work.timed = found
    assert work.evidence().of(work.candidates[0], work.evidence().typical) is not None
    assert ACTIVE not in {each["name"] for each in radio_levers(work.evidence())[0]}


def test_a_timer_that_was_run_is_a_lever_with_its_share_within_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    def lever(late: int) -> tuple[Lever | None, list[str]]:
        world = World(silences=every(26), late=lambda point: late * (point.link == SOONER))
        work = worked(world, monkeypatch)
        work.timed = timed(work)
        found, worse = radio_levers(work.evidence())
        return next((each for each in found if each["name"] == ACTIVE), None), worse

    sooner, worse = lever(0)
    assert ACTIVE not in worse
    assert sooner is not None and sooner["within_deadline"] is not None
    assert (sooner["how"], sooner["of"], sooner["within_deadline"]["point"]) == ("measured", KEPT, 1.0)
    # What comes too late saves nothing.
    none, worse = lever(30)
    assert (none, ACTIVE in worse) == (None, True)


def test_what_may_keep_a_deadline_that_no_choice_keeps_has_more_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(silences=every(26), late=lambda point: 0 if point.link == SOONER else 15 * point.replicates)
    work = worked(world, monkeypatch)
    work.timed = timed(work)
    of = {each.links: each.replicates for each in world.named("timers")}
    assert of[SOONER,] == TO_KEEP_DEADLINE
    assert of["nb-iot-psm, inactivity 5 s, active 8 s, rai off",] == OTHERWISE
    found = {each["name"]: each["keeps_deadline"] for each in radio_levers(work.evidence())[0]}
    assert found[ACTIVE] is True


def test_settings_that_put_the_radio_to_sleep_alike_share_a_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """Release assistance moves the beginning of PSM to 60 s, and what is idle by then finds the same."""
    world = World(silences=every(62))
    work = worked(world, monkeypatch)
    found = timed(work)
    links = {name: of for name, of in work.radios.items() if name.startswith("nb-iot-psm, ")}
    assert links
    assert {radio for _, radio in found} == {radio for of in links.values() for radio in of}
    tables = [str(work.links[name]) for name in links]
    assert len(tables) == len(set(tables))


def test_a_link_without_sleep_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(silences=every(26))
    work = worked(world, monkeypatch, link="ethernet-100m", radio="nrf9160-nbiot")
    assert timed(work) == {}
    assert world.named("timers") == []


def test_without_a_deadline_no_delay_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    work = worked(World(silences=every(24)), monkeypatch, deadline_ns=None)
    assert timed(work) == {}
    assert not work.delays_known


def test_settings_over_a_link_that_sleeps_otherwise_than_the_radio_are_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = tmp_path / "mine.toml"
    sleeps = '[{ after = "3 s", cycle = "1 s", wake = "1 s" }]'
    own.write_text(f'[link]\ndelay = "100 ms"\n[link.radio]\nbuffer = "16 kB"\nsleeps = {sleeps}\n')
    world = World(silences=every(24))
    work = worked(world, monkeypatch, link=str(own), radio="nrf9160-nbiot")
    assert {*timed(work).values()} == {None}
    assert world.named("timers") == []
