"""The page and the texts of fischer2021, generated.

The paper prints what was transferred of 17 files in kB (Chrome's: 1000 bytes): 395.717 kB in all, and 394 kB of
resources. What is left over is response headers, taken to be the same for each: 101 bytes, with which the bodies are
394,000 bytes. Sizes are printed to 0.1 kB, so a body may be 50 bytes off (the stylesheet's, printed as 0.417, is not).
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache

from wirelab.site.discovery import discover_in
from wirelab.site.filling import filled
from wirelab.site.jpeg import SMALL, jpeg
from wirelab.site.page import Page

HEADER_BYTES = 101
DOCUMENT_TRANSFERRED_BYTES = 1_100
STYLESHEET_TRANSFERRED_BYTES = 417
IMAGES_TRANSFERRED_BYTES = (
    23_100, 26_200, 13_800, 13_000, 18_900, 18_600, 18_800, 41_900, 34_200, 29_500, 45_200, 19_800, 29_800, 16_300,
    45_100,
)  # fmt: skip
SHORT_TEXT_BYTES = 44_000
LONG_TEXT_BYTES = 2_000_000

_DOCUMENT = "/index.html"
_STYLESHEET = '<link rel="stylesheet" href="style.css">'
_STYLE = "body{margin:0;font-family:sans-serif}main{display:flex;flex-wrap:wrap}img{width:20%;height:auto}"


@cache
def page() -> Page:
    """17 files: a document that names a stylesheet and 15 images."""
    names = [f"{number}.jpg" for number in range(1, len(IMAGES_TRANSFERRED_BYTES) + 1)]
    images = [
        jpeg(transferred - HEADER_BYTES, f"fischer2021/{name}")
        for name, transferred in zip(names, IMAGES_TRANSFERRED_BYTES, strict=True)
    ]
    style = filled(_STYLE + "/*", "*/\n", STYLESHEET_TRANSFERRED_BYTES - HEADER_BYTES)
    head, tail = _html(names)
    document = filled(head, tail, DOCUMENT_TRANSFERRED_BYTES - HEADER_BYTES)
    return discover_in({_DOCUMENT: document, "/style.css": style, **_at_root(names, images)})


@cache
def inlined() -> Page:
    """The same page in one file: the stylesheet as it is, the images as base64."""
    document, style, *images = page().bodies
    text = document.decode("ascii").replace(_STYLESHEET, f"<style>{style.decode()}</style>")
    for number, image in enumerate(images, 1):
        text = text.replace(f'src="{number}.jpg"', f'src="data:image/jpeg;base64,{b64encode(image).decode()}"')
    return discover_in({_DOCUMENT: text.encode("ascii")})


@cache
def text(size_bytes: int) -> Page:
    """One file of words: `SHORT_TEXT_BYTES` and `LONG_TEXT_BYTES` are the paper's."""
    return discover_in({"/text.txt": filled("", "\n", size_bytes)})


def _at_root(names: list[str], bodies: list[bytes]) -> dict[str, bytes]:
    return {f"/{name}": body for name, body in zip(names, bodies, strict=True)}


def _html(names: list[str]) -> tuple[str, str]:
    """What comes before and behind the words that fill the document."""
    size = f"width={SMALL.width} height={SMALL.height}"
    images = "\n".join(f'<img src="{name}" {size}>' for name in names)
    title = '<meta charset="utf-8"><title>Page</title>'
    head = f'<!DOCTYPE html>\n<html lang="en"><head>{title}{_STYLESHEET}</head>\n<body><p>'
    return head, f"</p><main>\n{images}\n</main></body></html>\n"
