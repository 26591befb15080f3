"""Pages of lessons that ship, for machines on which the virtual clock does not run."""

from __future__ import annotations

import lzma
from importlib import resources

_FOLDER = resources.files("wirelab.data").joinpath("lessons")
SUFFIX = ".html.xz"


def shipped_page(name: str) -> str:
    """The page of a lesson as it was made where the lesson was run."""
    return lzma.decompress(_FOLDER.joinpath(f"{name}{SUFFIX}").read_bytes()).decode("utf-8")


def packed(page: str) -> bytes:
    """A page as it ships."""
    return lzma.compress(page.encode("utf-8"), preset=9 | lzma.PRESET_EXTREME)
