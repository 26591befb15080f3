"""Errors of Wirelab: those of `wirelab_energy`, what fails while it runs, and hints that know synonyms.

Raise one from anywhere; `wirelab.cli` prints it once, on stderr, and exits with its code. Nothing else prints or exits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from wirelab_energy import errors
from wirelab_energy.errors import Where, WirelabError, nearest

__all__ = ["CombinedError", "RunError", "Where", "WirelabError", "did_you_mean", "nearest", "offer"]


class RunError(WirelabError):
    """What the user asked for failed while it was done: exit code 1."""

    exit_code = 1


class CombinedError(WirelabError):
    """Everything that is wrong with one file, in its order."""

    def __init__(self, errors: Iterable[WirelabError]) -> None:
        self.errors = tuple(errors)
        super().__init__(f"{len(self.errors)} errors")

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors)


def did_you_mean(word: str, known: Iterable[str], listing: str | None = None) -> str:
    """A hint that offers what is also called so, or the nearest of the known words; it names all of them if there is
    neither, or if they are few. `listing` is a command that prints them, for when they are many.
    """
    return errors.did_you_mean(word, known, _meant, listing)


def offer(word: str, known: Iterable[str]) -> str | None:
    """A hint that offers what is also called so, or the nearest of the known words; None if there is neither."""
    return errors.offer(word, known, _meant)


def _meant(word: str, known: Collection[str]) -> str | None:
    from wirelab.synonyms import meant

    return meant(word, known)
