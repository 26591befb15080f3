"""Sources of the kernel: fetched once, checked by digest, and unpacked as far as a build needs them."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from wirelab.clock import sources
from wirelab.clock.sources import Source
from wirelab.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = {
    "linux/Makefile": b"VERSION = 7\n",
    "linux/arch/um/Kconfig": b"config HZ\n",
    "linux/arch/um/kernel/um_arch.c": b"int um;\n",
    "linux/arch/arm/Kconfig": b"config ARM\n",
    "linux/arch/arm/kernel/setup.c": b"int arm;\n",
    "linux/Documentation/Makefile": b"docs:\n",
    "linux/Documentation/networking/tcp.rst": b"TCP\n",
    "linux/net/ipv4/tcp.c": b"int tcp;\n",
}


def packed(files: dict[str, bytes], mode: str) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode=mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return whole.getvalue()


def debian_package(members: dict[str, bytes]) -> bytes:
    text = b"!<arch>\n"
    for name, content in members.items():
        text += (
            f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode()
            + content
            + b"\n" * (len(content) % 2)
        )
    return text


def package() -> bytes:
    data = packed({"./usr/src/linux.tar.xz": packed(FILES, "w:xz")}, "w:xz")
    return debian_package({"debian-binary": b"2.0\n", "control.tar.xz": b"odd", "data.tar.xz": data})


def silent(_text: str) -> None:
    pass


@pytest.mark.parametrize("filters", [True, False], ids=["with filters", "as Python 3.11.2"])
def test_a_package_is_unpacked_as_far_as_a_build_needs_it(
    filters: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not filters:
        whole = tarfile.TarFile.extract

        def extract(archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
            whole(archive, member, path)

        monkeypatch.delattr(tarfile, "data_filter", raising=False)
        monkeypatch.setattr(tarfile.TarFile, "extract", extract)
    path = tmp_path / "linux.deb"
    path.write_bytes(package())
    tree = sources.unpack(path, "linux", tmp_path / "out", silent)
    found = {str(each.relative_to(tree.parent)) for each in tree.rglob("*") if each.is_file()}
    assert found == set(FILES) - {"linux/arch/arm/kernel/setup.c", "linux/Documentation/networking/tcp.rst"}
    assert (tree / "net/ipv4/tcp.c").read_bytes() == b"int tcp;\n"


def test_a_file_that_is_no_such_package_is_named(tmp_path: Path) -> None:
    path = tmp_path / "linux.deb"
    path.write_bytes(b"<html>404</html>")
    with pytest.raises(RunError, match=r"linux\.deb is not a Debian package"):
        sources.unpack(path, "linux", tmp_path / "out", silent)
    path.write_bytes(package())
    with pytest.raises(RunError, match=r"has no \./usr/src/other\.tar\.xz"):
        sources.unpack(path, "other", tmp_path / "out", silent)


def test_a_tree_of_the_user_s_is_copied_and_another_folder_refused(tmp_path: Path) -> None:
    own = tmp_path / "own"
    for name, content in FILES.items():
        path = own / name.removeprefix("linux/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    tree = sources.copy_tree(own, tmp_path / "out", silent)
    assert (tree / "net/ipv4/tcp.c").exists()
    assert (tree / "arch/arm/Kconfig").exists()
    assert not (tree / "arch/arm/kernel/setup.c").exists()
    with pytest.raises(RunError, match="is not a source tree of Linux"):
        sources.copy_tree(tmp_path, tmp_path / "again", silent)


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[str]:
    """A web server of files that knows ranges as little as Python's own."""
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_arguments: object) -> None:
            pass

    (tmp_path / "mirror").mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "mirror")))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def source(url: str, content: bytes) -> Source:
    return Source("1", "linux", url, hashlib.sha1(content).hexdigest(), hashlib.sha256(content).hexdigest())


def test_a_source_is_fetched_once(tmp_path: Path, mirror: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "SNAPSHOT", f"{mirror}/{{sha1}}")
    (tmp_path / "mirror" / "linux.deb").write_bytes(b"all of it")
    (tmp_path / "linux.deb.part").write_bytes(b"some, of a mirror that knows ranges")
    wanted = source(f"{mirror}/linux.deb", b"all of it")
    path = sources.fetch(wanted, tmp_path, silent)
    assert path.read_bytes() == b"all of it"
    (tmp_path / "mirror" / "linux.deb").unlink()
    assert sources.fetch(wanted, tmp_path, silent) == path


def test_what_the_mirror_dropped_comes_from_the_snapshots(
    tmp_path: Path, mirror: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "SNAPSHOT", f"{mirror}/{{sha1}}")
    wanted = source(f"{mirror}/linux.deb", b"kept")
    (tmp_path / "mirror" / wanted.sha1).write_bytes(b"kept")
    assert sources.fetch(wanted, tmp_path, silent).read_bytes() == b"kept"


def test_another_file_is_refused_and_not_kept(tmp_path: Path, mirror: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "SNAPSHOT", f"{mirror}/{{sha1}}")
    (tmp_path / "mirror" / "linux.deb").write_bytes(b"tampered")
    with pytest.raises(RunError, match=r"its SHA-256 is \w+, and not .*HTTP Error 404"):
        sources.fetch(source(f"{mirror}/linux.deb", b"true"), tmp_path, silent)
    assert not list(tmp_path.glob("linux.deb*"))


def test_the_shipped_sources_have_whole_digests() -> None:
    accepted = sources.accepted()
    assert accepted
    for each in accepted:
        assert (len(each.sha1), len(each.sha256)) == (40, 64), each.version
        assert each.version in each.file
