"""The site of h2window2017 and its twins."""

from collections import Counter
from io import BytesIO

import pytest
from PIL import Image

from wirelab.site import Kind, Page, h2window2017

PAGES = {"site": h2window2017.site, "equal": h2window2017.equal, "one-large": h2window2017.one_large}


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest) -> Page:
    return PAGES[request.param]()


def test_the_page_has_the_papers_eight_objects_of_7_mb_together(page: Page) -> None:
    kinds = Counter(each.kind for each in page.site.resources)
    assert kinds == {Kind.DOCUMENT: 1, Kind.STYLESHEET: 1, Kind.SCRIPT: 2, Kind.IMAGE: 4}
    assert page.site.body_bytes == sum(map(len, page.bodies)) == 7_000_000
    assert page.site.left_out == ()


def test_each_object_has_the_size_that_is_assumed() -> None:
    assert {each.path: each.body_bytes for each in h2window2017.site().site.resources} == h2window2017.SIZES


def test_the_twin_has_the_same_files_in_the_same_order_all_of_one_size() -> None:
    first, twin = h2window2017.site().site.resources, h2window2017.equal().site.resources
    assert [each.path for each in first] == [each.path for each in twin]
    assert {each.body_bytes for each in twin} == {875_000}


def test_one_object_has_nearly_all_bytes_of_the_third() -> None:
    sizes = {each.path: each.body_bytes for each in h2window2017.one_large().site.resources}
    assert sizes == h2window2017.ONE_LARGE_SIZES
    assert sizes["/library.js"] == 6_720_000


def test_the_document_names_all_the_others(page: Page) -> None:
    assert [each.parent for each in page.site.resources] == [None] + [0] * 7


def test_the_documents_resources_are_discovered_with_its_first_bytes(page: Page) -> None:
    assert max(each.at_bytes or 0 for each in page.site.resources) < 1_000


def test_images_are_complete_with_little_padding(page: Page) -> None:
    pixels = set()
    for each, body in zip(page.site.resources, page.bodies, strict=True):
        if each.kind is Kind.IMAGE:
            with Image.open(BytesIO(body)) as image:
                pixels.add(image.resize((20, 20)).tobytes())
                assert len(image.info["comment"]) <= len(body) / 20
    assert len(pixels) == 4


def test_the_page_is_the_same_on_every_machine() -> None:
    # A newer libjpeg may encode otherwise: then the site is another one, and campaigns of both are not to be mixed.
    assert h2window2017.site().site.digest == "bf3fdec4b52a2a8edc0134ec26537546db1ad0f4225fa00c3ad0305f5d10277e"
    assert h2window2017.equal().site.digest == "a21819ac485e28bef24bf35cdd9c1f78c3699273e1df602fbf42850f3829745c"
    assert h2window2017.one_large().site.digest == "6a301f777b6929c4757b562ea73cd61769522a75ceabc24d64d0ba67d972dd41"
