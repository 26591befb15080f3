"""Writes an archive, and opens one: a ZIP file whose metadata have the SHA-256 of each file."""

from __future__ import annotations

import hashlib
import lzma
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory, gettempdir

from wirelab.archive.crate import METADATA, Content, digests, metadata
from wirelab.clock.kernel import known_recipes, recipe_files
from wirelab.errors import Where, WirelabError
from wirelab.launcher import launched
from wirelab.schema.campaign import PLAN, read_plan
from wirelab.schema.record import FACTS, read_record
from wirelab.schema.replaced import replaced

SUFFIX = ".zip"
KERNEL = "kernel"
LEFT_OUT = frozenset({"lock", "wirelab-agent", "certificates", "host.log", "figures", METADATA})
"""What no reader needs: locks and programs, keys and figures, which can be made anew, and metadata of an archive."""
_WHEN = (1980, 1, 1, 0, 0, 0)
"""Of every entry, so that the same files give the same bytes."""
DAMAGED = (
    OSError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, ValueError, KeyError, TypeError, RuntimeError, EOFError,
)  # fmt: skip
"""What the library raises for a file that is damaged, encrypted or of another kind."""


def is_archive(path: Path) -> bool:
    """Whether it is one by its name."""
    return path.suffix == SUFFIX and path.is_file()


def write(campaign: Path, out: Path, *, licence: str | None) -> list[Content]:
    """Write a campaign's files and the kernel's recipe as one archive; what is in it. Raises `WirelabError` if the
    campaign was never run.
    """
    plan, record = read_plan(campaign), read_record(campaign)
    if record is None or not record.runs:
        raise WirelabError(f"'{campaign}' was never run: it has no {FACTS}", hint=launched("run FILE"))
    added: dict[str, bytes] = {}
    # Another version of Wirelab may have another recipe, and an archive that was unpacked has its own.
    if record.kernel is not None and record.kernel.recipe in known_recipes():
        added |= {f"{KERNEL}/{name}": content for name, content in recipe_files().items()}
    files = {path.relative_to(campaign).as_posix(): path for path in _files(campaign, out)}
    added = {name: content for name, content in added.items() if name not in files}
    out.parent.mkdir(parents=True, exist_ok=True)
    with replaced(out) as fresh, zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
        contents = [_add(archive, name, files[name].read_bytes()) for name in sorted(files)]
        contents += [_add(archive, name, added[name]) for name in sorted(added)]
        _add(archive, METADATA, metadata(plan, record, contents, licence).encode())
    return contents


def _files(campaign: Path, out: Path) -> Iterator[Path]:
    for path in campaign.rglob("*"):
        first, *rest = path.relative_to(campaign).parts
        is_archive_here = not rest and (path.suffix == SUFFIX or path.resolve() == out.resolve())
        if path.is_file() and first not in LEFT_OUT and not path.is_symlink() and not is_archive_here:
            yield path


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> Content:
    entry = zipfile.ZipInfo(name, _WHEN)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    archive.writestr(entry, content)
    return Content(name, len(content), hashlib.sha256(content).hexdigest())


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """The campaign's folder, as long as the context lasts. Raises `WirelabError` with the first file that is missing,
    was changed, or is not named by the metadata.
    """
    where, again = Where(str(path)), "get the archive again"
    with TemporaryDirectory(prefix="wirelab-archive-") as temporary:
        # Not by the archive's name, which may be any.
        campaign = Path(temporary) / "campaign"
        try:
            with zipfile.ZipFile(path) as archive:
                entries = archive.infolist()
                size, room = sum(each.file_size for each in entries), shutil.disk_usage(temporary).free
                if size > room:
                    what = f"has {size / 1e6:,.0f} MB, and {gettempdir()} has room for {room / 1e6:,.0f} MB"
                    raise WirelabError(what, where, "set TMPDIR to a larger folder")
                if unsafe := next((each.filename for each in entries if not _is_inside(each.filename)), None):
                    raise WirelabError(f"is not an archive of a campaign: it holds '{unsafe}'", where)
                archive.extractall(campaign)
            known = digests((campaign / METADATA).read_text(encoding="utf-8"))
        except DAMAGED as error:
            raise WirelabError(f"is damaged, or not an archive of a campaign: {error}", where, again) from None
        found = {each.filename for each in entries if not each.is_dir()} - {METADATA}
        if PLAN not in found:
            raise WirelabError(f"is not an archive of a campaign: it has no {PLAN}", where)
        for name in sorted(found | known.keys()):
            if name not in known or name not in found:
                what = "its metadata do not name it" if name not in known else "it is missing"
                raise WirelabError(f"{name}: {what}", where, again)
            if hashlib.sha256((campaign / name).read_bytes()).hexdigest() != known[name]:
                raise WirelabError(f"{name}: it was changed", where, again)
        yield campaign


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name
