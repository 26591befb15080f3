"""What a replication needs of a campaign, in a small file: a later one combines it with campaigns that were run since.
Its trials are not in it, for they can be repeated.
"""

from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from wirelab.errors import WirelabError
from wirelab.schema.campaign import JOURNAL, PLAN, read_plan
from wirelab.schema.estimates import ESTIMATES
from wirelab.schema.record import FACTS
from wirelab.schema.replaced import replaced
from wirelab.schema.verdicts import VERDICTS

SUFFIX = ".tar.xz"
MOST_BYTES = 2**30
"""Of a file in it."""


def is_archive(path: Path) -> bool:
    """Whether it is one by its name."""
    return path.name.endswith(SUFFIX)


def keep_campaign(campaign: Path, folder: Path) -> Path:
    """Write it to a folder, under the campaign's name. The same campaign gives the same bytes."""
    files = [PLAN, FACTS, JOURNAL, ESTIMATES, VERDICTS, read_plan(campaign).experiment.claims]
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name in files:
            if name is not None and (campaign / name).is_file():
                data = (campaign / name).read_bytes()
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))
    path = folder / f"{campaign.resolve().name}{SUFFIX}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
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
                    if file is None or Path(entry.name).name != entry.name:
                        raise WirelabError(f"'{path}' is no kept campaign: it holds '{entry.name}'")
                    (campaign / entry.name).write_bytes(file.read())
        except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
            raise WirelabError(f"'{path}' cannot be read: {error}", hint="keep the campaign again") from None
        yield campaign
