"""A file that a user names: opened if it is a regular file of a bounded size, else refused at once."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.opened import nearest_file, open_file, read_bytes


def test_a_regular_file_is_read_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    assert read_bytes(tmp_path / "link", None) == b"content"


def test_a_file_of_the_most_bytes_is_read_and_a_larger_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(1_000_000))
    assert len(read_bytes(file, None, 1_000_000)) == 1_000_000
    file.write_bytes(bytes(1_000_001))
    with pytest.raises(WirelabError, match="is larger than 1 MB"):
        open_file(file, None, 1_000_000)


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


NOT_FILES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a pipe that nobody writes to": (pipe, "is not a regular file"),
    "an endless device": (lambda _: Path("/dev/zero"), "is not a regular file"),
    "a terminal": (lambda _: Path("/dev/tty"), "is not a regular file|cannot be read"),
    "a folder": (lambda path: path.parent, "is a folder, not a file"),
    "nothing": (lambda path: path, "no such file"),
    "a part of a file": (lambda _: Path("/etc/hostname/inner"), "cannot be read: not a directory"),
    "a long name": (lambda path: path.with_name("x" * 300), "cannot be read: file name too long"),
    "a zero byte": (lambda path: path.with_name("a\0b"), "is not the name of a file: embedded null byte"),
    "half of a character": (lambda path: path.with_name("\ud800"), "is not the name of a file"),
}


@pytest.mark.parametrize("what", NOT_FILES)
def test_what_is_not_a_regular_file_is_refused_without_waiting(tmp_path: Path, what: str) -> None:
    make, why = NOT_FILES[what]
    with pytest.raises(WirelabError, match=why) as error:
        read_bytes(make(tmp_path / "other"), Where("mine"))
    assert error.value.where == Where("mine")


def test_the_nearest_name_in_a_folder_is_offered(tmp_path: Path) -> None:
    (tmp_path / "claims.toml").touch()
    assert nearest_file(tmp_path / "clams.toml", ".toml") == "claims.toml"
    assert nearest_file(tmp_path / "clams.toml", ".csv") is None
    assert nearest_file(tmp_path / "none" / "clams.toml") is None
