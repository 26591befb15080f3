"""The source of the virtual clock's kernel: downloaded, checked against its digest, and unpacked."""

from __future__ import annotations

import hashlib
import io
import shutil
import tarfile
import tomllib
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import IO

from wirelab.errors import RunError
from wirelab.launcher import launched

SNAPSHOT = "https://snapshot.debian.org/file/{sha1}"
_CHUNK = 1 << 20
_TIMEOUT_S = 30.0
_AR_MAGIC = b"!<arch>\n"
_AR_HEADER = 60
_UNUSED = ("arch", "Documentation", "drivers/gpu", "drivers/media", "drivers/net/ethernet", "samples", "sound", "tools")
"""Folders of which a build of User-Mode Linux needs what is named below, and every Kconfig and Makefile."""
_NEEDED = ("arch/um", "arch/x86", "tools/include", "tools/scripts", "tools/build", "tools/lib")

Say = Callable[[str], None]


@dataclass(frozen=True)
class Source:
    """A distribution's package of kernel sources."""

    version: str
    tree: str
    """Name of the folder that is packed in it."""
    url: str
    sha1: str
    sha256: str

    @property
    def file(self) -> str:
        """Name of the package's file."""
        return self.url.rpartition("/")[2]


def accepted() -> tuple[Source, ...]:
    """The accepted sources, by preference."""
    text = resources.files("wirelab.data").joinpath("kernel", "sources.toml").read_text(encoding="utf-8")
    return tuple(Source(**each) for each in tomllib.loads(text)["source"])


def fetch(source: Source, folder: Path, say: Say) -> Path:
    """The package's file in this folder; what an earlier download left there is continued.

    Raises `RunError` if no place has it, or what came is another file.
    """
    whole, part = folder / source.file, folder / f"{source.file}.part"
    if whole.exists():
        return whole
    refused = []
    for url in (source.url, SNAPSHOT.format(sha1=source.sha1)):
        try:
            _download(url, part, say)
        except (OSError, HTTPException) as error:
            refused.append(f"{url}: {error}")
            continue
        with part.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found == source.sha256:
            part.rename(whole)
            return whole
        part.unlink()
        refused.append(f"{url}: its SHA-256 is {found}, and not {source.sha256}")
    raise RunError(
        f"the source of Linux {source.version} could not be fetched: {'; '.join(refused)}",
        hint=f"with a source tree of your own: {launched('clock build --source DIR')}",
    )


def _download(url: str, part: Path, say: Say) -> None:
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urllib.request.urlopen(request, timeout=_TIMEOUT_S)
    except urllib.error.HTTPError as error:
        # Everything is there already.
        if have and error.code == 416:
            return
        raise
    with answer, part.open("ab" if answer.status == 206 else "wb") as file:
        size = int(answer.headers.get("Content-Length", 0)) + (file.tell() if answer.status == 206 else 0)
        while chunk := answer.read(_CHUNK):
            file.write(chunk)
            say(f"downloading {file.tell() / 1e6:.0f} of {size / 1e6:.0f} MB")


def unpack(package: Path, tree: str, folder: Path, say: Say) -> Path:
    """What a build needs of the tree that is packed in a Debian package; its folder, below `folder`."""
    say("unpacking")
    path = f"./usr/src/{tree}.tar.xz"
    with (
        package.open("rb") as file,
        _member(file, "data.tar.xz") as data,
        tarfile.open(fileobj=data, mode="r|xz") as outer,
    ):
        for packed in outer:
            if packed.name == path:
                with tarfile.open(fileobj=outer.extractfile(packed), mode="r|xz") as inner:
                    _extract(inner, folder)
                return folder / tree
    raise RunError(f"{package} has no {path}", hint="remove the file, and run the same command again")


def _extract(archive: tarfile.TarFile, folder: Path) -> None:
    # Python 3.11.2, which is Debian 12's, has no filters. The package has the digest that is expected, with or without.
    if hasattr(tarfile, "data_filter"):
        archive.extraction_filter = tarfile.data_filter
    for member in archive:
        if _is_needed(PurePosixPath(*PurePosixPath(member.name).parts[1:])):
            archive.extract(member, folder)


def _is_needed(path: PurePosixPath) -> bool:
    if not any(path.is_relative_to(each) for each in _UNUSED) or path.name.startswith(("Kconfig", "Makefile")):
        return True
    return any(path.is_relative_to(each) for each in _NEEDED)


def copy_tree(tree: Path, folder: Path, say: Say) -> Path:
    """What a build needs of a source tree of the user's, which stays as it is."""
    if not (tree / "arch" / "um" / "Kconfig").is_file():
        raise RunError(f"{tree} is not a source tree of Linux: it has no arch/um/Kconfig")
    say("copying the source")

    def unused(at: str, names: list[str]) -> set[str]:
        inside, here = PurePosixPath(Path(at).relative_to(tree).as_posix()), Path(at)
        return {name for name in names if name == ".git" or ((here / name).is_file() and not _is_needed(inside / name))}

    place = folder / "linux"
    shutil.copytree(tree, place, symlinks=True, ignore=unused)
    return place


@contextmanager
def _member(file: IO[bytes], name: str) -> Iterator[_Part]:
    """A member of an `ar` archive, which Debian's packages are (deb(5))."""
    if file.read(len(_AR_MAGIC)) != _AR_MAGIC:
        raise RunError(f"{file.name} is not a Debian package")
    while len(header := file.read(_AR_HEADER)) == _AR_HEADER:
        size = int(header[48:58])
        if header[:16].decode("ascii", "replace").strip().rstrip("/") == name:
            yield _Part(file, size)
            return
        file.seek(size + size % 2, io.SEEK_CUR)
    raise RunError(f"{file.name} has no {name}")


class _Part(io.RawIOBase):
    """So many bytes of a file, from where it is."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file, self._left = file, size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        self._left -= wanted
        return self._file.read(wanted)
