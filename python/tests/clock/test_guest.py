"""What starts a guest, and where its memory may be."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from wirelab.clock import guest
from wirelab.clock.guest import MEMORY_VARIABLE, MIB, ROOM_MIB, TIMEOUT_VARIABLE, memory_folder
from wirelab.errors import WirelabError


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
    with pytest.raises(WirelabError, match="absent cannot be written: No such file or directory"):
        memory_folder()


def test_a_folder_without_room_or_without_execution_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(MEMORY_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    lacks = {Path("/dev/shm"): "is mounted noexec"}
    monkeypatch.setattr(guest, "_unfit", lambda folder, _guests: lacks.get(folder))
    assert memory_folder() == tmp_path
    memory_folder.cache_clear()
    monkeypatch.setattr(guest, "_unfit", lambda _folder, _guests: "lacks 3 B")
    with pytest.raises(WirelabError, match="no folder can hold the memory of a guest: /dev/shm lacks 3 B"):
        memory_folder()


def test_there_is_room_for_as_many_guests_as_run_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_VARIABLE, str(tmp_path))
    usage = SimpleNamespace(free=3 * ROOM_MIB * MIB - 7)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert memory_folder(2) == tmp_path
    with pytest.raises(WirelabError, match=f"the memory of 3 guests: {tmp_path} lacks 7 B") as error:
        memory_folder(3)
    assert error.value.hint == (
        f"run fewer trials at a time (--jobs), or name a folder with {MEMORY_VARIABLE}: {3 * ROOM_MIB * MIB} B free, "
        "and not mounted noexec"
    )


def test_a_file_system_that_executes_nothing_is_unfit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert guest._unfit(tmp_path, 1) is None
    real = os.statvfs(tmp_path)

    class Mounted:
        f_flag = real.f_flag | os.ST_NOEXEC

    monkeypatch.setattr(os, "statvfs", lambda _: Mounted)
    assert guest._unfit(tmp_path, 1) == "is mounted noexec"


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "an hour"])
def test_a_time_out_is_a_number_of_seconds(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TIMEOUT_VARIABLE, text)
    with pytest.raises(WirelabError, match=f"{TIMEOUT_VARIABLE} is '{text}', not a number of seconds"):
        guest._timeout_s(0.0)
    monkeypatch.setenv(TIMEOUT_VARIABLE, "3600")
    assert guest._timeout_s(10_000.0) == 3600


def test_a_long_trial_has_a_time_out_of_several_times_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TIMEOUT_VARIABLE, raising=False)
    assert guest._timeout_s(0.0) == guest._timeout_s(30.0) == guest.TIMEOUT_S
    assert guest._timeout_s(1000.2) >= 3 * 1000.2
