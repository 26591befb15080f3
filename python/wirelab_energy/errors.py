"""Errors for people: what was wrong and with which value, where, and what to do. Nothing here prints or exits."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

FEW = 10
"""So many words are read at a glance."""
ALIKE = 0.76
"""Twice the letters in common over all letters; what is less alike (`show-packets`, `lost-packets`) is another word."""
LEAST_PART = 3

Meant = Callable[[str, Collection[str]], str | None]
"""A hint about a word that is another name of a known one; None if it is not."""


@dataclass(frozen=True)
class Where:
    """A place in a file (line and column count from 1), or an option such as `--set`."""

    source: str
    line: int | None = None
    column: int | None = None
    key: str | None = None

    def __str__(self) -> str:
        place = self.source
        if self.line is not None:
            place += f":{self.line}"
            if self.column is not None:
                place += f":{self.column}"
        return f"{place}: {self.key}" if self.key else place


class WirelabError(Exception):
    """What the user asked for cannot be done as written: exit code 2.

    `what` is one line and names the offending value; `where` says where it stands; `hint` says what to do.
    """

    exit_code = 2

    def __init__(self, what: str, where: Where | str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        first = f"{self.where}: {self.what}" if self.where is not None else f"error: {self.what}"
        return f"{first}\nhint: {self.hint}" if self.hint else first


def did_you_mean(word: str, known: Iterable[str], meant: Meant | None = None, listing: str | None = None) -> str:
    """A hint that offers what is also called so, or the nearest of the known words; it names all of them if there is
    neither, or if they are few. `listing` is a command that prints them, for when they are many.
    """
    words = sorted(known)
    listed = [f"'{each}'" for each in words] if any("," in each for each in words) else words
    every = f"known: {', '.join(listed)}" if words else "there are none"
    if listing is not None and len(words) > FEW:
        every = f"{listing} names all {len(words)}"
    hint = offer(word, words, meant)
    if hint is None:
        return every
    return f"{hint} ({every})" if 1 < len(words) <= FEW and " or " not in hint else hint


def offer(word: str, known: Iterable[str], meant: Meant | None = None) -> str | None:
    """A hint that offers what is also called so, or the nearest of the known words; None if there is neither."""
    words = sorted(known)
    if meant is not None and (hint := meant(word, words)) is not None:
        return hint
    parts = [each for each in words if word.lower() in each.split("-")]
    if len(word) >= LEAST_PART and 1 < len(parts) <= FEW:
        return f"did you mean {any_of(parts)}?"
    near = nearest(word, words)
    return None if near is None else f"did you mean '{near}'?"


def any_of(words: Collection[str]) -> str:
    """`'a', 'b' or 'c'`."""
    *first, last = [f"'{word}'" for word in words]
    return f"{', '.join(first)} or {last}" if first else last


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was most likely meant, if any was: one that looks alike, one that differs by a slip of the
    finger, or one of which this is the beginning or a part.
    """
    word, words = word.lower(), sorted(known)
    if near := difflib.get_close_matches(word, words, n=1, cutoff=ALIKE):
        return near[0]
    slips = (each for each in words if _one_slip(word, each.lower()))
    parts = (each for each in words if len(word) >= LEAST_PART and (each.startswith(word) or word in each.split("-")))
    return next(slips, None) or next(parts, None)


def _one_slip(word: str, other: str) -> bool:
    """Whether one letter, but no digit, is wrong, missing or too many, or two neighbours are in the wrong order."""
    while word and other and word[0] == other[0]:
        word, other = word[1:], other[1:]
    while word and other and word[-1] == other[-1]:
        word, other = word[:-1], other[:-1]
    if any(letter.isdigit() for letter in word + other):
        return False
    return max(len(word), len(other)) <= 1 or (len(word) == 2 and word == other[::-1])
