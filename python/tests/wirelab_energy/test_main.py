"""`wirelab-energy` prints what `wirelab energy --trace` prints, with the same exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_main import run
from wirelab_energy.__main__ import main


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """20 s at 800 mW, but 12 s to 14 s at 2 W."""
    path = tmp_path / "power.csv"
    watts = (2.0 if 12 <= at / 10 < 14 else 0.8 + 0.001 * (at % 7) for at in range(200))
    path.write_text("time (s),power (W)\n" + "".join(f"{at / 10},{each}\n" for at, each in enumerate(watts)))
    return path


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_a_trace_reads_the_same_in_both_commands(trace: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--idle-from", "0s", "--idle-to", "10s", "--from", "11s", "--to", "15s", "--format", form)
    assert main([str(trace), *words]) == 0
    printed = capsys.readouterr()
    assert (0, printed.out, printed.err) == run("energy", "--trace", str(trace), *words)


def test_the_work_is_what_lies_above_idle(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([str(trace), "--idle-from", "0s", "--idle-to", "10s", "--from", "11s", "--to", "15s"])
    assert "work    2.39 J [2.39 J, 2.4 J] above idle" in capsys.readouterr().out


def test_what_is_not_a_trace_is_refused_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    assert main([str(path)]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"{path}: no such file\n")


def test_a_quantity_without_a_unit_is_refused_with_what_to_write(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(trace), "--voltage", "3.7"])
    assert ended.value.code == 2
    assert '--voltage: 3.7 has no unit (write "3.7 V"' in capsys.readouterr().err
