"""A page in a few words."""

from __future__ import annotations

import json
from pathlib import PurePath

from wirelab.site.manifest import Reason, Site
from wirelab.units import format_size

DOCUMENT = "index.html"
"""That a folder's page begins with, unless another is named."""
MOST_NAMED, MOST_URL = 3, 80
_WHY = {
    Reason.ELSEWHERE: "on another host, by its URL or a <base>",
    Reason.EMBEDDED: "for a player or plug-in",
}


def count(many: int, what: str) -> str:
    """`1 resource`, `2 resources`."""
    return f"{many:,} {what}{'s' * (many != 1)}"


def too_large(size: int, most: int) -> str:
    """A size and its maximum, in bytes if larger units show no difference."""
    words = [format_size(each) for each in (size, most)]
    shown, bound = words if words[0] != words[1] else [f"{each:,} B" for each in (size, most)]
    return f"{shown}, at most {bound}"


def left_out_words(site: Site) -> str:
    """What a page names and nobody loads; nothing where that is nothing."""
    parts = []
    for why, words in _WHY.items():
        if urls := [each.url for each in site.left_out if each.why is why]:
            named = ", ".join(_cut(url) for url in urls[:MOST_NAMED])
            parts.append(f"{len(urls)} {words} ({named}{', …' * (len(urls) > MOST_NAMED)})")
    return "; ".join(parts)


def _cut(url: str) -> str:
    return url if len(url) <= MOST_URL else f"{url[: MOST_URL - 1]}…"


def page_words(level: str) -> str:
    """Of a page as an experiment file names it, a table as one line of JSON: its name, its folder's own wherever that
    is, or how many images of which size.
    """
    try:
        written = json.loads(level)
    except ValueError:
        return level
    if not isinstance(written, dict):
        return level
    if "site" in written:
        name, document = PurePath(str(written["site"])).name, written.get("document", DOCUMENT)
        return name if document == DOCUMENT else f"{name}/{document}"
    objects, size = written.get("objects"), written.get("object-size")
    many = "images" if objects is None else count(objects, "image")
    return many if size is None else f"{many} of {size}"
