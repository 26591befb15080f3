"""`wirelab archive`, and `verify` of what it wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.archive.test_zipped import RUN
from tests.report import campaigns
from wirelab.cli import main


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = campaigns.write(tmp_path / "results" / "tiny")
    record = campaigns.read(folder, "campaign.json")
    campaigns.store(folder, "campaign.json", {**record, "runs": [RUN]})
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments], prog_name="wirelab")


def test_the_file_is_named_and_checked() -> None:
    done = run("archive", "tiny", "--licence", "CC-BY-4.0")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("tiny.zip  ")
    assert "It has no copy of the experiment's file" in done.stderr
    done = run("verify", "tiny.zip")
    assert (done.exit_code, done.stdout.strip().rpartition(", ")[2]) == (0, "each as it was archived"), done.output


def test_what_real_time_measured_cannot_be_repeated() -> None:
    run("archive", "tiny")
    done = run("verify", "tiny.zip", "--again")
    assert done.exit_code == 2
    assert "only a run under the virtual clock" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "what"),
    [(("archive", "tiny", "--out", "a.tar"), "--out: the name does not end in .zip (a.tar)"),
     (("archive", "tine"), "no campaign 'tine'"), (("verify", "none.zip"), "no such file (none.zip)")],
)  # fmt: skip
def test_a_mistake_is_one_error(arguments: tuple[str, ...], what: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert what in done.stderr
