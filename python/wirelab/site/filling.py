"""Words that fill a text up to an exact size."""

from __future__ import annotations

import hashlib

_WORDS = (
    "a", "and", "as", "at", "browser", "by", "carries", "connection", "each", "file", "first", "for", "frame", "from",
    "has", "header", "in", "is", "it", "its", "link", "many", "of", "on", "one", "page", "request", "response",
    "second", "sends", "server", "stream", "that", "the", "then", "time", "to", "two", "waits", "which", "while",
    "with",
)  # fmt: skip


def filled(head: str, tail: str, size_bytes: int) -> bytes:
    """Words between head and tail, cut to the size: ASCII, by a hash and so the same everywhere."""
    room = size_bytes - len(head) - len(tail)
    if room < 0:
        raise ValueError(f"{size_bytes} bytes are too few for {len(head) + len(tail)}")
    picks = hashlib.shake_256(head.encode()).digest(room // 2 + 1)
    words = " ".join(_WORDS[pick % len(_WORDS)] for pick in picks)
    return (head + words[:room] + tail).encode("ascii")
