"""Draws the pages that ship, with numpy and Pillow; `python -m wirelab.site.drawn` prints `data/pages.json`. Knows no
name of a page that the catalogue has not.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial

from wirelab.site import fischer2021, h2window2017
from wirelab.site.page import Page

_DRAWN: Mapping[str, Callable[[], Page]] = {
    "fischer2021": fischer2021.page,
    "fischer2021-inlined": fischer2021.inlined,
    "text-44kb": partial(fischer2021.text, fischer2021.SHORT_TEXT_BYTES),
    "text-2mb": partial(fischer2021.text, fischer2021.LONG_TEXT_BYTES),
    "h2window2017": h2window2017.site,
    "h2window2017-equal": h2window2017.equal,
    "h2window2017-one-large": h2window2017.one_large,
}


def draw(name: str) -> Page:
    """The page of that name, by its generator alone."""
    return _DRAWN[name]()


def manifests() -> str:
    """The manifest of each page, as `data/pages.json` has it."""
    sites = {name: draw(name).site.to_json() for name in _DRAWN}
    return json.dumps(sites, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(manifests())
