"""Some files of a campaign in one small file, for those that read a campaign and none of its trials again."""

from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from wirelab.errors import WirelabError
from wirelab.schema.campaign import TRIALS
from wirelab.schema.replaced import replaced

SUFFIX = ".tar.xz"
MOST_BYTES = 2**30
"""Of a file in it."""
_TRIAL_FILE = 3
"""Parts of the name of a trial's file."""


def is_archive(path: Path) -> bool:
    """Whether it is one by its name."""
    return path.name.endswith(SUFFIX)


def pack(campaign: Path, names: Iterable[str], path: Path) -> Path:
    """Write those of the files that exist. The same files give the same bytes."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name in names:
            if (campaign / name).is_file():
                data = (campaign / name).read_bytes()
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced(path) as fresh:
            fresh.write_bytes(lzma.compress(content.getvalue(), preset=9))
    except OSError as error:
        raise WirelabError(f"cannot write {path}: {error.strerror}") from error
    return path


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """A folder with its files, as long as the context lasts. Raises `WirelabError` if it is damaged."""
    with TemporaryDirectory() as temporary:
        campaign = Path(temporary) / path.name.removesuffix(SUFFIX)
        campaign.mkdir()
        try:
            with tarfile.open(path, mode="r:xz") as archive:
                for entry in archive:
                    file = archive.extractfile(entry) if entry.isfile() and entry.size <= MOST_BYTES else None
                    if file is None or not _is_of_a_campaign(entry.name):
                        raise WirelabError(f"'{path}' is no kept campaign: it holds '{entry.name}'")
                    (campaign / entry.name).parent.mkdir(parents=True, exist_ok=True)
                    (campaign / entry.name).write_bytes(file.read())
        except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
            raise WirelabError(f"'{path}' cannot be read: {error}", hint="keep the campaign again") from None
        yield campaign


def _is_of_a_campaign(name: str) -> bool:
    """A file of the folder itself, or one of a trial."""
    parts = PurePosixPath(name).parts
    of_a_trial = len(parts) == _TRIAL_FILE and parts[0] == TRIALS
    return (len(parts) == 1 or of_a_trial) and not {"..", "/"} & {*parts}
