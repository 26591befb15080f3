"""What servers get to know of a page's resources."""

from __future__ import annotations

from wirelab.site import Kind, Resource, Site
from wirelab.site.hints import preload_link, resource_texts


def resource(path: str, kind: Kind, parent: int | None = 0) -> Resource:
    return Resource(
        path=path, body_bytes=10, sha256="0" * 64, media_type="text/plain", kind=kind, parent=parent, at_bytes=0
    )


def test_a_hint_says_what_the_resource_is_used_as() -> None:
    said = {kind: preload_link(resource("/a", kind)) for kind in Kind}
    assert said[Kind.STYLESHEET] == "</a>; rel=preload; as=style"
    assert said[Kind.SCRIPT] == "</a>; rel=preload; as=script"
    assert said[Kind.IMAGE] == "</a>; rel=preload; as=image"


def test_a_cross_origin_resource_is_hinted_with_crossorigin() -> None:
    assert preload_link(resource("/f.woff2", Kind.FONT)) == "</f.woff2>; rel=preload; as=font; crossorigin"
    assert preload_link(resource("/a.json", Kind.OTHER)) == "</a.json>; rel=preload; as=fetch; crossorigin"


def test_each_resource_lists_its_references_with_the_document_first() -> None:
    site = Site(resources=(resource("/index.html", Kind.DOCUMENT, None), resource("/a%20b.css?v=1", Kind.STYLESHEET)))
    document, other = resource_texts(site)
    assert document["path"] == "/index.html"
    assert other == {
        "path": "/a%20b.css?v=1", "file": "a b.css", "link": "</a%20b.css?v=1>; rel=preload; as=style",
        "media_type": "text/plain", "extension": "css",
    }  # fmt: skip
