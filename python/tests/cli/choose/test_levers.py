"""What else could be changed: each alone, on the choice that is first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.choose.worlds import Point, S, World, live_in, typically, usual, work_of
from wirelab.cli.choose.levers import REPLICATES, TO_KEEP_DEADLINE, levers, radio_levers
from wirelab.cli.choose.work import Work
from wirelab.schema.choose import Lever

FIRST = "coaps, persistent"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def by_size(point: Point) -> float:
    """A joule for the message, and one for each 100 B."""
    return usual(point) * (1 + point.variant.send_bytes / 100)


def found(world: World, patched: pytest.MonkeyPatch, **asked: Any) -> tuple[dict[str, Lever], Work]:
    """By their names, in their order."""
    live_in(world, patched)
    work = typically(work_of(Path("x"), **asked))
    world.calls.clear()
    return {each["name"]: each for each in levers(work)}, work


def test_each_change_is_tried_alone_on_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    levers_of, work = found(world, monkeypatch)
    assert [(each.name, each.names, each.replicates) for each in world.calls] == [
        ("lever-6-readings-in-a-message", [FIRST], REPLICATES), ("lever-a-message-of-32-B", [FIRST], REPLICATES),
        ("lever-a-message-of-128-B", [FIRST], REPLICATES), ("lever-at-most-once", [FIRST], REPLICATES),
    ]  # fmt: skip
    assert {each.links for each in world.calls} == {("nb-iot-psm",)}
    assert {nat for each in world.calls for nat in each.nats[FIRST]} == {work.network.nats[0]}
    assert {each["of"] for each in levers_of.values()} == {FIRST}


def test_a_lever_is_its_value_over_that_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    levers_of, _ = found(World(joules=by_size), monkeypatch)
    smaller, larger = levers_of["a message of 32 B"], levers_of["a message of 128 B"]
    assert smaller["ratio"] == pytest.approx(1.32 / 1.64, rel=1e-3)
    assert larger["ratio"] == pytest.approx(2.28 / 1.64, rel=1e-3)
    assert smaller["value"] == pytest.approx(1.32, rel=1e-3)
    assert (smaller["how"], smaller["delay_s"]) == ("measured", None)
    assert [each["ratio"] for each in levers_of.values()] == sorted(each["ratio"] for each in levers_of.values())


def test_readings_that_share_a_message_share_its_cost_and_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(joules=by_size)
    levers_of, _ = found(world, monkeypatch, batch=(6, 24))
    six, many = levers_of["6 readings in a message"], levers_of["24 readings in a message"]
    assert six["ratio"] == pytest.approx((1 + 3.84) / 6 / 1.64, rel=1e-3)
    assert many["ratio"] == pytest.approx((1 + 15.36) / 24 / 1.64, rel=1e-3)
    assert (six["delay_s"], many["delay_s"]) == (5 * 600, 23 * 600)
    [batched] = world.named("lever-6-readings")
    assert batched.variant is not None
    assert (batched.variant.send_bytes, batched.variant.every_ns) == (6 * 64, 6 * 600 * S)


def test_readings_wait_for_no_longer_than_a_command_may(monkeypatch: pytest.MonkeyPatch) -> None:
    levers_of, _ = found(World(), monkeypatch, batch=(6, 24), command_within_ns=3600 * S)
    assert "6 readings in a message" in levers_of
    assert "24 readings in a message" not in levers_of


def test_another_delivery_changes_the_settings_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def joules(point: Point) -> float:
        return usual(point) * (0.5 if point.candidate.settings.get("confirmable") == "false" else 1)

    world = World(joules=joules)
    levers_of, _ = found(world, monkeypatch)
    assert levers_of["at most once"]["ratio"] == pytest.approx(0.5, rel=1e-3)
    [call] = world.named("lever-at-most-once")
    assert call.asked is not None
    assert call.asked.delivery == "at-most-once"
    surely, _ = found(World(joules=joules), monkeypatch, delivery="at-most-once")
    assert surely["at least once"]["ratio"] == pytest.approx(2.0, rel=1e-3)


def test_what_has_no_choice_of_a_delivery_is_not_tried_with_another(monkeypatch: pytest.MonkeyPatch) -> None:
    levers_of, _ = found(World(), monkeypatch, protocols=("https1",))
    assert not [name for name in levers_of if "once" in name]


def test_other_connections_of_the_same_protocol_are_those_that_were_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    levers_of, _ = found(World(), monkeypatch)
    assert levers_of["a new connection for each message"]["ratio"] == pytest.approx(2.0)
    # 10 s over the keep-alive's 96 s.
    pinging = levers_of["a persistent connection, a ping each 1.6 min"]
    assert pinging["ratio"] == pytest.approx(1 + 10 / 96)
    assert "a resumed session for each message" not in levers_of
    resumed, _ = found(World(), monkeypatch, protocols=("mqtts",))
    assert resumed["a resumed session for each message"]["ratio"] == pytest.approx(1.5)


def test_connections_that_lose_messages_are_no_lever(monkeypatch: pytest.MonkeyPatch) -> None:
    levers_of, _ = found(World(lost=lambda point: 9 * (point.candidate.connection == "new")), monkeypatch)
    assert "a new connection for each message" not in levers_of


def test_another_setting_of_the_radio_is_applied_to_the_same_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    live_in(World(), monkeypatch)
    work = typically(work_of(Path("x")))
    evidence = work.evidence()
    best = evidence.runs[FIRST, "nb-iot-psm", work.network.nats[0]]
    typical, *others = work.network.radios
    trial = best.energies[typical][0]["tail"]
    for nth, other in enumerate(others, 1):
        halved = trial["typical"] / (1 + nth)
        best.energies[other] = {0: {"tail": {"low": halved, "typical": halved, "high": halved}}}
    found_of, worse = radio_levers(work.evidence())
    assert worse == []
    assert {each["how"] for each in found_of} == {"modelled"}
    modelled = {each["name"]: each["ratio"] for each in found_of}
    # Of all combinations, those in which one setting alone is another.
    assert {*modelled} == {
        "RRC inactivity timer 5 s", "RRC inactivity timer 20 s", "idle before PSM (T3324) 8 s", "release assistance on"
    }  # fmt: skip
    names = {name: place for place, name in enumerate(others, 1)}
    [rai] = [name for name in others if name.endswith("rai on") and "inactivity 10 s, active 60 s" in name]
    assert modelled["release assistance on"] == pytest.approx(1 / (1 + names[rai]))


def test_a_lever_that_loses_messages_or_comes_too_late_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readings that wait longer than the NAT remembers cost little, for they do not arrive."""
    batched = 6 * 600 * S

    def lost(point: Point) -> int:
        return 9 * (point.variant.every_ns == batched)

    levers_of, _ = found(World(joules=by_size, lost=lost), monkeypatch)
    assert "6 readings in a message" not in levers_of
    assert "a message of 32 B" in levers_of
    late, _ = found(World(joules=by_size, late=lost), monkeypatch, deadline_ns=10 * S)
    assert "6 readings in a message" not in late


