"""What a stylesheet names: imports, fonts, images.

No rule is matched with an element: every rule is taken to be used, save those of other media (`applies`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import tinycss2

from wirelab.site.manifest import Kind
from wirelab.site.reference import Reference, applies

_GROUPS = frozenset({"media", "supports", "layer", "container", "scope", "starting-style"})
_FETCH_NOTHING = frozenset({"charset", "namespace", "import"})
_BEFORE_IMPORTS = frozenset({"charset", "layer", "import"})
_FONT_FORMATS = frozenset({"woff2", "woff", "truetype", "opentype", "collection"})


def scan_css(text: str, at_bytes: int, *, line: int = 1, base: str = "", blocking: bool = False) -> Iterator[Reference]:
    """The references of a stylesheet that begins on this line, all of them known at the same byte: a browser parses a
    stylesheet as a whole.
    """
    pending = list(reversed(tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True)))
    imports = True
    while pending:
        rule = pending.pop()
        name = rule.lower_at_keyword if rule.type == "at-rule" else None
        if name == "import" and imports and (reference := _import(rule, at_bytes, line, base, blocking)):
            yield reference
        imports = imports and name in _BEFORE_IMPORTS and (name != "layer" or rule.content is None)
        if name in _FETCH_NOTHING or getattr(rule, "content", None) is None:
            continue
        if name in _GROUPS:
            if name != "media" or _holds(rule.prelude):
                pending += reversed(tinycss2.parse_stylesheet(rule.content, skip_comments=True, skip_whitespace=True))
            continue
        kind = Kind.FONT if name == "font-face" else Kind.IMAGE
        for url, nodes_line in _font(rule.content) if kind is Kind.FONT else _urls(rule.content):
            yield Reference(url, kind, at_bytes, line + nodes_line - 1, base=base)


def scan_style_attribute(text: str, at_bytes: int, *, line: int, base: str) -> Iterator[Reference]:
    """The images of a `style` attribute."""
    for url, nodes_line in _urls(tinycss2.parse_component_value_list(text)):
        yield Reference(url, Kind.IMAGE, at_bytes, line + nodes_line - 1, base=base)


def _import(rule: Any, at_bytes: int, line: int, base: str, blocking: bool) -> Reference | None:
    prelude = [node for node in rule.prelude if node.type not in {"whitespace", "comment"}]
    url = _text(prelude[0]) if prelude else None
    if url is None:
        return None
    applied = _holds(prelude[1:])
    place = line + rule.source_line - 1
    return Reference(url, Kind.STYLESHEET, at_bytes, place, blocking and applied, base, applied)


def _holds(media: Iterable[Any]) -> bool:
    try:
        return applies(tinycss2.serialize(media))
    except RecursionError:
        # No query is that deep: what is unknown is taken to hold.
        return True


def _font(content: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """The first source of a format that browsers have, of the last `src`: they fetch one."""
    declarations = tinycss2.parse_blocks_contents(content, skip_comments=True, skip_whitespace=True)
    sources = [each.value for each in declarations if each.type == "declaration" and each.lower_name == "src"]
    for source in _split(sources[-1]) if sources else ():
        formats = [node for node in source if node.type == "function" and node.lower_name == "format"]
        if formats and not any(_format(node) in _FONT_FORMATS for node in formats[0].arguments):
            continue
        if url := next(_urls(source), None):
            yield url
            return


def _format(node: Any) -> str:
    value = node.value if node.type in {"string", "ident"} else ""
    return str(value).lower().removesuffix("-variations")


def _split(nodes: Iterable[Any]) -> list[list[Any]]:
    parts: list[list[Any]] = [[]]
    for node in nodes:
        if node.type == "literal" and node.value == ",":
            parts.append([])
        else:
            parts[-1].append(node)
    return parts


def _urls(nodes: Iterable[Any]) -> Iterator[tuple[str, int]]:
    """Every URL with its line; of an `image-set()` the first candidate."""
    pending = list(reversed(list(nodes)))
    while pending:
        node = pending.pop()
        name = node.lower_name if node.type == "function" else None
        if node.type == "url" or name in {"url", "src"}:
            if url := _text(node):
                yield url, node.source_line
        elif name in {"image-set", "-webkit-image-set"}:
            if first := next(((url, each.source_line) for each in node.arguments if (url := _text(each))), None):
                yield first
        elif inner := getattr(node, "arguments", None) or getattr(node, "content", None):
            pending += reversed(inner)


def _text(node: Any) -> str | None:
    """The URL of a string, of `url(x)` or of `url("x")`."""
    if node.type in {"string", "url"}:
        return str(node.value)
    if node.type == "function" and node.lower_name in {"url", "src"}:
        return next((str(each.value) for each in node.arguments if each.type == "string"), None)
    return None
