"""What `wirelab calibrate` refuses before it sends a probe."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_main import run


def test_a_file_is_no_folder_to_keep_probes_in(tmp_path: Path) -> None:
    file = tmp_path / "taken"
    file.touch()
    code, out, err = run("calibrate", "clean", "--keep", str(file))
    assert (code, out) == (2, "")
    assert err == f"error: invalid value for '--keep': Directory '{file}' is a file\nhint: wirelab calibrate --help\n"


def test_a_time_without_a_unit_is_refused_with_one() -> None:
    code, _, err = run("calibrate", "clean", "--time", "60")
    assert code == 2
    assert "invalid value for '--time': 60 has no unit (write \"60 s\"" in err
