"""Scripts for a Slurm cluster: what they run, and where."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from wirelab.errors import WirelabError
from wirelab.runner.slurm import SlurmJobs

WORDS = ["run", "mine.toml", "--set", "link.rtt=20 ms", "--jobs", "1"]


def jobs(tmp_path: Path, *, cpus: int | None = 1) -> SlurmJobs:
    folder = tmp_path / "100 % mine"
    return SlurmJobs("bob's own #1", WORDS, 20, folder, tmp_path / "all results", tmp_path, cpus)


def called(tmp_path: Path, script: str, task: str = "3") -> list[str]:
    """What a script would run, by a program that prints its arguments in the place of Python."""
    printed = script.replace(sys.executable, "printf '%s\\n'")
    done = subprocess.run(
        ["sh", "-c", printed], env={"SLURM_ARRAY_TASK_ID": task, "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_a_task_runs_its_own_shard_into_its_own_folder(tmp_path: Path) -> None:
    made = jobs(tmp_path)
    array = made.texts({})[made.array]
    assert called(tmp_path, array) == [
        "-m", "wirelab", *WORDS, "--shard", "3/20", "--out", str(tmp_path / "100 % mine" / "parts" / "0003"),
    ]  # fmt: skip
    assert "#SBATCH --array=1-20\n" in array
    assert f'#SBATCH --output="{tmp_path}/100 %% mine/shard-%a.log"\n' in array
    assert "#SBATCH --requeue\n" in array


def test_the_merge_takes_all_parts_that_are_there(tmp_path: Path) -> None:
    made = jobs(tmp_path)
    parts = made.folder / "parts"
    for name in ("0001", "0002", "0003"):
        (parts / name).mkdir(parents=True)
    # The third task failed before it had a campaign.
    for name in ("0001", "0002"):
        (parts / name / "campaign.json").touch()
    assert called(tmp_path, made.texts({})[made.merge]) == [
        "-m", "wirelab", "merge", str(parts / "0001"), str(parts / "0002"), "--out", str(tmp_path / "all results"),
    ]  # fmt: skip


def test_a_merge_that_lacks_a_shard_says_how_this_cluster_runs_it(tmp_path: Path) -> None:
    made = jobs(tmp_path)
    (made.folder / "parts" / "0001").mkdir(parents=True)
    (made.folder / "parts" / "0001" / "campaign.json").touch()
    refuses = tmp_path / "refuses"
    refuses.write_text("#!/bin/sh\nexit 2\n")
    refuses.chmod(0o755)
    text = made.texts({})[made.merge].replace(sys.executable, str(refuses))
    done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"A shard N that is missing: sbatch --array=N '{made.array}'\n"


def test_a_merge_without_any_part_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", jobs(tmp_path).texts({})[tmp_path / "100 % mine" / "merge.sbatch"]],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "no task has run\n")


def test_a_merge_that_was_stopped_while_it_measured_goes_on(tmp_path: Path) -> None:
    made = jobs(tmp_path)
    made.out.mkdir()
    done = called(tmp_path, made.texts({})[made.merge])
    assert [word for word in done if word not in {"-m", "wirelab", str(made.out)}] == ["measure", "analyze", "report"]


def test_directives_have_names_that_slurm_reads(tmp_path: Path) -> None:
    odd = replace(jobs(tmp_path), folder=tmp_path / 'a "b" \\c')
    array = odd.texts({})[odd.array]
    assert "#SBATCH --job-name=bob-s-own-1\n" in array
    assert f'#SBATCH --output="{tmp_path}/a \\"b\\" \\\\c/shard-%a.log"\n' in array
    with pytest.raises(WirelabError, match="has a line break"):
        replace(odd, folder=tmp_path / "a\nb").write()


def test_real_time_takes_a_machine_for_itself(tmp_path: Path) -> None:
    live, virtual = (jobs(tmp_path, cpus=cpus) for cpus in (None, 4))
    assert "#SBATCH --exclusive\n" in live.texts({})[live.array]
    assert "#SBATCH --cpus-per-task=4\n" in virtual.texts({})[virtual.array]


def test_a_task_has_the_environment_that_finds_wirelab_and_its_programs(tmp_path: Path) -> None:
    made = jobs(tmp_path)
    here = {
        "WIRELAB_AGENT": "/opt/an agent",
        "WIRELAB_A-B": "no",
        "PYTHONPATH": "/opt/lib",
        "HOME": "/root",
        "SECRET": "no",
    }
    text = made.texts(here)[made.array]
    assert "export PYTHONPATH=/opt/lib\nexport WIRELAB_AGENT='/opt/an agent'\n" in text
    assert "SECRET" not in text
    assert "WIRELAB_A-B" not in text
    assert "HOME" not in text


def test_the_merge_waits_for_every_task_however_it_ended(tmp_path: Path) -> None:
    made = jobs(tmp_path)
    assert made.submit() == (
        f"sbatch --dependency=afterany:$(sbatch --parsable '{made.array}' | cut -d';' -f1) "
        f"--kill-on-invalid-dep=yes '{made.merge}'"
    )


def test_a_folder_that_is_there_is_not_written_into(tmp_path: Path) -> None:
    made = jobs(tmp_path)
    made.write()
    assert sorted(path.name for path in made.folder.iterdir()) == ["merge.sbatch", "shards.sbatch"]
    with pytest.raises(WirelabError, match="cannot be made: File exists"):
        made.write()
