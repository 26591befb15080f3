"""The media type of a file by its name: the same on every machine, as `mimetypes` with its system's tables is not."""

from __future__ import annotations

from pathlib import PurePosixPath

HTML = "text/html"
TEXT = "text/plain"
UNKNOWN = "application/octet-stream"

_BY_SUFFIX = {
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".css": "text/css",
    ".csv": "text/csv",
    ".gif": "image/gif",
    ".htm": HTML,
    ".html": HTML,
    ".ico": "image/vnd.microsoft.icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".otf": "font/otf",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".txt": TEXT,
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".xml": "application/xml",
}


def media_type(name: str) -> str:
    """By the last suffix, without parameters."""
    return _BY_SUFFIX.get(PurePosixPath(name).suffix.lower(), UNKNOWN)
