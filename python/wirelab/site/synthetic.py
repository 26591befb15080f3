"""A page of images that are all alike, for a grid of how many there are and how large."""

from __future__ import annotations

import hashlib
import struct
import zlib
from functools import cache

from wirelab.site.bounds import LEAST_IMAGE_BYTES
from wirelab.site.discovery import discover_in
from wirelab.site.page import Page

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_WIDTH = 64
_CHUNK_BYTES = 12
"""Length, type and CRC of a chunk (PNG, 5.3)."""
_FIXED_BYTES = len(_SIGNATURE) + (_CHUNK_BYTES + 13) + _CHUNK_BYTES + _CHUNK_BYTES
"""Signature, IHDR, and what is around the content of IDAT and in IEND."""
_STREAM_BYTES, _BLOCK_BYTES, _MOST_STORED = 6, 5, 65_535
"""Around a zlib stream (RFC 1950), around a stored block of it and what such a block holds (RFC 1951, 3.2.4)."""
_PADDING = b"fiLl"
"""A chunk that a decoder may ignore, of nobody's else (PNG, 5.4)."""


@cache
def images(objects: int, object_bytes: int) -> Page:
    """A document that names so many images of so many bytes each."""
    names = [f"{number}.png" for number in range(1, objects + 1)]
    tags = "".join(f'<img src="{name}">\n' for name in names)
    document = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Page</title></head>\n'
        f"<body>\n{tags}</body></html>\n"
    )
    return discover_in(
        {"/index.html": document.encode("ascii"), **{f"/{name}": png(object_bytes, name) for name in names}}
    )


def png(size_bytes: int, seed: str) -> bytes:
    """Grey noise, which no coding makes smaller, in a file of exactly that size; a chunk of padding takes what no row
    of pixels fills. Stored without compression, so that no version of a library changes a byte.
    """
    if size_bytes < LEAST_IMAGE_BYTES:
        raise ValueError(f"no image has {size_bytes} bytes, at least {LEAST_IMAGE_BYTES}")
    room = size_bytes - _FIXED_BYTES - _STREAM_BYTES
    blocks = -(-room // (_MOST_STORED + _BLOCK_BYTES))
    width = _WIDTH if room >= 2 * _WIDTH else 1
    rows = (room - blocks * _BLOCK_BYTES) // (width + 1)
    while 0 < (rest := _rest(size_bytes, width, rows)) < _CHUNK_BYTES or rest < 0:
        rows -= 1
    noise = hashlib.shake_256(f"{seed}/{size_bytes}".encode()).digest(width * rows)
    pixels = b"".join(b"\0" + noise[row * width : (row + 1) * width] for row in range(rows))
    padding = _chunk(_PADDING, bytes(rest - _CHUNK_BYTES)) if rest else b""
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, rows, 8, 0, 0, 0, 0))
    return _SIGNATURE + header + padding + _chunk(b"IDAT", _stored(pixels)) + _chunk(b"IEND", b"")


def _rest(size_bytes: int, width: int, rows: int) -> int:
    """Bytes that so many rows leave over."""
    pixels = (width + 1) * rows
    return size_bytes - _FIXED_BYTES - _STREAM_BYTES - pixels - _BLOCK_BYTES * -(-pixels // _MOST_STORED)


def _stored(data: bytes) -> bytes:
    blocks = [data[first : first + _MOST_STORED] for first in range(0, len(data), _MOST_STORED)]
    coded = b"".join(
        struct.pack("<BHH", number == len(blocks), len(block), len(block) ^ 0xFFFF) + block
        for number, block in enumerate(blocks, 1)
    )
    return b"\x78\x01" + coded + struct.pack(">I", zlib.adler32(data))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
