"""A page in a few words."""

from __future__ import annotations

import json
from pathlib import PurePath


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
        return PurePath(str(written["site"])).name
    objects, size = written.get("objects"), written.get("object-size")
    many = "images" if objects is None else f"{objects} image{'s' * (objects != 1)}"
    return many if size is None else f"{many} of {size}"
