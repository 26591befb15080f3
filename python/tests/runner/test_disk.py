"""A full disk, said plainly, and files that it does not spoil."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from wirelab.runner.disk import (
    LEAST_FREE_BYTES,
    DiskFullError,
    FolderGoneError,
    faults_as_errors,
    require_space,
)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_no_space_and_a_spent_quota_are_a_full_disk(tmp_path: Path, number: int) -> None:
    with pytest.raises(DiskFullError, match="no space left on the device of"), faults_as_errors(tmp_path):
        raise OSError(number, os.strerror(number))


def test_other_errors_are_not_taken_for_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), faults_as_errors(tmp_path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@pytest.mark.parametrize(("free", "full"), [(LEAST_FREE_BYTES - 1, True), (LEAST_FREE_BYTES, False)])
def test_a_trial_needs_free_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, full: bool) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr("wirelab.runner.disk.shutil.disk_usage", lambda _: usage)
    if full:
        with pytest.raises(DiskFullError):
            require_space(tmp_path)
    else:
        require_space(tmp_path)


def test_a_trial_that_failed_on_a_full_disk_is_blamed_on_the_disk_even_if_space_is_free_later(tmp_path: Path) -> None:
    require_space(tmp_path, "client exited with 1: connection refused")
    with pytest.raises(DiskFullError):
        require_space(tmp_path, "completing the capture /x/client.pcapng: No space left on device (os error 28)")


@pytest.mark.parametrize("gone", [".", "trials"])
def test_a_folder_that_is_gone_is_named(tmp_path: Path, gone: str) -> None:
    folder = tmp_path / "c"
    (folder / "trials").mkdir(parents=True)
    with pytest.raises(FileNotFoundError), faults_as_errors(folder):
        (folder / "trials" / "t" / "result.json").write_text("")
    shutil.rmtree(folder / gone)
    with pytest.raises(FolderGoneError, match=f"{folder / gone} was removed or renamed"), faults_as_errors(folder):
        (folder / "trials" / "t" / "result.json").write_text("")
