"""The sentences of the answer: each states one thing and links to its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wirelab.report.numbers import Estimate


@dataclass(frozen=True)
class Statement:
    """A sentence, and those that belong to it. A `minor` one compares nothing.

    `basis` is what its numbers rest on, in a few words such as `n = 40`; `how` says more of that, and `href` leads to
    the part of the page that has all of it.
    """

    text: str
    more: Sequence[Statement] = ()
    basis: str = ""
    how: str = ""
    href: str = ""
    minor: bool = False

    @property
    def words(self) -> int:
        """How many words it has without those that belong to it."""
        return word_count(f"{self.text} {self.basis}")

    def lines(self, indent: str = "") -> Iterator[str]:
        """For a terminal: one sentence a line, with its details indented."""
        yield indent + self.text
        for each in self.more:
            yield from each.lines(indent + "  ")


def word_count(text: str) -> int:
    """How many words a reader sees; a sign alone is none."""
    return sum(any(map(str.isalnum, word)) for word in text.split())


def resting_on(text: str, estimate: Estimate, href: str, more: Sequence[Statement] = ()) -> Statement:
    """A sentence about one estimate."""
    basis = "" if estimate.n is None else f"n = {estimate.n:,}"
    words = [f"{estimate.level:.0%} interval" if estimate.level and estimate.low is not None else "", estimate.method]
    return Statement(text, more, basis, ", ".join(filter(None, words)), href)


def listed(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
