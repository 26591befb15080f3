"""The site of h2window2017, generated, and its twins: of equal sizes, and of one large object.

The paper says that it has eight objects, about 7 MB together: a document, a stylesheet, two scripts and four JPEGs.
Taken are 7,000,000 bytes of bodies. How they divide is not said: `SIZES` is an assumption, of a site whose pictures
come from a camera. The paper leaves resources of equal size to future work. It also says that the shape of its site may
hide a trend: one object of nearly all bytes leaves other streams nothing to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from wirelab.site.discovery import discover_in
from wirelab.site.filling import filled
from wirelab.site.jpeg import LARGE, SMALL, jpeg
from wirelab.site.page import Page

SITE_BYTES = 7_000_000
SIZES: Mapping[str, int] = {
    "/index.html": 40_000,
    "/style.css": 260_000,
    "/library.js": 1_200_000,
    "/site.js": 500_000,
    "/1.jpg": 1_150_000,
    "/2.jpg": 1_200_000,
    "/3.jpg": 1_300_000,
    "/4.jpg": 1_350_000,
}
EQUAL_SIZES: Mapping[str, int] = dict.fromkeys(SIZES, SITE_BYTES // len(SIZES))
ONE_LARGE_SIZES: Mapping[str, int] = {**dict.fromkeys(SIZES, 40_000), "/library.js": SITE_BYTES - 7 * 40_000}

SMALLEST_LARGE = 500_000
"""From this size in bytes on an image has the pixels of a camera's."""
_IMAGE = ".jpg"
_HEAD = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Site</title>'
    '<link rel="stylesheet" href="style.css"><script src="library.js"></script><script src="site.js"></script></head>\n'
    "<body><main>\n"
)
_AROUND = {
    ".css": ("body{margin:0;font-family:sans-serif}img{width:50%;height:auto}/*", "*/\n"),
    ".js": ("/*", "*/\n"),
}
"""What comes before and behind the words that fill a file: they are a comment."""


@cache
def site() -> Page:
    """Eight objects of `SIZES`."""
    return _site(SIZES)


@cache
def equal() -> Page:
    """Eight objects of the same size, the document too."""
    return _site(EQUAL_SIZES)


@cache
def one_large() -> Page:
    """Eight objects, of which one script has 96 % of the bytes."""
    return _site(ONE_LARGE_SIZES)


def _site(sizes: Mapping[str, int]) -> Page:
    return discover_in({path: _body(path, size) for path, size in sizes.items()})


def _body(path: str, size_bytes: int) -> bytes:
    if path.endswith(_IMAGE):
        return jpeg(size_bytes, f"h2window2017{path}", SMALL if size_bytes < SMALLEST_LARGE else LARGE)
    if (ends := next((ends for suffix, ends in _AROUND.items() if path.endswith(suffix)), None)) is not None:
        return filled(*ends, size_bytes)
    names = [path.removeprefix("/") for path in SIZES if path.endswith(_IMAGE)]
    images = "".join(f'<img src="{name}" width={LARGE.width} height={LARGE.height}>\n' for name in names)
    return filled(f"{_HEAD}{images}</main><p>", "</p></body></html>\n", size_bytes)
