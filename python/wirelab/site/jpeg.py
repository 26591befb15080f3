"""JPEG images of an exact size in bytes, the same on every run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image

_BEST = 95
"""Above it libjpeg's tables give bytes without giving anything to see."""
_SEGMENT_HEAD = 4
"""Marker and length of a COM segment, which holds at most 65,533 bytes (ITU-T T.81, B.2.4.5)."""
_SEGMENT_MOST = 65533


@dataclass(frozen=True)
class Picture:
    """Coloured squares of several sizes on one another: edges, areas and grain, as photographs have.

    `scales` are sides of the squares in pixels, from the largest to the smallest, each a multiple of the next, with
    their weights.
    """

    width: int
    height: int
    scales: Mapping[int, int]

    def draw(self, seed: str) -> Image.Image:
        """The one of this seed."""
        total = np.zeros((1, 1, 3), dtype=np.uint16)
        for side, weight in self.scales.items():
            rows, columns = self.height // side, self.width // side
            noise = hashlib.shake_256(f"{seed}/{side}".encode()).digest(rows * columns * 3)
            squares = np.frombuffer(noise, dtype=np.uint8).reshape(rows, columns, 3)
            total = total.repeat(rows // total.shape[0], axis=0).repeat(columns // total.shape[1], axis=1)
            total += weight * squares.astype(np.uint16)
        total //= sum(self.scales.values())
        side = min(self.scales)
        return Image.fromarray(total.astype(np.uint8).repeat(side, axis=0).repeat(side, axis=1))


SMALL = Picture(640, 400, {80: 8, 20: 4, 4: 1})
LARGE = Picture(3200, 2000, {80: 8, 20: 4, 4: 1, 1: 2})
"""As a camera takes them, for files of some 0.7 to 1.4 MB."""


def jpeg(size_bytes: int, seed: str, picture: Picture = SMALL) -> bytes:
    """A picture in the best quality that fits; a comment takes what is left.

    Only integers are computed, here and in libjpeg's default transform, so nothing depends on the processor.
    """
    drawn = picture.draw(seed)
    room = size_bytes - _SEGMENT_HEAD
    low, high = 0, _BEST
    while low < high:
        middle = (low + high + 1) // 2
        if len(_encode(drawn, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    padding = room - len(_encode(drawn, low)) if low else -1
    if not 0 <= padding <= _SEGMENT_MOST:
        raise ValueError(f"no picture of {picture.width} by {picture.height} pixels has {size_bytes} bytes")
    return _encode(drawn, low, b" " * padding)


def _encode(picture: Image.Image, quality: int, comment: bytes | None = None) -> bytes:
    out = BytesIO()
    extra = {} if comment is None else {"comment": comment}
    picture.save(out, "JPEG", quality=quality, subsampling="4:2:0", **extra)
    return out.getvalue()
