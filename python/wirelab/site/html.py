"""What an HTML document names, where a browser's preload scanner finds it.

Scripts are not run, elements not laid out: `docs/design/pages.md` says what follows from that.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from wirelab.site.css import scan_css, scan_style_attribute
from wirelab.site.decoding import Decoded
from wirelab.site.manifest import Kind
from wirelab.site.reference import Reference, applies

Attributes = dict[str, str]

_OF_THE_HEAD = frozenset({"html", "head", "base", "link", "meta", "noscript", "script", "style", "template", "title"})
"""What does not begin the body (HTML, 13.2.6.4.4)."""
_INERT = frozenset({"iframe", "noembed", "noframes", "noscript", "template", "textarea", "title", "xmp"})
"""What is inside is text, or nothing yet: a browser that runs scripts fetches nothing of it."""
_JAVASCRIPT = re.compile(r"(text|application)/(x-)?(java|ecma|j|live)script[\d.]*", re.I)
_IMAGE_TYPES = frozenset(
    {"apng", "avif", "bmp", "gif", "jpeg", "jxl", "png", "svg+xml", "webp", "x-icon", "vnd.microsoft.icon"}
)
"""Chromium 156's."""
_PRELOADS = {
    "style": Kind.STYLESHEET, "script": Kind.SCRIPT, "image": Kind.IMAGE, "font": Kind.FONT, "fetch": Kind.OTHER,
    "track": Kind.OTHER,
}  # fmt: skip
_CANDIDATE = re.compile(r"[\s,]*(\S*[^\s,])(?:\s+([^,]*))?(?:,|\s*$)")
_DENSITY = re.compile(r"(\d+(?:\.\d+)?)x")


def scan_html(decoded: Decoded) -> list[Reference]:
    """The references of a document, in the order of their places."""
    scanner = _Scanner(decoded)
    scanner.feed(decoded.text)
    scanner.close()
    return scanner.references


