"""What starts a guest, and where its memory may be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wirelab.clock import guest
from wirelab.clock.guest import MEMORY_VARIABLE, TIMEOUT_VARIABLE, memory_folder
from wirelab.errors import RunError, WirelabError


@pytest.fixture(autouse=True)
def fresh() -> None:
    """The folder is looked for once in a process."""
    memory_folder.cache_clear()


def test_a_named_folder_for_memory_is_taken_or_refused_with_its_lack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MEMORY_VARIABLE, str(tmp_path))
    assert memory_folder() == tmp_path
    memory_folder.cache_clear()
    monkeypatch.setenv(MEMORY_VARIABLE, str(tmp_path / "absent"))
    with pytest.raises(RunError, match="absent cannot be written: No such file or directory"):
        memory_folder()


def test_a_folder_without_room_or_without_execution_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(MEMORY_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    lacks = {Path("/dev/shm"): "is mounted noexec"}
    monkeypatch.setattr(guest, "_unfit", lacks.get)
    assert memory_folder() == tmp_path
    memory_folder.cache_clear()
    monkeypatch.setattr(guest, "_unfit", lambda _: "has 3 MB left of 1024")
    with pytest.raises(RunError, match="no folder can hold the memory of a guest: /dev/shm has 3 MB left"):
        memory_folder()


def test_a_file_system_that_executes_nothing_is_unfit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert guest._unfit(tmp_path) is None
    real = os.statvfs(tmp_path)

    class Mounted:
        f_flag = real.f_flag | os.ST_NOEXEC

    monkeypatch.setattr(os, "statvfs", lambda _: Mounted)
    assert guest._unfit(tmp_path) == "is mounted noexec"


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "an hour"])
def test_a_time_out_is_a_number_of_seconds(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TIMEOUT_VARIABLE, text)
    with pytest.raises(WirelabError, match=f"{TIMEOUT_VARIABLE} is '{text}', not a number of seconds"):
        guest._timeout_s()
    monkeypatch.setenv(TIMEOUT_VARIABLE, "3600")
    assert guest._timeout_s() == 3600
