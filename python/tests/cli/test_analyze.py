"""`wirelab analyze` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import wirelab.data
from tests.synthetic import write_campaign
from wirelab.cli import main

CLAIMS = Path(str(wirelab.data.__file__)).parent / "experiments" / "milosevic2021.claims.toml"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("c")
    return write_campaign(folder, uploads=("30 B",), trials=3, exchanges=5, claims=str(CLAIMS))


def test_medians_verdicts_and_the_next_command_are_printed(campaign: Path) -> None:
    result = CliRunner().invoke(main, ["analyze", str(campaign)])
    assert result.exit_code == 0
    assert "median [95 %]" in result.stdout
    assert "\nM14 " in result.stdout
    assert "14 claims" in result.stdout
    assert f"wirelab report {campaign}" in result.stderr


def test_json_is_all_that_is_on_stdout(campaign: Path) -> None:
    result = CliRunner().invoke(main, ["analyze", str(campaign), "--json"])
    printed = json.loads(result.stdout)
    assert printed["estimates"] == json.loads((campaign / "estimates.json").read_text())
    assert printed["verdicts"] == json.loads((campaign / "verdicts.json").read_text())


def test_verdicts_of_an_experiment_that_has_no_claims_any_more_do_not_stay(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, stacks=("h2",), links=("lossless",), uploads=("30 B",), trials=2, exchanges=3)
    (folder / "verdicts.json").write_text("{}")
    result = CliRunner().invoke(main, ["analyze", str(folder)])
    assert result.exit_code == 0
    assert not (folder / "verdicts.json").exists()


@pytest.mark.parametrize("verb", ["measure", "analyze", "report", "show"])
def test_every_verb_sends_a_campaign_that_has_not_run_to_the_run(tmp_path: Path, verb: str) -> None:
    folder = write_campaign(tmp_path / "c", stacks=("h2",), links=("lossless",), trials=1, exchanges=1)
    for name in ("exchanges.parquet", "trials.parquet"):
        (folder / name).unlink()
    result = CliRunner().invoke(main, [verb, str(folder)])
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == f"hint: wirelab run synthetic --out {folder}"


def test_a_folder_that_is_no_campaign_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["analyze", str(tmp_path / "none")])
    assert result.exit_code == 2
    assert "no campaign" in result.stderr