class _Scanner(HTMLParser):
    def __init__(self, decoded: Decoded) -> None:
        super().__init__()
        self.references: list[Reference] = []
        self._decoded = decoded
        self._lines = [0, *(end.end() for end in re.finditer("\n", decoded.text))]
        self._base: str | None = None
        self._in_head = True
        self._inert: list[str] = []
        self._picture: str | None = None
        """What an `img` takes instead of its own; empty until a `source` is chosen, none outside of a `picture`."""
        self._style: tuple[int, str, list[str]] | None = None
        """Line, media and text of the `style` that is open."""

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Outside of SVG and MathML `<![` begins a comment (HTML, 13.2.5.42), where Python's parser may fail."""
        return self.parse_bogus_comment(i, report)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._inert:
            if tag == self._inert[-1] == "template":
                self._inert.append(tag)
            return
        self._in_head = self._in_head and tag in _OF_THE_HEAD
        # Of two attributes of one name, the first counts.
        attributes = {name: value or "" for name, value in reversed(attrs)}
        self._scan(tag, attributes)
        self._scan_shown(tag, attributes)
        if style := attributes.get("style"):
            line, end = self._line, self._end_of(self.get_starttag_text() or "")
            self.references += scan_style_attribute(style, end, line=line, base=self._base or "")
        if tag in _INERT:
            self._inert.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inert:
            if tag == self._inert[-1]:
                self._inert.pop()
        elif tag == "picture":
            self._picture = None
        elif tag == "style" and self._style is not None:
            line, media, pieces = self._style
            self._style = None
            end = self._decoded.text.find(">", self._start) + 1
            if applies(media):
                at, base = self._decoded.bytes_until(end), self._base or ""
                self.references += scan_css("".join(pieces), at, line=line, base=base, blocking=self._in_head)

    def handle_data(self, data: str) -> None:
        if self._style is not None:
            self._style[2].append(data)
        elif not self._inert and self.cdata_elem is None and data.strip("\ufeff \t\n\f\r"):
            self._in_head = False

    def _scan(self, tag: str, attributes: Attributes) -> None:
        match tag:
            case "base":
                if self._base is None and attributes.get("href"):
                    self._base = attributes["href"]
            case "link":
                self._link(attributes)
            case "style":
                self._style = (self._line, attributes.get("media", ""), [])
            case "script":
                self._script(attributes)
            case "picture":
                self._picture = ""

    def _scan_shown(self, tag: str, attributes: Attributes) -> None:
        match tag:
            case "source" if self._picture is not None:
                if not self._picture and _is_shown(attributes) and applies(attributes.get("media", "")):
                    self._picture = _candidate(attributes) or ""
            case "img":
                self._add(self._picture or _candidate(attributes), Kind.IMAGE)
            case "input" if attributes.get("type", "").lower() == "image":
                self._add(attributes.get("src"), Kind.IMAGE)
            case "image" | "use":
                self._add(attributes.get("href") or attributes.get("xlink:href"), Kind.IMAGE)
            case "body" | "table" | "tr" | "td" | "th":
                self._add(attributes.get("background"), Kind.IMAGE)
            case "iframe" | "frame":
                self._add(attributes.get("src"), Kind.DOCUMENT)
            case "video" | "audio" | "source" | "track" | "embed" | "object":
                self._add(attributes.get("poster"), Kind.IMAGE)
                self._add(attributes.get("data" if tag == "object" else "src"), Kind.OTHER, embedded=True)

    def _link(self, attributes: Attributes) -> None:
        relations = attributes.get("rel", "").lower().split()
        url, held = attributes.get("href"), applies(attributes.get("media", ""))
        if "stylesheet" in relations:
            if "disabled" in attributes or attributes.get("type", "text/css").strip().lower() not in {"", "text/css"}:
                return
            applied = held and "alternate" not in relations
            self._add(url, Kind.STYLESHEET, blocking=applied and self._in_head, applied=applied)
        elif "modulepreload" in relations:
            self._add(url, Kind.SCRIPT, applied=False)
        elif "preload" in relations and held:
            kind = _PRELOADS.get(attributes.get("as", "").lower())
            chosen = _candidate({"src": url or "", "srcset": attributes.get("imagesrcset", "")})
            if kind is not None and (kind is not Kind.IMAGE or _is_shown(attributes)):
                self._add(chosen if kind is Kind.IMAGE else url, kind, applied=False)

    def _script(self, attributes: Attributes) -> None:
        kind = attributes.get("type", "").strip().lower()
        classic = not kind or _JAVASCRIPT.fullmatch(kind) is not None
        if not (classic or kind == "module") or (classic and "nomodule" in attributes):
            return
        at_once = classic and not {"async", "defer"} & attributes.keys()
        asked = "render" in attributes.get("blocking", "").lower().split()
        self._add(attributes.get("src"), Kind.SCRIPT, blocking=self._in_head and (at_once or asked))

    def _add(
        self, url: str | None, kind: Kind, *, blocking: bool = False, applied: bool = True, embedded: bool = False
    ) -> None:
        if url and url.strip():
            at = self._end_of(self.get_starttag_text() or "")
            self.references.append(
                Reference(url, kind, at, self._line, blocking, self._base or "", applied, embedded),
            )

    @property
    def _line(self) -> int:
        return self.getpos()[0]

    @property
    def _start(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def _end_of(self, tag: str) -> int:
        """Bytes up to the end of a tag that begins here."""
        return self._decoded.bytes_until(self._start + len(tag))


def _is_shown(attributes: Attributes) -> bool:
    """Whether an image of this type is one that browsers decode."""
    kind = attributes.get("type", "").strip().lower()
    return not kind or kind.removeprefix("image/") in _IMAGE_TYPES


def _candidate(attributes: Attributes) -> str | None:
    """What a screen of one device pixel to a CSS pixel takes of `srcset` and `src`; where widths are given the first,
    for they would need a layout.
    """
    source = attributes.get("src")
    candidates = [(match[1], (match[2] or "1x").strip()) for match in _CANDIDATE.finditer(attributes.get("srcset", ""))]
    if candidates and candidates[0][1].endswith(("w", "h")):
        return candidates[0][0]
    densities = [(float(word[1]), url) for url, text in candidates if (word := _DENSITY.fullmatch(text))]
    if source:
        densities.append((1.0, source))
    return min(densities, key=lambda each: (each[0] < 1, abs(each[0] - 1)))[1] if densities else None
