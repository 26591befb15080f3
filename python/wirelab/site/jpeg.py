"""JPEG images of an exact size in bytes, the same on every run."""

from __future__ import annotations

import hashlib
from io import BytesIO

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 640, 400
_BEST = 95
"""Above it libjpeg's tables give bytes without giving anything to see."""
_SCALES = {80: 8, 20: 4, 4: 1}
"""Side of the squares in pixels, and their weight."""
_SEGMENT_HEAD = 4
"""Marker and length of a COM segment, which holds at most 65,533 bytes (ITU-T T.81, B.2.4.5)."""
_SEGMENT_MOST = 65533


def jpeg(size_bytes: int, seed: str) -> bytes:
    """A picture in the best quality that fits; a comment takes what is left.

    Only integers are computed, here and in libjpeg's default transform, so nothing depends on the processor.
    """
    picture = _mosaic(seed)
    room = size_bytes - _SEGMENT_HEAD
    low, high = 0, _BEST
    while low < high:
        middle = (low + high + 1) // 2
        if len(_encode(picture, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    padding = room - len(_encode(picture, low)) if low else -1
    if not 0 <= padding <= _SEGMENT_MOST:
        raise ValueError(f"no picture of {WIDTH} by {HEIGHT} pixels takes {size_bytes} bytes")
    return _encode(picture, low, b" " * padding)


def _encode(picture: Image.Image, quality: int, comment: bytes | None = None) -> bytes:
    out = BytesIO()
    extra = {} if comment is None else {"comment": comment}
    picture.save(out, "JPEG", quality=quality, subsampling="4:2:0", **extra)
    return out.getvalue()


def _mosaic(seed: str) -> Image.Image:
    """Coloured squares of three sizes on one another: edges, areas and grain, as photographs have."""
    total = np.zeros((HEIGHT, WIDTH, 3), dtype=np.uint16)
    for side, weight in _SCALES.items():
        shape = (HEIGHT // side, WIDTH // side, 3)
        noise = hashlib.shake_256(f"{seed}/{side}".encode()).digest(shape[0] * shape[1] * shape[2])
        squares = np.frombuffer(noise, dtype=np.uint8).reshape(shape)
        total += weight * squares.repeat(side, axis=0).repeat(side, axis=1).astype(np.uint16)
    return Image.fromarray((total // sum(_SCALES.values())).astype(np.uint8))
