"""Terms with their meaning, and where a text uses them: there a link leads to the glossary, and hovering shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

_TAGS = re.compile(r"(<[^>]*>)")


@dataclass(frozen=True)
class Term:
    """An entry of the glossary. `spelled` are the words by which texts use it, as regular expressions."""

    title: str
    about: str
    spelled: Sequence[str] = ()

    @property
    def id(self) -> str:
        """Its anchor."""
        return f"term-{re.sub(r'[^a-z0-9]+', '-', self.title.lower()).strip('-')}"


@dataclass
class Terms:
    """Marks the first use of each term after `reset`."""

    known: Sequence[Term]
    _used: set[str] = field(default_factory=set)

    def reset(self) -> str:
        """Begin a part of the page; gives nothing to print."""
        self._used.clear()
        return ""

    def marked(self, html: str) -> Markup:
        """A text, which is escaped already, with links on terms; what stands in tags or links is left alone."""
        if not self._pattern:
            return Markup(html)
        parts, linked = _TAGS.split(html), False
        for i, part in enumerate(parts):
            if part.startswith("<"):
                linked = part.startswith("<a") or (linked and part != "</a>")
            elif not linked:
                parts[i] = self._pattern.sub(self._link, part)
        return Markup("".join(parts))

    def __post_init__(self) -> None:
        words = {word: term for term in self.known for word in term.spelled}
        self._by_word = {re.compile(word, re.IGNORECASE): term for word, term in words.items()}
        longest = sorted(words, key=len, reverse=True)
        every = rf"(?<![\w-])(?:{'|'.join(longest)})(?![\w-])"
        self._pattern = re.compile(every, re.IGNORECASE) if longest else None

    def _link(self, found: re.Match[str]) -> str:
        term = next(term for word, term in self._by_word.items() if word.fullmatch(found[0]))
        if term.id in self._used:
            return found[0]
        self._used.add(term.id)
        return f'<a class="term" href="#{term.id}" aria-describedby="about-{term.id}">{found[0]}</a>'
