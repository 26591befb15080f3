"""`wirelab measure`, and campaigns as people name them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.metrics.records import Records, exchange, flow
from wirelab.cli import main


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    records = Records(Path("results") / "mine", {"s": {}})
    records.trial("s", [exchange(0), exchange(1)], [flow(40_000)])
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish().resolve()))
    return records.folder


@pytest.mark.parametrize("name", ["mine", "results/mine"])
def test_measure_prints_the_tables_paths_on_stdout_and_messages_on_stderr(campaign: Path, name: str) -> None:
    done = CliRunner().invoke(main, ["measure", name])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == ["results/mine/exchanges.parquet", "results/mine/trials.parquet"]
    assert done.stderr == f"1 trial, 2 exchanges\nNext    wirelab analyze {name}\n"
    assert all(Path(line).is_file() for line in done.stdout.splitlines())


def test_a_missing_campaign_is_named_with_the_existing_ones(campaign: Path) -> None:
    done = CliRunner().invoke(main, ["measure", "yours"])
    assert done.exit_code == 2
    assert (
        done.stderr
        == "error: no campaign 'yours': neither yours nor results/yours has a plan.json\nhint: campaigns here: mine\n"
    )
