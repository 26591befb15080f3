"""The sources of a link, numbered."""

from __future__ import annotations

import re
from collections.abc import Mapping

MARKS = ("second-hand", "assumed")
"""How a source says that it is not the original, or that there is none."""

_SAME = re.compile(r"the same(?P<more>[,:;] .*)?", re.DOTALL)


class Citations:
    """Numbers for sources, equal ones alike, in their order. A source that begins with "the same" refers to the last
    that does not, and is of its kind."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._numbers: dict[str, int] = {}
        self._cited: dict[str, tuple[str, str]] = {}
        root, kind = 0, ""
        for path, source in sources.items():
            mark, text = split_mark(source)
            same = _SAME.fullmatch(text)
            if same is None:
                root = number = self._number(source)
                kind = mark
            elif same["more"]:
                number = self._number(f"as [{root}]{same['more']}")
            else:
                number = root
            self._cited[path] = (f"[{number}]", mark or kind)

    def __getitem__(self, path: str) -> tuple[str, str]:
        """The number of a value's source, and "second-hand" or "assumed" if it is, or "no source"."""
        return self._cited.get(path, ("", "no source"))

    def texts(self) -> list[tuple[str, str]]:
        """Each number with its source."""
        return [(f"[{number}]", text) for text, number in self._numbers.items()]

    def _number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers) + 1)


def split_mark(source: str) -> tuple[str, str]:
    """A source's mark ("" for an original) and the rest of it."""
    mark, _, rest = source.partition(": ")
    return (mark, rest) if mark in MARKS else ("", source)
