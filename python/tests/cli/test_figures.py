"""`wirelab figures`."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.report import campaigns
from wirelab.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return campaigns.write(tmp_path_factory.mktemp("figures") / "c")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["figures", *arguments], prog_name="wirelab")


def test_it_names_each_chart_with_its_sizes_and_the_folder(folder: Path, tmp_path: Path) -> None:
    done = run(str(folder), "--format", "svg", "--out", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["chart", "width", "height", "smallest", "text", "tables"]
    assert lines[-1] == str(tmp_path / "out")
    assert sorted(line.split()[0] for line in lines[1:-2]) == sorted(
        path.stem for path in (tmp_path / "out").glob("*.svg")
    )


@pytest.mark.parametrize(
    ("arguments", "what"),
    [(("--format", "gif"), "--format: unknown (gif)"), (("--format", ","), "--format: names nothing"),
     (("--for", "iee"), "did you mean 'ieee'?"), (("--only", "x"), "--only: no chart 'x'")],
)  # fmt: skip
def test_a_mistake_is_one_error_and_writes_nothing(
    folder: Path, tmp_path: Path, arguments: tuple[str, ...], what: str
) -> None:
    done = run(str(folder), *arguments, "--out", str(tmp_path / "out"))
    assert done.exit_code == 2
    assert what in done.stderr
    assert not (tmp_path / "out").exists()


def test_what_is_no_campaign_is_refused(tmp_path: Path) -> None:
    done = run(str(tmp_path))
    assert done.exit_code == 2
    assert "no campaign" in done.stderr
