"""What a page is made of, read with the standard library's parser; it refuses what is not well-formed."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from wirelab.report.statement import word_count

VOID = {"meta", "link", "br", "img", "hr", "input", "path", "rect", "line"}
SILENT = {"script", "style"}
BLOCK = {"p", "tr", "th", "td", "li", "h1", "h2", "h3", "h4", "caption", "summary", "figcaption", "dt", "dd", "pre"}


@dataclass
class Page(HTMLParser):
    """The text of a page without its charts, its attributes, and every tag with those it stands in."""

    source: str
    text: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    protocol: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    figures: list[dict[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.source)
        self.close()
        assert not self.protocol, f"never closed: {self.protocol}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag == "figure":
            self.figures.append({})
        if self.figures and "figure" in self.protocol:
            self.figures[-1][tag] = self.figures[-1].get(tag, 0) + 1
        if tag in BLOCK:
            self.text.append("\n")
        if tag not in VOID:
            self.protocol.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.protocol.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.protocol, f"</{tag}> closes nothing"
            assert self.protocol[-1] == tag, f"</{tag}> closes <{self.protocol[-1]}>"
            self.protocol.pop()

    def handle_data(self, data: str) -> None:
        if not SILENT & set(self.protocol) and "svg" not in self.protocol:
            self.text.append(data if data.strip() else " ")

    def words(self) -> str:
        """The text, a line for each block or cell."""
        lines = (" ".join(line.split()) for line in "".join(self.text).split("\n"))
        return "\n".join(line for line in lines if line) + "\n"


CLOSED = {"script", "style", "head"}


@dataclass
class Seen(HTMLParser):
    """What a reader sees of a page before opening anything, at the width of a computer: texts of charts included, what
    only screen readers say left out. `parts` are the texts under each id or class that is asked for.
    """

    source: str
    marks: tuple[str, ...]
    parts: dict[str, list[str]] = field(default_factory=dict)
    drawn: dict[str, int] = field(default_factory=dict)
    _open: list[tuple[str, str, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in VOID:
            return
        given = {name: value or "" for name, value in attrs}
        classes = given.get("class", "").split()
        inside = self._open[-1] if self._open else ("", "", True)
        part = next(
            (mark for mark in self.marks if mark == given.get("id") or mark in classes or mark == tag), inside[1]
        )
        closed = inside[0] == "details" and tag != "summary"
        hides = tag in CLOSED or closed or "hidden" in given or bool({"spoken", "narrow", "skip"} & {*classes})
        seen = inside[2] and not hides
        # A closed part shows its summary alone.
        kind = "details" if tag == "details" and "open" not in given else ""
        if tag == "svg" and seen and given.get("role") == "img":
            self.drawn[part] = self.drawn.get(part, 0) + 1
        self._open.append((kind, part, seen))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element without content shows no text."""

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1][2]:
            self.parts.setdefault(self._open[-1][1], []).append(data)

    def words(self, *parts: str) -> int:
        """How many words of these parts are seen; of all without any."""
        texts = [" ".join(found) for part, found in self.parts.items() if not parts or part in parts]
        return sum(word_count(text) for text in texts)