def test_a_lever_close_to_the_deadline_is_none_as_in_the_ranking(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of its messages would be late with a little less time."""

    def near(point: Point) -> tuple[float, float] | None:
        return (1.0, 0.0) if point.variant.send_bytes == 32 else (0.0, 0.0)

    levers_of, _ = found(World(joules=by_size, late=lambda _: 0, near=near), monkeypatch, deadline_ns=10 * S)
    assert "a message of 32 B" not in levers_of
    assert "a message of 128 B" in levers_of
    # Where the first itself is so close, a lever may be.
    every, _ = found(
        World(joules=by_size, late=lambda _: 0, near=lambda _: (1.0, 0.0)), monkeypatch, deadline_ns=10 * S
    )
    assert "a message of 32 B" in every


def test_a_change_of_which_nothing_is_known_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    levers_of, work = found(World(joules=lambda point: None if point.variant.send_bytes == 32 else 1.0), monkeypatch)
    assert "a message of 32 B" not in levers_of
    assert "a message of 128 B" in levers_of
    assert work.warnings == []


def test_a_message_of_one_byte_has_no_half(monkeypatch: pytest.MonkeyPatch) -> None:
    levers_of, _ = found(World(), monkeypatch, send_bytes=1)
    assert [name for name in levers_of if name.startswith("a message")] == ["a message of 2 B"]


def test_what_the_budget_does_not_allow_is_left_out_with_all_that_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(refused=lambda name, _: name == "lever-a-message-of-128-B")
    levers_of, work = found(world, monkeypatch)
    assert [each.name for each in world.calls][-1] == "lever-a-message-of-128-B"
    assert {"6 readings in a message", "a message of 32 B"} <= levers_of.keys()
    assert "a message of 128 B" not in levers_of
    assert work.warnings == [
        "The budget did not allow trying everything else that may matter; a longer --budget continues."
    ]


def test_without_a_radio_bytes_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    levers_of, _ = found(World(), monkeypatch, link="ethernet-100m", protocols=("mqtts",))
    # A message of 64 B takes 100 B more, whatever its size.
    assert levers_of["a message of 32 B"]["ratio"] == pytest.approx(132 / 164, rel=1e-3)


def test_without_a_first_nothing_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(joules=lambda _: None)
    levers_of, _ = found(world, monkeypatch)
    assert (levers_of, world.calls) == ({}, [])


def test_where_no_choice_keeps_the_deadline_changes_are_tried_on_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small messages are in time."""

    def late(point: Point) -> int:
        return 0 if point.variant.send_bytes == 32 else 15 if point.candidate.name == FIRST else 18

    world = World(joules=by_size, late=late)
    levers_of, work = found(world, monkeypatch, deadline_ns=10 * S)
    assert work.evidence().nearest(work.evidence().typical) == FIRST
    assert {each["of"] for each in levers_of.values()} == {FIRST}
    assert {each.replicates for each in world.named("lever")} == {TO_KEEP_DEADLINE}
    small, large = levers_of["a message of 32 B"], levers_of["a message of 128 B"]
    assert (small["keeps_deadline"], large["keeps_deadline"]) == (True, False)
    assert small["ratio"] == pytest.approx(1.32 / 1.64, rel=1e-3)
    assert large["within_deadline"] is not None
    assert large["within_deadline"]["point"] == pytest.approx(1 - 15 / (20 * TO_KEEP_DEADLINE))
    other = levers_of["a new connection for each message"]["within_deadline"]
    assert other is not None
    assert other["point"] == pytest.approx(0.82)


def test_few_late_messages_leave_open_whether_a_change_keeps_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    levers_of, _ = found(
        World(late=lambda point: 3 if point.variant.send_bytes == 32 else 60), monkeypatch, deadline_ns=10 * S
    )
    assert levers_of["a message of 32 B"]["keeps_deadline"] is None
    assert levers_of["a message of 128 B"]["keeps_deadline"] is False


def test_readings_that_wait_for_longer_than_the_deadline_do_not_keep_it(monkeypatch: pytest.MonkeyPatch) -> None:
    levers_of, _ = found(World(late=lambda _: 0), monkeypatch, deadline_ns=10 * S)
    batched = levers_of["6 readings in a message"]
    assert batched["within_deadline"] is not None
    assert batched["within_deadline"]["point"] == 1.0
    assert batched["keeps_deadline"] is False
    # Of a deadline of an hour, 10 minutes remain for the oldest reading, and its message was not compared with them.
    slow, _ = found(World(late=lambda _: 0), monkeypatch, deadline_ns=3600 * S)
    assert slow["6 readings in a message"]["keeps_deadline"] is None
    without, _ = found(World(), monkeypatch)
    assert {each["keeps_deadline"] for each in without.values()} == {None}
