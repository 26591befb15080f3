"""The pages that ship, and the manifests that ship with them."""

import json
from importlib import resources

import pytest

from wirelab.errors import RunError
from wirelab.site import BUILTIN, Page, drawn
from wirelab.site.catalogue import MANIFESTS
from wirelab.site.discovery import discover_in


def test_shipped_manifests_match_the_generated_pages() -> None:
    shipped = resources.files("wirelab.data").joinpath(MANIFESTS).read_text(encoding="utf-8")
    assert shipped == drawn.manifests(), "run: make generate"


def test_every_page_has_its_manifest() -> None:
    shipped = json.loads(resources.files("wirelab.data").joinpath(MANIFESTS).read_bytes())
    assert list(shipped) == list(BUILTIN)
    assert [page.site.to_json() for page in BUILTIN.values()] == list(shipped.values())


def test_older_campaigns_load_the_same_pages() -> None:
    assert {name: page.site.digest[:16] for name, page in BUILTIN.items()} == {
        "fischer2021": "69ce35d4d669ce85",
        "fischer2021-inlined": "84e35a41e6e8f7f0",
        "text-44kb": "b692351273770cf0",
        "text-2mb": "5a94e0b1b002a595",
        "h2window2017": "bf3fdec4b52a2a8e",
        "h2window2017-equal": "a21819ac485e28be",
        "h2window2017-one-large": "6a301f777b6929c4",
    }


def test_a_page_that_a_library_generates_differently_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(_name: str) -> Page:
        return discover_in({"/index.html": b"other"})

    monkeypatch.setattr(drawn, "draw", draw)
    with pytest.raises(RunError, match="page text-44kb is drawn with other bytes"):
        BUILTIN["text-44kb"].make()
