"""Where a URL leads, as browsers read it (URL Standard), inside a site that has no host name of its own."""

from __future__ import annotations

import re
from urllib.parse import quote, urljoin

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_NO_FETCH = frozenset({"about", "blob", "data", "javascript", "mailto", "tel"})
_CONTROL_OR_SPACE = "".join(map(chr, range(0x21)))
_NOT_IN_URLS = str.maketrans("", "", "\t\n\r")
_DOT = re.compile("%2e", re.I)

_KEPT_IN_PATH = "/%!$&'()*+,;=:@~[]"
_KEPT_IN_QUERY = "/%!$&()*+,;=:@~|[]\\?`{}^"


class LeavesError(ValueError):
    """The path has more `..` than there are folders."""


def resolve(base: str, url: str) -> str | None:
    """The path and query to ask for, or a URL elsewhere (`is_elsewhere`), or none where nothing is to be fetched: the
    file itself (a bare fragment), `data:` and the like.

    A browser takes `..` at the root to be the root, so that a path that leaves a folder leads astray unnoticed: it is a
    `LeavesError`, encoded or not.
    """
    written, url = url, url.strip(_CONTROL_OR_SPACE).translate(_NOT_IN_URLS)
    if scheme := _SCHEME.match(url):
        return None if scheme[1].lower() in _NO_FETCH else url
    path, mark, query = url.partition("#")[0].partition("?")
    path = path.replace("\\", "/")
    if path.startswith("//"):
        return path + mark + query
    if not path and not query:
        return None
    if is_elsewhere(base):
        try:
            return urljoin(base, path + mark + query)
        except ValueError:
            # The base's host is none.
            return base
    here = base.partition("?")[0]
    if not path:
        path = here
    elif not path.startswith("/"):
        path = here[: here.rindex("/") + 1] + path
    plain = _without_dots(path)
    if plain is None:
        raise LeavesError(written)
    encoded = quote(plain, safe=_KEPT_IN_PATH, errors="replace")
    return f"{encoded}?{quote(query, safe=_KEPT_IN_QUERY, errors='replace')}" if query else encoded


def is_elsewhere(url: str) -> bool:
    """Whether it is no path of this site."""
    return not url.startswith("/") or url.startswith("//")


def _without_dots(path: str) -> str | None:
    """RFC 3986, 5.2.4, or none if it leaves the root; a trailing `.` or `..` is a folder and leaves its slash."""
    kept: list[str] = []
    *folders, last = path.split("/")[1:]
    for name in (*folders, last):
        dots = _DOT.sub(".", name)
        if dots == "..":
            if not kept:
                return None
            kept.pop()
        elif dots != ".":
            kept.append(name)
    if _DOT.sub(".", last) in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept).lstrip("/")
