"""What a file names, before anybody has looked where it leads."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wirelab.site.manifest import Kind

_OTHER_MEDIUM = re.compile(r"\s*(only\s+)?(print|speech)\b|(?!\s*not\b).*prefers-color-scheme\s*:\s*dark", re.I | re.S)


@dataclass(frozen=True)
class Reference:
    """A URL as written, and what is known of it from where it stands."""

    url: str
    kind: Kind
    at_bytes: int
    """So many bytes of the file must have arrived."""
    line: int
    """Counts from 1."""
    blocking: bool = False
    """As far as this file goes: what a frame names blocks nothing of the page."""
    base: str = ""
    """The file's `<base href>` so far."""
    applied: bool = True
    """False: fetched and put aside, such as a preload or a stylesheet for print, so that what it names is not."""
    embedded: bool = False
    """It is a player's: `Reason.EMBEDDED`."""


def applies(media: str) -> bool:
    """Whether a list of media queries is taken to hold: all do but those of print, of speech and of dark colours.

    Sizes and resolutions would need a window: they are taken to hold.
    """
    return not media.strip() or any(not _OTHER_MEDIUM.match(query) for query in media.split(","))
