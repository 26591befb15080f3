"""From a document to the page: whatever it names, and whatever that names, each once, within bounds."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from wirelab.errors import CombinedError, Where, WirelabError
from wirelab.site.bounds import MAX_BYTES, MAX_RESOURCES
from wirelab.site.css import scan_css
from wirelab.site.decoding import decode_css, decode_html
from wirelab.site.html import scan_html
from wirelab.site.manifest import Kind, LeftOut, Reason, Resource, Site
from wirelab.site.media_types import HTML, media_type
from wirelab.site.page import Page
from wirelab.site.reference import Reference
from wirelab.site.urls import LeavesError, is_elsewhere, resolve
from wirelab.site.words import count, too_large

MAX_DEPTH = 32
"""Of resources that name one another."""
MOST_REPORTED = 10
"""Mistakes of one page; how many more there are is a number."""

Read = Callable[[str, str, Where], bytes]
"""The body for a request's path; the URL as written and its place are for errors."""


def discover(document: str, read: Read, shown: Callable[[str], str]) -> Page:
    """The page of a document, which is the path of a file; `shown` names a path's file in errors. Raises all mistakes
    of a page at once, the first ones in words.
    """
    return _Discovery(read, shown).run(document)


def discover_in(files: Mapping[str, bytes]) -> Page:
    """The page of generated files by their paths, the document first."""
    return discover(next(iter(files)), lambda path, _url, _where: files[path], str)


@dataclass
class _Found:
    index: int
    path: str
    body: bytes
    kind: Kind
    parent: int | None
    at_bytes: int
    blocking: bool
    applied: bool
    depth: int
    codec: str
    scanned: bool = False


class _TooMuchError(WirelabError):
    """A page that goes beyond a bound, after which nothing more is looked at."""


class _Discovery:
    def __init__(self, read: Read, shown: Callable[[str], str]) -> None:
        self._read = read
        self._shown = shown
        self._found: list[_Found] = []
        self._by_path: dict[str, _Found] = {}
        self._left_out: dict[tuple[str, Reason], LeftOut] = {}
        self._pending: deque[_Found] = deque()
        self._bytes = 0
        self._wrong: list[WirelabError] = []
        self._refused: set[str] = set()
        """Paths of which a mistake has been reported."""

    def run(self, document: str) -> Page:
        self._add(
            Reference(document[1:], Kind.DOCUMENT, 0, 1, blocking=True), document, None, Where(self._shown(document))
        )
        try:
            while self._pending:
                self._follow_all(self._pending.popleft())
        except _TooMuchError as error:
            self._wrong.append(error)
        if self._wrong:
            raise _together(self._wrong, Where(self._shown(document)))
        resources = tuple(_resource(found) for found in self._found)
        site = Site(resources=resources, left_out=tuple(self._left_out.values()))
        return Page(site, tuple(found.body for found in self._found))

    def _follow_all(self, found: _Found) -> None:
        """What a file names; a mistake in one place keeps nobody from those in others."""
        try:
            references = self._references(found)
        except WirelabError as error:
            self._wrong.append(error)
            return
        for reference in references:
            try:
                self._follow(reference, found)
            except _TooMuchError:
                raise
            except WirelabError as error:
                self._wrong.append(error)

    def _references(self, found: _Found) -> Iterable[Reference]:
        if found.kind is Kind.STYLESHEET:
            decoded = decode_css(found.body, found.codec)
            found.codec = decoded.codec
            return scan_css(decoded.text, len(found.body), blocking=found.blocking)
        decoded = decode_html(found.body)
        found.codec = decoded.codec
        try:
            return scan_html(decoded)
        except AssertionError as error:
            # The parser's own, for declarations that it cannot make sense of.
            raise WirelabError(f"is not HTML: {error}", Where(self._shown(found.path))) from None

    def _follow(self, reference: Reference, found: _Found) -> None:
        where = Where(self._shown(found.path), reference.line)
        try:
            target = resolve(resolve(found.path, reference.base) or found.path, reference.url)
        except LeavesError as error:
            raise WirelabError(f"leaves the folder ({error})", where, "all files of a page are inside it") from None
        if target is None:
            return
        why = Reason.EMBEDDED if reference.embedded else Reason.ELSEWHERE if is_elsewhere(target) else None
        if why is not None:
            self._left_out.setdefault((target, why), LeftOut(url=target, parent=found.index, why=why))
            return
        if target in self._refused:
            return
        known = self._by_path.get(target)
        if known is None:
            self._add(reference, target, found, where)
        elif reference.applied:
            if not known.applied:
                known.kind, known.applied = reference.kind, True
            known.blocking = known.blocking or _blocks(reference, found)
            self._plan_scan(known)

    def _add(self, reference: Reference, path: str, parent: _Found | None, where: Where) -> None:
        depth = 0 if parent is None else parent.depth + 1
        hint = "leave some of it out"
        if len(self._found) == MAX_RESOURCES:
            raise _TooMuchError(f"is one resource more than {MAX_RESOURCES} ({reference.url})", where, hint)
        if depth > MAX_DEPTH:
            raise _TooMuchError(
                f"is named through more than {MAX_DEPTH} files ({reference.url})", where, "name it earlier"
            )
        try:
            body = self._read(path, reference.url, where)
        except WirelabError:
            self._refused.add(path)
            raise
        self._bytes += len(body)
        if self._bytes > MAX_BYTES:
            what = f"brings the page to {too_large(self._bytes, MAX_BYTES)} ({reference.url})"
            raise _TooMuchError(what, where, hint)
        found = _Found(
            index=len(self._found),
            path=path,
            body=body,
            kind=reference.kind,
            parent=None if parent is None else parent.index,
            at_bytes=reference.at_bytes,
            blocking=_blocks(reference, parent),
            applied=reference.applied,
            depth=depth,
            codec="utf-8" if parent is None else parent.codec,
        )
        self._found.append(found)
        self._by_path[path] = found
        self._plan_scan(found)

    def _plan_scan(self, found: _Found) -> None:
        page = found.kind is Kind.DOCUMENT and media_type(found.path.partition("?")[0]) == HTML
        if found.applied and not found.scanned and (page or found.kind is Kind.STYLESHEET):
            found.scanned = True
            self._pending.append(found)


def _together(wrong: list[WirelabError], document: Where) -> WirelabError:
    if len(wrong) == 1:
        return wrong[0]
    more = len(wrong) - MOST_REPORTED
    rest = [WirelabError(f"the page has {count(more, 'more mistake')}", document)] * (more > 0)
    return CombinedError([*wrong[:MOST_REPORTED], *rest])


def _blocks(reference: Reference, parent: _Found | None) -> bool:
    """A frame renders by itself, and a stylesheet's imports block as it does."""
    return reference.blocking and (parent is None or parent.blocking)


def _resource(found: _Found) -> Resource:
    return Resource(
        path=found.path,
        body_bytes=len(found.body),
        sha256=hashlib.sha256(found.body).hexdigest(),
        media_type=media_type(found.path.partition("?")[0]),
        kind=found.kind,
        parent=found.parent,
        at_bytes=found.at_bytes,
        blocking=found.blocking,
    )
