"""The pages that ship, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from wirelab.site import fischer2021, h2window2017
from wirelab.site.page import Page


@dataclass(frozen=True)
class Builtin:
    """A page that is generated when it is asked for."""

    about: str
    make: Callable[[], Page]


BUILTIN: Mapping[str, Builtin] = {
    "fischer2021": Builtin("fischer2021's page: a document, a stylesheet and 15 images, 394 kB.", fischer2021.page),
    "fischer2021-inlined": Builtin(
        "The same page in one document: the stylesheet in a style element, the images as base64, 525 kB.",
        fischer2021.inlined,
    ),
    "text-44kb": Builtin(
        "fischer2021's short text: one file of 44 kB.", partial(fischer2021.text, fischer2021.SHORT_TEXT_BYTES)
    ),
    "text-2mb": Builtin(
        "fischer2021's long text: one file of 2 MB.", partial(fischer2021.text, fischer2021.LONG_TEXT_BYTES)
    ),
    "h2window2017": Builtin(
        "h2window2017's site: a document, a stylesheet, two scripts and four images, 7 MB (sizes assumed).",
        h2window2017.site,
    ),
    "h2window2017-equal": Builtin("The same eight files, each of 875 kB.", h2window2017.equal),
}
