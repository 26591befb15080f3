"""What the system refuses, and what a user's value may hide: one error, and nothing raw on the terminal."""

from __future__ import annotations

import errno
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from wirelab.cli import main, printable
from wirelab.cli.campaigns import existing, not_an_option
from wirelab.errors import WirelabError
from wirelab.metrics.tables import read_table, write_table
from wirelab.runner.lock import locked
from wirelab.schema.replaced import replace_file


def test_control_characters_of_a_value_are_escaped() -> None:
    assert printable("a\x1b[31mb\r\x07\x9b\x7f\tc\nd é") == "a\\x1b[31mb\\x0d\\x07\\x9b\\x7f\tc\nd é"
    done = CliRunner().invoke(main, ["\x1b]0;title\x07"])
    assert done.exit_code == 2
    assert "\x1b" not in done.stderr
    assert "\\x1b]0;title\\x07" in done.stderr


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OSError(errno.EROFS, "Read-only file system", "/c/estimates.json"),
            "/c/estimates.json: Read-only file system",
        ),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", b"/c/\xff"), "/c/"),
        (MemoryError(), "not enough memory"),
    ],
)
def test_what_the_system_refuses_is_one_error(error: BaseException, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> Path:
        raise error

    monkeypatch.setattr("wirelab.cli.campaigns.existing", refuse)
    done = CliRunner().invoke(main, ["measure", "c"])
    assert done.exit_code == 1
    assert done.stderr.startswith(f"error: {said}")
    assert "Traceback" not in done.stderr


def test_a_folder_whose_name_begins_with_a_dash_is_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-rf").mkdir()
    (tmp_path / "-rf" / "plan.json").write_text("{}")
    assert existing(Path("-rf")) == tmp_path / "-rf"
    assert not_an_option(Path("results")) == Path("results")


def test_a_folder_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(WirelabError, match="not UTF-8"):
        not_an_option(Path("a\udcff"))


@pytest.mark.parametrize("verb", ["measure", "analyze", "report"])
def test_a_campaign_that_is_in_use_is_not_derived_from(verb: str, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text("{}")
    with locked(tmp_path):
        done = CliRunner().invoke(main, [verb, str(tmp_path)])
    assert done.exit_code == 1
    assert done.stderr.startswith(f"error: {tmp_path} is in use by another process\n")


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    for name in ("plan.json", "plan.json.new"):
        (tmp_path / name).symlink_to(victim)
    replace_file(tmp_path / "plan.json", "new")
    assert victim.read_text() == "untouched"
    assert (tmp_path / "plan.json").read_text() == "new"
    (tmp_path / "exchanges.parquet").symlink_to(victim)
    write_table(pl.DataFrame({"a": [1]}), tmp_path / "exchanges.parquet")
    assert victim.read_text() == "untouched"
    assert read_table(tmp_path / "exchanges.parquet", tmp_path).height == 1
    (tmp_path / "lock").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"), locked(tmp_path):
        pass
