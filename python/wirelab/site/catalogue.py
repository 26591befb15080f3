"""The pages that ship, by name. Their bodies are drawn when they are served; their manifests ship as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from wirelab.errors import RunError, Where
from wirelab.site.manifest import Site
from wirelab.site.page import Page

MANIFESTS = "pages.json"
"""In `wirelab.data`: the manifest of each page by its name (`python -m wirelab.site.drawn` writes it)."""


@dataclass(frozen=True)
class Builtin:
    """A page that ships."""

    name: str
    about: str

    @property
    def site(self) -> Site:
        """Its manifest, without drawing it."""
        return _site(self.name)

    def make(self) -> Page:
        """The page with its bodies.

        Raises `RunError` if this machine's libraries draw other bodies than those of the manifest.
        """
        from wirelab.site.drawn import draw

        page = draw(self.name)
        if page.site != self.site:
            raise RunError(
                f"page {self.name} is drawn with other bytes than it ships with",
                hint="install the version of Pillow that uv.lock names",
            )
        return page


BUILTIN: Mapping[str, Builtin] = {
    name: Builtin(name, about)
    for name, about in {
        "fischer2021": "fischer2021's page: a document, a stylesheet and 15 images, 394 kB.",
        "fischer2021-inlined": "The same page in one document: the stylesheet in a style element, the images as "
        "base64, 525 kB.",
        "text-44kb": "fischer2021's short text: one file of 44 kB.",
        "text-2mb": "fischer2021's long text: one file of 2 MB.",
        "h2window2017": "h2window2017's site: a document, a stylesheet, two scripts and four images, 7 MB (sizes "
        "assumed).",
        "h2window2017-equal": "The same eight files, each of 875 kB.",
        "h2window2017-one-large": "The same eight files: a script of 6.72 MB, and seven of 40 kB.",
    }.items()
}


@cache
def _manifests() -> Mapping[str, object]:
    manifests: Mapping[str, object] = json.loads(resources.files("wirelab.data").joinpath(MANIFESTS).read_bytes())
    return manifests


@cache
def _site(name: str) -> Site:
    return Site.from_json(json.dumps(_manifests()[name]), Where(MANIFESTS, key=name))
