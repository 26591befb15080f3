"""`wirelab merge`, and what `run` refuses in parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wirelab.cli import main


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments], prog_name="wirelab")


def test_it_needs_parts_and_a_folder(tmp_path: Path) -> None:
    assert run("merge").exit_code == 2
    assert "--out" in run("merge", str(tmp_path)).stderr
    there = run("merge", str(tmp_path), "--out", str(tmp_path))
    assert there.exit_code == 2
    assert "Traceback" not in there.stderr


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--shard", "1/2", "--json"), "--json: --json is about a whole campaign, and --shard runs it in parts"),
        (("--shard", "1/2", "--fail-if", "p95 > 1ms"), "--fail-if is about a whole campaign"),
        (("--engine", "dask", "--markdown", "x.md"), "--markdown is about a whole campaign, and --engine runs it"),
        (("--shards", "3"), "--shards: divides nothing without --engine"),
        (("--engine", "dask", "--jobs", "2"), "--jobs and --engine exclude each other"),
        (("--engine", "dask", "--shard", "1/2"), "--shard and --engine exclude each other"),
        (("--shard", "9/4", "--clock", "virtual"), "there is no shard 9 of 4"),
        (("--shard", "1/900", "--clock", "virtual"), "there are 64 trials, too few for 900 shards"),
        (("--shard", "1/2", "--clock", "live", "--budget", "20s"), "each machine would plan for its own processors"),
    ],
)
def test_what_no_part_can_do_is_refused_before_anything_runs(
    tmp_path: Path, options: tuple[str, ...], what: str
) -> None:
    done = run("run", "quickstart", *options, "--out", str(tmp_path / "out"))
    assert done.exit_code == 2, done.output
    assert what in done.stderr
    assert not (tmp_path / "out").exists()
