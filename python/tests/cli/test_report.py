"""`wirelab report`."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.report.campaigns import write
from wirelab.cli import main


def test_report_prints_the_path_of_the_page(tmp_path: Path) -> None:
    folder = write(tmp_path / "campaign", links=("clean",))
    done = CliRunner().invoke(main, ["report", str(folder)])
    assert done.exit_code == 0
    assert done.stdout == f"{folder / 'report.html'}\n"
    assert (folder / "report.html").is_file()


def test_a_campaign_may_be_named_by_its_folder_under_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "results" / "mine", links=("clean",))
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["report", "mine"]).stdout == "results/mine/report.html\n"


def test_the_option_out_names_another_file(tmp_path: Path) -> None:
    folder = write(tmp_path / "campaign", links=("clean",))
    done = CliRunner().invoke(main, ["report", str(folder), "--out", str(tmp_path / "page.html")])
    assert done.stdout == f"{tmp_path / 'page.html'}\n"
    assert not (folder / "report.html").exists()


def test_the_option_open_shows_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, shown = write(tmp_path / "campaign", links=("clean",)), []
    monkeypatch.setattr(click, "launch", shown.append)
    CliRunner().invoke(main, ["report", str(folder), "--open"])
    assert shown == [(folder / "report.html").as_uri()]


def test_a_path_that_is_not_a_folder_is_refused_with_a_hint(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["report", str(tmp_path / "nothing")])
    assert done.exit_code == 2
    assert "no campaign" in done.stderr
    assert "wirelab run" in done.stderr


@pytest.mark.parametrize("inside", ["file/page.html", "/proc/page.html"])
def test_an_output_file_that_cannot_be_made_is_an_input_error(inside: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "campaign", links=("clean",))
    (tmp_path / "file").touch()
    done = CliRunner().invoke(main, ["report", str(folder), "--out", str(tmp_path / inside)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{tmp_path / inside}: cannot be made: ")
    assert done.stderr.endswith("\nhint: name another file with --out\n")
    assert not (folder / "report.html").exists()
