"""`wirelab slurm`: what it writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wirelab.cli import main


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["slurm", *arguments], prog_name="wirelab")


def test_it_writes_two_scripts_and_says_how_to_submit_them(tmp_path: Path) -> None:
    done = run("quickstart", "--clock", "virtual", "--seed", "7", "--shards", "4", "--set", "link.rtt=20ms")
    assert done.exit_code == 0, done.output
    folder = tmp_path / "results" / "quickstart-slurm-4"
    text = (folder / "shards.sbatch").read_text()
    words = "run quickstart --set link.rtt=20ms --set clock=virtual --seed 7 --jobs 1 --shard"
    assert f' -m wirelab {words} "$SLURM_ARRAY_TASK_ID"/4 --out ' in text
    assert f"--out {tmp_path}/results/quickstart" in (folder / "merge.sbatch").read_text()
    assert f"Submit   sbatch --dependency=afterany:$(sbatch --parsable {folder}/shards.sbatch | cut" in done.stdout
    assert f"Again    sbatch --array=N {folder}/shards.sbatch\n" in done.stdout
    assert f"Merge    sbatch {folder}/merge.sbatch\n" in done.stdout
    assert "4 tasks of up to 16 trials" in done.stdout


def test_in_real_time_each_machine_chooses_how_many_trials_it_runs_at_a_time(tmp_path: Path) -> None:
    assert run("quickstart", "--clock", "live", "--shards", "2", "--out", "mine").exit_code == 0
    text = (tmp_path / "mine-slurm-2" / "shards.sbatch").read_text()
    assert "--exclusive" in text
    assert "--jobs" not in text


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--clock", "virtual"), "--shards"),
        (("--clock", "virtual", "--shards", "900"), "there are 64 trials, too few for 900 shards"),
        (("--clock", "live", "--budget", "20s", "--shards", "2"), "each machine would plan for its own processors"),
        (
            ("--shards", "2", "--set", "stop.interval=5 %", "--set", "stop.replicates=[2, 9]"),
            "no shard knows what the others measured",
        ),
        (("--shards", "2", "--out", "."), "is already there"),
        (("--shards", "2", "--out", "/proc/x"), "cannot be made"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(tmp_path: Path, options: tuple[str, ...], what: str) -> None:
    done = run("quickstart", *options)
    assert done.exit_code == 2, done.output
    assert what in done.stderr
    assert not [*tmp_path.iterdir()]
