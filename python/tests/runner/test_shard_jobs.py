"""A shard as a process: once done it is not run again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from wirelab.errors import RunError
from wirelab.runner import shard_jobs
from wirelab.runner.shard_jobs import ShardJob, is_done, run_shard_job


def _job(folder: Path, *words: str) -> ShardJob:
    return ShardJob("1/2", words, folder / "part", folder)


def test_a_run_that_succeeds_is_marked_and_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = tmp_path / "count"
    code = f"open({str(counted)!r}, 'a').write('x')"
    monkeypatch.setattr(shard_jobs, "_command", lambda _: [sys.executable, "-c", code])
    (tmp_path / "part").mkdir()
    for _ in range(2):
        assert run_shard_job(_job(tmp_path)) == "1/2"
    assert is_done(tmp_path / "part")
    assert counted.read_text() == "x"


def test_a_run_that_fails_says_its_last_words_and_is_not_marked(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="shard 1/2 failed: error: unknown verb"):
        run_shard_job(_job(tmp_path, "nonsense"))
    assert not is_done(tmp_path / "part")
