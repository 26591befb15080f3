"""Where another choice is first, along one number of the question or over two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.choose.worlds import Point, S, World, live_in, typically, work_of
from wirelab.cli.choose.maps import HALVINGS, REPLICATES, STEPS, maps
from wirelab.cli.choose.work import Work
from wirelab.schema.choose import WinnerMap
from wirelab.units import duration_ns

NEW, KEPT = "coaps, new", "coaps, persistent"
CROSSING_S = 900.0


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def by_interval(point: Point) -> float:
    """Keeping a connection costs for as long as it is kept, and opening one costs once."""
    every_s = point.variant.every_ns / 1e9 * (1.0 if point.candidate.keep_alive_ns is None else 20.0)
    return {"new": CROSSING_S, "persistent": every_s, "resumed": 10 * every_s}[point.candidate.connection]


def found(world: World, patched: pytest.MonkeyPatch, *flips: str, **asked: Any) -> tuple[list[WinnerMap], Work]:
    live_in(world, patched)
    work = typically(work_of(Path("x"), flips=flips, **{"protocols": ("coaps",), **asked}))
    world.calls.clear()
    return maps(work), work


def firsts(of: WinnerMap) -> dict[float, list[str]]:
    return {cell["x"]: cell["first"] for cell in of["cells"]}


def test_without_a_wish_there_is_no_map(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    assert found(world, monkeypatch)[0] == []
    assert world.calls == []


def test_a_crossing_is_closed_in_by_halving(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(joules=by_interval)
    [of], _ = found(world, monkeypatch, "interval")
    assert (of["axes"], of["units"]) == (["interval"], ["s"])
    [crossing] = of["crossings"]
    assert (crossing["below"], crossing["above"]) == ([KEPT], [NEW])
    assert crossing["low"] < CROSSING_S < crossing["high"]
    # From a factor of 4 between two points: each halving takes its root.
    assert crossing["high"] / crossing["low"] == pytest.approx(4 ** (1 / 2**HALVINGS), rel=1e-6)
    xs = [cell["x"] for cell in of["cells"]]
    assert xs == sorted(xs)
    assert len(xs) == len(STEPS["interval"]) + HALVINGS == len(world.calls)
    for x, first in firsts(of).items():
        assert first == ([KEPT] if x < CROSSING_S else [NEW])
    assert {each.replicates for each in world.calls} == {REPLICATES}


def test_each_point_says_how_far_the_second_is_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    [of], _ = found(World(joules=by_interval), monkeypatch, "interval", protocols=("https1",), link="ble")
    for cell in of["cells"]:
        values = sorted((CROSSING_S, cell["x"], 10 * cell["x"]))
        assert cell["ratio"] == pytest.approx(values[1] / values[0], rel=1e-3)
        assert cell["y"] is None


def test_keep_alives_longer_than_the_interval_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    found(world, monkeypatch, "interval")
    for call in world.calls:
        assert call.variant is not None
        kept = [each.keep_alive_ns for each in call.members]
        assert {NEW, KEPT} <= {*call.names}
        assert kept == [each for each in (None, None, 96 * S, 24 * S) if each is None or each < call.variant.every_ns]


def test_every_connection_of_the_protocols_that_are_low_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    _, work = found(world, monkeypatch, "loss", protocols=("coaps", "mqtts", "https1", "amqps"))
    by_protocol = {each.protocol for each in world.calls[0].members}
    # Those that are first come first, and what would be more than about a dozen is left out.
    assert "coaps" in by_protocol
    assert len(by_protocol) == 3
    for call in world.calls:
        for protocol in by_protocol:
            every = [each.name for each in work.candidates if each.protocol == protocol]
            assert [name for name in call.names if name.startswith(f"{protocol},")] == every


@pytest.mark.parametrize(
    ("flip", "unit", "expected"),
    [
        ("size", "B", [16, 64, 256, 1024, 4096]),
        ("loss", "1", [0.0, 0.02, 0.05, 0.1]),
        ("rtt", "s", [0.05, 0.2, 0.8, 3.2]),
        ("nat", "s", [30, 60, 120, 300, 1200]),
        ("interval", "s", [37.5, 150, 600, 2400, 9600]),
    ],
)
def test_a_number_is_varied_around_what_was_asked(
    monkeypatch: pytest.MonkeyPatch, flip: str, unit: str, expected: list[float]
) -> None:
    world = World()
    [of], _ = found(world, monkeypatch, flip)
    assert (of["units"], [cell["x"] for cell in of["cells"]]) == ([unit], pytest.approx(expected))
    assert of["crossings"] == []
    for call, value in zip(world.calls, expected, strict=True):
        variant = call.variant
        assert variant is not None
        nat = call.nats[NEW][0]
        assert nat is not None and nat.udp is not None and nat.tcp is not None
        given = {
            "size": variant.send_bytes, "loss": variant.loss, "rtt": (variant.rtt_ns or 0) / 1e9,
            "interval": variant.every_ns / 1e9, "nat": duration_ns(nat.udp) / 1e9,
        }  # fmt: skip
        assert given[flip] == pytest.approx(value, rel=0.01)
        assert (variant.send_bytes == 64) == (flip != "size" or value == 64)
        assert (nat.udp == nat.tcp) == (flip == "nat")


def test_small_and_frequent_messages_stop_where_they_would_be_none(monkeypatch: pytest.MonkeyPatch) -> None:
    [sizes], _ = found(World(), monkeypatch, "size", send_bytes=1)
    assert [cell["x"] for cell in sizes["cells"]] == [1, 4, 16, 64]
    [intervals], _ = found(World(), monkeypatch, "interval", every_ns=2 * S)
    assert [cell["x"] for cell in intervals["cells"]] == [1, 2, 8, 32]


def test_two_numbers_make_a_map_without_crossings(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(joules=by_interval)
    [of], _ = found(world, monkeypatch, "interval", "nat")
    assert (of["axes"], of["units"], of["crossings"]) == (["interval", "nat"], ["s", "s"], [])
    assert [(cell["x"], cell["y"]) for cell in of["cells"]] == [
        (x, y) for x in (37.5, 150, 600, 2400, 9600) for y in (30, 60, 120, 300, 1200)
    ]
    assert len({each.name for each in world.calls}) == len(world.calls) == 25


def test_what_loses_messages_or_is_late_is_not_first_at_a_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def behind(point: Point) -> int:
        nat = point.nat
        assert nat is not None and nat.udp is not None
        return 20 * (point.candidate.name == KEPT and duration_ns(nat.udp) < point.variant.every_ns)

    [of], _ = found(World(lost=behind), monkeypatch, "nat")
    assert firsts(of)[1200] == [KEPT]
    assert all(KEPT not in first for x, first in firsts(of).items() if x < 600)
    [crossing] = of["crossings"]
    assert crossing["low"] < 600 <= crossing["high"]
    [late], _ = found(World(late=behind), monkeypatch, "nat", deadline_ns=10 * S)
    assert firsts(late) == firsts(of)


def test_what_is_close_to_the_deadline_is_not_first_at_a_point_as_in_the_ranking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def near(point: Point) -> tuple[float, float]:
        return (1.0, 0.0) if point.candidate.name == KEPT else (0.0, 0.0)

    [of], _ = found(World(late=lambda _: 0, near=near), monkeypatch, "nat", deadline_ns=10 * S)
    assert all(KEPT not in first for first in firsts(of).values())
    [usual], _ = found(World(late=lambda _: 0), monkeypatch, "nat", deadline_ns=10 * S)
    assert all(first == [KEPT] for first in firsts(usual).values())


def test_a_point_where_nothing_is_known_is_no_crossing(monkeypatch: pytest.MonkeyPatch) -> None:
    def joules(point: Point) -> float | None:
        return None if point.variant.every_ns < 100 * S else 1.0

    [of], _ = found(World(joules=joules), monkeypatch, "interval")
    assert firsts(of)[37.5] == []
    assert of["crossings"] == []


def test_a_third_that_is_first_in_between_makes_two_crossings(monkeypatch: pytest.MonkeyPatch) -> None:
    def joules(point: Point) -> float:
        between = 880 < point.variant.every_ns / 1e9 < 1400
        return 1.0 if between and point.candidate.keep_alive_ns == 96 * S else by_interval(point)

    [of], _ = found(World(joules=joules), monkeypatch, "interval")
    third = ["coaps, persistent, a ping each 1.6 min"]
    below, above = of["crossings"]
    assert (below["below"], below["above"], above["below"], above["above"]) == ([KEPT], third, third, [NEW])
    assert below["low"] < below["high"] <= 1200 <= above["low"] < 1400 < above["high"] < 1600


def test_where_both_are_first_the_crossing_is_around(monkeypatch: pytest.MonkeyPatch) -> None:
    def joules(point: Point) -> float:
        return 1000.0 if 1190 * S < point.variant.every_ns < 1210 * S else by_interval(point)

    [of], _ = found(World(joules=joules), monkeypatch, "interval")
    [crossing] = of["crossings"]
    assert (crossing["below"], crossing["above"], crossing["low"], crossing["high"]) == ([KEPT], [NEW], 600, 2400)


def test_halving_ends_where_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def joules(point: Point) -> float | None:
        return None if 700 * S < point.variant.every_ns < 2300 * S else by_interval(point)

    [of], _ = found(World(joules=joules), monkeypatch, "interval")
    [crossing] = of["crossings"]
    assert (crossing["below"], crossing["above"], crossing["low"], crossing["high"]) == ([KEPT], [NEW], 600, 2400)


def test_the_budget_ends_a_map_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    [of], work = found(World(refused=lambda name, _: name == "map-interval-2400"), monkeypatch, "interval")
    assert [cell["x"] for cell in of["cells"]] == [37.5, 150, 600]
    assert work.warnings == ["The budget did not allow the whole map; a longer --budget continues."]


def test_the_budget_ends_halving(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(joules=by_interval, refused=lambda name, _: name == "map-interval-1200")
    [of], _ = found(world, monkeypatch, "interval")
    [crossing] = of["crossings"]
    assert (crossing["low"], crossing["high"]) == (600, 2400)
    assert len(of["cells"]) == len(STEPS["interval"])


def test_in_real_time_there_is_no_map(monkeypatch: pytest.MonkeyPatch) -> None:
    live_in(World(), monkeypatch, virtual=False)
    assert maps(typically(work_of(Path("x"), flips=("interval",)))) == []
