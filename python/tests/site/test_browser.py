"""A manifest next to a browser: Chromium asks for what the manifest says, and for nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from PIL import Image

from tests.browser import browse, require
from wirelab.site import Page, fischer2021
from wirelab.site.folder import read_folder

pytestmark = pytest.mark.chromium

HTML = """<!DOCTYPE html>
<html><head><meta charset=utf-8><title>Page</title><link rel=icon href="data:,">
<link rel=stylesheet href="css/main.css?v=1">
<link rel=stylesheet media=print href=print.css>
<link rel="alternate stylesheet" title=other href=alternate.css>
<link rel=stylesheet media="(prefers-color-scheme: dark)" href=dark.css>
<link rel=stylesheet media="not print" href=screen.css>
<link rel=stylesheet disabled href=missing.css><link rel=stylesheet type=text/less href=missing.css>
<link rel=preload as=image href=preloaded.png><link rel=preload as=style href=preloaded.css>
<link rel=preload as=image type=image/heic href=missing.png><link rel=preload href=missing.bin>
<link rel=preload as=fetch href=preloaded.json crossorigin><link rel=modulepreload href=module.js>
<script src=head.js></script><script src=deferred.js defer></script>
<script nomodule src=missing.js></script><script type=application/json src=missing.json></script>
<style>@import "imported.css"; #a{background:url(in-style.png)} @media print{#a{background:url(missing.png)}}</style>
</head><body background=body.png>
<p id=a>a</p><p id=b>b</p><p id=c>c</p><p id=d>d</p><p id=e style="background:url('attribute.png')">e</p>
<img src="a b.png"><img src=%C3%A9.png><img src="x/../dots.png#f"><img src="t%65st.png?q=é&amp;r='|^">
<img src="100%.png"><img src="sub\\back.png"><img src=one.png srcset="missing.png 2x"><img
srcset="low.png, missing.png 2x" src=missing.png>
<img srcset="missing.png 4x, three.png 3x"><img loading=lazy src=lazy.png>
<picture><source type=image/heic srcset=missing.png><source media=print srcset=missing.png>
<source media="(prefers-color-scheme: dark)" srcset=missing.png><source srcset=chosen.png>
<img src=missing.png></picture>
<input type=image src=input.png><video poster=poster.png></video>
<svg width=20 height=20><image href=svg.png width=20 height=20 /></svg><table><tr background=row.png><td>x</table>
<noscript><img src=missing.png></noscript><template><img src=missing.png></template>
<textarea><img src=missing.png></textarea><!-- <img src=missing.png> -->
<iframe src="frame/inner.html"></iframe>
</body></html>
"""
CSS = """@import url(sub.css); @import 'paper.css' print;
@namespace url(http://www.w3.org/1999/xhtml);
@media screen{#b{background:url("../b.png")}} #c{background:image-set('../c1.png' 1x, '../c2.png' 2x)}
@font-face{font-family:f;src:url(f.eot);src:local('none such'),url(f.eot) format('embedded-opentype'),url(f.woff2)}
p{font-family:f}
"""
NOT_APPLIED = "p{background:url(missing.png)}"


def test_a_browser_requests_the_resources_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    files = {
        "index.html": HTML, "css/main.css": CSS, "css/sub.css": "#d{background:url(../d.png)}",
        "css/paper.css": NOT_APPLIED, "print.css": NOT_APPLIED, "alternate.css": NOT_APPLIED, "dark.css": NOT_APPLIED,
        "preloaded.css": NOT_APPLIED, "screen.css": "#e{cursor:url(pointer.png),auto}", "imported.css": "",
        "preloaded.json": "{}", "module.js": "", "head.js": "", "deferred.js": "", "css/f.woff2": "",
        "frame/inner.html": "<link rel=stylesheet href=../framed.css><img src=framed.png>", "framed.css": "",
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "sub").mkdir()
    images = (
        "preloaded in-style body attribute dots test 100% one low three lazy chosen input poster svg row b c1 d pointer"
    )
    for name in [*images.split(), "a b", "é", "sub/back", "frame/framed"]:
        Image.new("RGB", (20, 20)).save(folder / f"{name}.png")
    page = read_folder(folder)
    assert asked(folder, tmp_path) == wanted(page)


@pytest.mark.parametrize("page", [fischer2021.page(), fischer2021.inlined()])
def test_a_browser_requests_the_resources_of_the_papers_page(page: Page, tmp_path: Path) -> None:
    page.write(tmp_path / "site")
    assert asked(tmp_path / "site", tmp_path) == wanted(page)


def test_a_browser_discovers_a_resource_when_the_manifests_bytes_have_arrived(tmp_path: Path) -> None:
    page = fischer2021.page()
    page.write(tmp_path / "site")
    document, named = page.bodies[0], page.site.resources[1:]
    withheld = {path: Event() for path in wanted(page)}
    late = []

    class Drop(Handler):
        """Lets the document go tag by tag, each when what the last one names has been asked for."""

        def do_GET(self) -> None:
            withheld.get(self.path, Event()).set()
            if self.path != page.site.document.path:
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(document)))
            self.end_headers()
            sent = 0
            for each in named:
                self.wfile.write(document[sent : each.at_bytes])
                sent = each.at_bytes
                if not withheld[each.path].wait(30):
                    late.append(each.path)
            self.wfile.write(document[sent:])
            return None

    require()
    with served(Drop, tmp_path / "site") as port:
        browse(tmp_path, "--dump-dom", f"http://127.0.0.1:{port}/index.html")
    assert withheld[named[-1].path].is_set()
    assert late == []


def wanted(page: Page) -> list[str]:
    return sorted(each.path for each in page.site.resources)


def asked(site: Path, folder: Path) -> list[str]:
    """What a browser asked of a server for the page, as often as it did."""
    paths: list[str] = []

    class Listing(Handler):
        def do_GET(self) -> None:
            paths.append(self.path)
            super().do_GET()

    require()
    with served(Listing, site) as port:
        browse(folder, "--virtual-time-budget=5000", "--dump-dom", f"http://127.0.0.1:{port}/index.html")
    return sorted(path for path in paths if path != "/favicon.ico")


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(handler: type[Handler], site: Path) -> Iterator[int]:
    """The port of a server of the folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(site))) as server:
        server.daemon_threads = True
        server.block_on_close = False
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()
