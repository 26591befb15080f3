"""What a page is made of, read with the standard library's parser; it refuses what is not well-formed."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

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
