"""Files that links name: what is read, and how every mistake is pointed out."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wirelab.experiment.link.files import MAX_ENTRIES, MAX_POINTS, Files, delays, losses, opportunities, replay
from wirelab.schema import SchedulePoint
from wirelab.units import UnitError

READERS = (opportunities, losses, delays, replay)


def test_a_trace_is_read_as_mahimahi_writes_it() -> None:
    assert opportunities("0\n0\n7\n7\n12\n") == (0, 0, 7, 7, 12)
    assert opportunities("1\r\n2\r\n") == (1, 2)


def test_losses_may_be_broken_over_lines() -> None:
    assert losses("0 0 1\n1000\n\n") == "0011000"


def test_delays_carry_their_unit_or_say_it_first() -> None:
    assert delays("12.5 ms\n3 us\n") == (3000, 12_500_000)
    assert delays("delay_ms\n2\n-1.5\n") == (-1_500_000, 2_000_000)
    assert delays("offset_us\n1e1\n0\n") == (0, 10_000)


def test_a_replay_may_have_other_columns_next_to_its_times() -> None:
    assert replay("time_ms,rate_Mbps\n5,1.5\n\n10,0\n") == (
        SchedulePoint(at_ns=0, rate_bps=1_500_000),
        SchedulePoint(at_ns=5_000_000, rate_bps=0),
    )
    assert replay("loss_percent, time_s\n 50 , -3\n") == (SchedulePoint(at_ns=0, loss=0.5),)


@pytest.mark.parametrize(
    ("read", "text", "says"),
    [
        (opportunities, "", "1: has no instant above 0"),
        (opportunities, "0\n0\n", "1: has no instant above 0"),
        (opportunities, "1\n2.5\n", '2: is not a whole number of milliseconds ("2.5")'),
        (opportunities, "1\n\n2\n", '2: is not a whole number of milliseconds ("")'),
        (opportunities, "1\n-2\n", '2: is not a whole number of milliseconds ("-2")'),
        (opportunities, "4294967296\n", '1: is not a whole number of milliseconds ("4294967296")'),
        (opportunities, "5\n4\n", "2: 4 comes after 5"),
        (opportunities, "1\n" * (MAX_ENTRIES + 1), "500001: too many lines (500,001)"),
        (losses, " \n", "1: is empty"),
        (losses, "01\n0x1\n", '2: is neither 0 nor 1 ("x")'),
        (losses, "0" * (MAX_ENTRIES + 1), "1: has 500,001 packets"),
        (delays, "1 ms\n", "1: has fewer than two delays"),
        (delays, "1 ms\n2\n", '2: has no unit ("2")'),
        (delays, "delay_ms\n1\n2 ms\n", '3: is not a number ("2 ms")'),
        (delays, "delay_s\n1\n1e99\n", '3: is too much ("1e99")'),
        (replay, "", "1: no column of times"),
        (replay, "time_s;loss\n0;1\n", "1: is separated by semicolons"),
        (replay, "time_s,loss\n", "1: has no line below its header"),
        (replay, "rate_kbps\n1\n", "1: no column of times"),
        (replay, "time_s,time_ms\n1,1\n", "1: two columns of one kind (time_s, time_ms)"),
        (replay, "time_s,delay\n1,1\n", '1: unknown column ("delay")'),
        (replay, "time_s,loss\n1\n", "2: has 1 cells, the header has 2"),
        (replay, "time_s,loss\n1,0\n,0\n", '3: time_s is not a number ("")'),
        (replay, "time_s,loss\n1,0\n1,0\n", "3: is not later than the line before"),
        (replay, "time_s,loss\n1,1.01\n", '2: loss is not a share ("1.01")'),
        (replay, "time_s,delay_ms\n1,-1\n", '2: delay_ms is negative ("-1")'),
        (replay, "time_s,delay_ms\n1,1e30\n", '2: delay_ms is too much ("1e30")'),
        (replay, "time_s\n" + "\n".join(map(str, range(MAX_POINTS + 1))), f"{MAX_POINTS + 2}: too many lines"),
    ],
)
def test_a_bad_line_is_named_with_its_value(read: Callable[[str], object], text: str, says: str) -> None:
    with pytest.raises(UnitError) as error:
        read(text)
    assert str(error.value) == says


@settings(max_examples=300)
@given(st.text(alphabet=st.sampled_from("0123456789.,-+e\n\r \"mstime_sdelayrateloss'\x00\u2028é")))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in READERS:
        try:
            read(text)
        except UnitError as error:
            assert str(error)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.floats(0, 1)), min_size=1, max_size=20))
def test_a_replay_that_was_written_is_read_back(rows: list[tuple[int, int, float]]) -> None:
    ordered = sorted({row[0]: row for row in rows}.values())
    text = "time_us,rate_bps,loss\n" + "".join(f"{at},{rate},{loss!r}\n" for at, rate, loss in ordered)
    points = replay(text)
    assert [point.at_ns for point in points] == [(at - ordered[0][0]) * 1000 for at, _, _ in ordered]
    assert [(point.rate_bps, point.loss) for point in points] == [(rate, loss) for _, rate, loss in ordered]


def test_a_file_is_looked_up_next_to_the_experiment_and_read_once(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("5\n")
    files = Files(tmp_path)
    assert files.read("up.trace", opportunities) == (5,)
    (tmp_path / "up.trace").unlink()
    assert files.read("up.trace", opportunities) == (5,)


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "replay.csv").write_bytes("\ufefftime_s,loss\n0,0.5\n".encode())
    assert Files(tmp_path).read("replay.csv", replay) == (SchedulePoint(at_ns=0, loss=0.5),)


def test_every_error_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("5\n4\n")
    with pytest.raises(UnitError, match=r"^up\.trace:2: 4 comes after 5$") as error:
        Files(tmp_path).read("up.trace", opportunities)
    assert error.value.hint == "the instants must not go back"


def test_a_missing_file_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("5\n")
    with pytest.raises(UnitError, match="no such file") as error:
        Files(tmp_path).read("upp.trace", opportunities)
    assert error.value.hint == "did you mean 'up.trace'?"


def test_a_path_that_is_not_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "latin").write_bytes(b"\xe6")
    with (tmp_path / "large").open("wb") as large:
        large.truncate(16 * 10**6 + 1)
    for name, says in {
        "folder": "is a folder, not a file",
        "pipe": "is not a regular file",
        "/dev/zero": "is not a regular file",
        "latin": "is not UTF-8",
        "large": "is larger than 16 MB",
        "a\0b": "is not the name of a file",
        "a" * 300: "cannot be read",
        "": "is not the name of a file",
    }.items():
        with pytest.raises(UnitError, match=says):
            Files(tmp_path).read(name, opportunities)


@pytest.mark.parametrize("name", [3, None, [], {"file": "x"}])
def test_a_value_that_is_not_a_file_name_is_refused(name: object) -> None:
    with pytest.raises(UnitError, match="is not the name of a file"):
        Files().read(name, opportunities)
