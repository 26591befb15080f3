"""Manifests: what they hold, and what is no manifest."""

import json
from pathlib import Path
from typing import Any

import pytest

from wirelab.errors import RunError, Where, WirelabError
from wirelab.site import Kind, LeftOut, Page, Reason, Resource, Site, fischer2021

SHA = "0" * 64
DOCUMENT = Resource(path="/index.html", body_bytes=100, sha256=SHA, media_type="text/html", kind=Kind.DOCUMENT)
STYLE = Resource(
    path="/a%20b.css?v=2", body_bytes=10, sha256=SHA, media_type="text/css", kind=Kind.STYLESHEET, parent=0,
    at_bytes=40, blocking=True,
)  # fmt: skip
SITE = Site(
    resources=(DOCUMENT, STYLE),
    left_out=(LeftOut(url="https://example.org/x.js", parent=0, why=Reason.ELSEWHERE),),
)


def document(**changes: Any) -> str:
    return json.dumps({**SITE.to_json(), **changes})


def resources(**second: Any) -> list[Any]:
    first, other = SITE.to_json()["resources"]
    return [first, {**other, **second}]


def test_a_manifest_written_and_read_is_the_same() -> None:
    text = json.dumps(SITE.to_json())
    assert Site.from_json(text, Where("site.json")) == SITE
    assert json.loads(text)["schema_version"] == 1
    assert "parent" not in json.loads(text)["resources"][0]


def test_the_digest_depends_on_every_key_of_every_resource() -> None:
    seen = {SITE.digest}
    changes: dict[str, Any] = {
        "path": "/c.css", "body_bytes": 11, "sha256": "1" * 64, "media_type": "text/plain", "kind": Kind.SCRIPT,
        "at_bytes": 41, "blocking": False,
    }  # fmt: skip
    assert set(changes) == set(Resource.model_fields) - {"parent"}
    for key, value in changes.items():
        changed = STYLE.model_copy(update={key: value})
        seen.add(SITE.model_copy(update={"resources": (DOCUMENT, changed)}).digest)
    seen.add(SITE.model_copy(update={"left_out": ()}).digest)
    assert len(seen) == len(changes) + 2


def test_a_resources_file_is_its_path_decoded_and_without_the_query() -> None:
    assert STYLE.file == "a b.css"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "m.json: is not JSON"),
        ("[" * 100_000, "m.json: is not JSON"),
        ("[]", "m.json: is not a manifest of a page"),
        ('{"resources": []}', "m.json: is not a manifest of a page: it has no schema_version"),
        (document(schema_version=2), "m.json: its schema_version is 2, this build's is 1"),
        (document(resources=[]), "m.json: resources: "),
        (document(more=1), "m.json: more: "),
        (document(resources=resources(path="../x")), "m.json: resources.1.path: is not the path of a file"),
        (document(resources=resources(path="/a/..%2fx")), "m.json: resources.1.path: has a dot segment"),
        (document(resources=resources(path="/a/")), "m.json: resources.1.path: is not the path of a file"),
        (document(resources=resources(body_bytes=-1)), "m.json: resources.1.body_bytes: "),
        (document(resources=resources(kind="film")), "m.json: resources.1.kind: "),
        (document(resources=resources(parent=1)), "m.json: /a%20b.css?v=2 does not follow its parent"),
        (document(resources=resources(parent=None)), "m.json: /a%20b.css?v=2 does not follow its parent"),
        (document(resources=resources(at_bytes=101)), "m.json: /a%20b.css?v=2 is found at byte 101 of 100"),
        (document(resources=resources(path="/index.html")), "m.json: /index.html is there twice"),
        (document(resources=resources()[1:]), "m.json: /a%20b.css?v=2 is first and no page's document"),
        (document(left_out=[{"url": "x:", "parent": 9, "why": "elsewhere"}]), "m.json: x: has no parent"),
    ],
)
def test_an_invalid_manifest_is_one_error_with_its_place(text: str, complaint: str) -> None:
    with pytest.raises(WirelabError) as caught:
        Site.from_json(text, Where("m.json"))
    assert str(caught.value).startswith(complaint)
    assert caught.value.hint


def test_a_page_is_written_into_a_folder_file_by_file(tmp_path: Path) -> None:
    page = Page(SITE, (b"d" * 100, b"s" * 10))
    page.write(tmp_path / "new" / "folder")
    written = {file.name: file.read_bytes() for file in (tmp_path / "new" / "folder").iterdir()}
    assert written == {"index.html": b"d" * 100, "a b.css": b"s" * 10}


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"file/index\.html: cannot be written"):
        fischer2021.page().write(tmp_path / "file")
