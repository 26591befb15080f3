"""Bytes of a text file to characters, and characters back to the bytes at which they stand."""

from __future__ import annotations

import codecs
import re
from functools import cached_property

_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_META = re.compile(rb"<meta[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.I)
_CHARSET = re.compile(rb'\A@charset "([^"]{1,90})";')
_PRESCANNED = 1024
"""A browser looks for a declaration in so many bytes (HTML, 13.2.3.2)."""

_AS_BROWSERS_DO = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "utf-16": "utf-8",
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}
"""What a label means that stands in a text which could be read so far (Encoding, 4.2; HTML, 13.2.3.2)."""
_OF_THE_WEB = re.compile(
    r"utf-8|cp(125\d|866|874|932|949)|iso8859-\d+|koi8-[ru]|mac-(roman|cyrillic)|gbk|gb2312|gb18030|big5(hkscs)?"
    r"|euc_jp|euc_kr|iso2022_jp|shift_jis"
)


class Decoded:
    """A text whose characters know their bytes. What cannot be decoded is U+FFFD, as in a browser; a byte order mark
    stays the first character.
    """

    def __init__(self, data: bytes, codec: str) -> None:
        self.codec = codec
        self._data = data
        text = _round_trip(data, codec)
        self._exact = text is not None
        self.text = "".join(self._pieces) if text is None else text

    def bytes_until(self, characters: int) -> int:
        """How many bytes the first so many characters take."""
        if self._exact:
            return len(self.text[:characters].encode(self.codec))
        return self._ends[characters - 1] if characters else 0

    @cached_property
    def _pieces(self) -> list[str]:
        """What each byte completes; the last also what is never completed."""
        decoder = codecs.getincrementaldecoder(self.codec)(errors="replace")
        return [*(decoder.decode(bytes((byte,))) for byte in self._data), decoder.decode(b"", final=True)]

    @cached_property
    def _ends(self) -> list[int]:
        return [min(end, len(self._data)) for end, piece in enumerate(self._pieces, 1) for _ in piece]


def decode_html(data: bytes) -> Decoded:
    """By byte order mark, `<meta charset>`, and else UTF-8 where that fits and Windows-1252 where not."""
    return Decoded(data, _codec(data, _META.search(data, 0, _PRESCANNED)) or _guess(data))


def decode_css(data: bytes, document: str) -> Decoded:
    """By byte order mark, `@charset`, and else as the document that names it (CSS Syntax, 3.2)."""
    return Decoded(data, _codec(data, _CHARSET.match(data)) or document)


def _codec(data: bytes, declaration: re.Match[bytes] | None) -> str | None:
    for bom, codec in _BOMS.items():
        if data.startswith(bom):
            return codec
    if declaration is None:
        return None
    try:
        name = codecs.lookup(declaration[1].decode("latin-1")).name
    except (LookupError, ValueError):
        return None
    name = _AS_BROWSERS_DO.get(name, name)
    return name if _OF_THE_WEB.fullmatch(name) else None


def _round_trip(data: bytes, codec: str) -> str | None:
    """The text if it has one form in bytes, which is these. Shift sequences are a second form."""
    try:
        text = data.decode(codec)
        return text if codec != "iso2022_jp" and text.encode(codec) == data else None
    except UnicodeError:
        return None


def _guess(data: bytes) -> str:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
