"""Where each key of a TOML file stands, so that an error can point at it.

Values come from `tomllib`, which has already accepted the text: this index only follows its structure, and knows no
more of values than where they end.
"""

from __future__ import annotations

import re
from typing import NamedTuple

Path = tuple[str | int, ...]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR_END = re.compile(r"[,\]}#\n]")
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\", "e": "\x1b"}


class Position(NamedTuple):
    """Line and column, both from 1."""

    line: int
    column: int


def positions(text: str) -> dict[Path, Position]:
    """The position of every key, table header and array element, by its path; array elements are numbered from 0."""
    return _Index(text).read()


class _Index:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, Position] = {}
        self.lengths: dict[Path, int] = {}

    def read(self) -> dict[Path, Position]:
        table: Path = ()
        while self._skip(_SPACE) < len(self.text):
            if self.text.startswith("[[", self.at):
                table = self._array_of_tables()
            elif self.text[self.at] == "[":
                start = self._advance(1)
                table = self._key((), start - 1)
                self._advance(1)
            else:
                self._pair(table)
        return self.found

    def _array_of_tables(self) -> Path:
        start = self._advance(2) - 2
        path = self._key((), start, last_index=False)
        self._advance(2)
        index = self.lengths.get(path, 0)
        self.lengths[path] = index + 1
        self._record((*path, index), start)
        return (*path, index)

    def _pair(self, table: Path) -> None:
        self._skip(_SPACE)
        path = self._key(table, self.at)
        self._advance(1)
        self._value(path)

    def _key(self, path: Path, start: int, *, last_index: bool = True) -> Path:
        """Read a dotted key up to the sign behind it; a part that names an array of tables means its last table."""
        header = not path and self.text[start] == "["
        while True:
            self._skip(_BLANK)
            position = start if header else self.at
            path = (*path, self._key_part())
            self._record(path, position)
            self._skip(_BLANK)
            more = self.text[self.at] == "."
            if path in self.lengths and (more or last_index):
                path = (*path, self.lengths[path] - 1)
            if not more:
                return path
            self._advance(1)

    def _key_part(self) -> str:
        if self.text[self.at] in "\"'":
            return self._string()
        match = _BARE_KEY.match(self.text, self.at)
        if match is None:
            raise AssertionError(f"no key at offset {self.at}")
        self.at = match.end()
        return match[0]

    def _value(self, path: Path) -> None:
        self._skip(_BLANK)
        sign = self.text[self.at]
        if sign in "\"'":
            self._string()
        elif sign == "{":
            self._advance(1)
            while self._skip(_SPACE) < len(self.text) and self.text[self.at] != "}":
                self._pair(path)
                self._skip_comma()
            self._advance(1)
        elif sign == "[":
            self._advance(1)
            index = 0
            while self._skip(_SPACE) < len(self.text) and self.text[self.at] != "]":
                self._record((*path, index), self.at)
                self._value((*path, index))
                index += 1
                self._skip_comma()
            self._advance(1)
        else:
            end = _SCALAR_END.search(self.text, self.at)
            self.at = end.start() if end else len(self.text)

    def _string(self) -> str:
        quote = self.text[self.at]
        fence = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        self._advance(len(fence))
        parts: list[str] = []
        while not self.text.startswith(fence, self.at):
            if quote == '"' and self.text[self.at] == "\\":
                parts.append(self._escape())
            else:
                parts.append(self.text[self.at])
                self._advance(1)
        self._advance(len(fence))
        while len(fence) == 3 and self.text.startswith(quote, self.at):
            parts.append(quote)
            self._advance(1)
        return "".join(parts)

    def _escape(self) -> str:
        letter = self.text[self.at + 1]
        digits = {"x": 2, "u": 4, "U": 8}.get(letter, 0)
        code = self.text[self.at + 2 : self.at + 2 + digits]
        self._advance(2 + digits)
        return chr(int(code, 16)) if digits else _ESCAPES.get(letter, "")

    def _record(self, path: Path, offset: int) -> None:
        if path not in self.found:
            line = self.text.count("\n", 0, offset) + 1
            self.found[path] = Position(line, offset - self.text.rfind("\n", 0, offset))

    def _skip_comma(self) -> None:
        self._skip(_SPACE)
        if self.text[self.at] == ",":
            self._advance(1)

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return self.at

    def _advance(self, signs: int) -> int:
        self.at += signs
        return self.at
