"""The page and the texts of fischer2021."""

import hashlib
import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from wirelab.site import Kind, Page, fischer2021
from wirelab.site.folder import read_folder
from wirelab.site.jpeg import SMALL, jpeg

PRINTED_KB = (
    "1.1 0.417 23.1 26.2 13.8 13.0 18.9 18.6 18.8 41.9 34.2 29.5 45.2 19.8 29.8 16.3 45.1".split()  # noqa: SIM905
)
PAGE = fischer2021.page()


def of_kind(page: Page, kind: Kind) -> list[bytes]:
    return [body for each, body in zip(page.site.resources, page.bodies, strict=True) if each.kind is kind]


def test_the_page_has_17_files_of_394_kb_in_all() -> None:
    assert len(PAGE.site.resources) == 17
    assert PAGE.site.body_bytes == sum(map(len, PAGE.bodies)) == 394_000


def test_with_the_headers_each_file_has_the_size_that_the_paper_prints() -> None:
    sizes = [each.body_bytes + fischer2021.HEADER_BYTES for each in PAGE.site.resources]
    assert sizes == [round(float(printed) * 1000) for printed in PRINTED_KB]
    assert f"{sum(sizes) / 1000:.0f}" == "396"


def test_a_client_knows_every_file_by_the_place_of_its_tag() -> None:
    document = PAGE.bodies[0]
    assert [each.parent for each in PAGE.site.resources] == [None] + [0] * 16
    for each in PAGE.site.resources[1:]:
        arrived = document[: each.at_bytes]
        assert arrived.endswith(b">")
        assert f'"{each.file}"'.encode() in arrived[arrived.rindex(b"<") :]


def test_only_the_document_and_the_stylesheet_block_rendering() -> None:
    assert [each.file for each in PAGE.site.resources if each.blocking] == ["index.html", "style.css"]


def test_every_image_can_be_decoded_and_no_two_are_the_same() -> None:
    pixels = set()
    for body in of_kind(PAGE, Kind.IMAGE):
        with Image.open(BytesIO(body)) as image:
            assert image.format == "JPEG"
            assert image.size == (SMALL.width, SMALL.height)
            pixels.add(image.tobytes())
        assert body.endswith(b"\xff\xd9")
    assert len(pixels) == 15


def test_the_padding_of_an_image_is_a_small_part_of_it() -> None:
    for body in of_kind(PAGE, Kind.IMAGE):
        with Image.open(BytesIO(body)) as image:
            assert len(image.info["comment"]) <= len(body) / 20


@pytest.mark.parametrize("size", [6_000, 6_001, 6_002, 6_003, 20_000, 45_099])
def test_an_image_has_its_exact_size_and_is_reproducible(size: int) -> None:
    assert len(jpeg(size, "a")) == size
    assert jpeg(size, "a") == jpeg(size, "a")
    assert jpeg(size, "a") != jpeg(size, "b")


@pytest.mark.parametrize("size", [0, 1_000, 10_000_000])
def test_an_impossible_image_size_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=f"has {size} bytes"):
        jpeg(size, "a")


def test_the_page_is_the_same_on_every_machine() -> None:
    # A newer libjpeg may encode otherwise: then the page is another one, and campaigns of both are not to be mixed.
    assert PAGE.site.digest == "69ce35d4d669ce85241084f4b99e53b280ee7c7e78f77e2e0bdd91635710cba3"
    assert fischer2021.inlined().site.digest == "84e35a41e6e8f7f099c5ede496d3728f008627631f48e522b089aec19a9e0fdd"
    assert (
        fischer2021.text(fischer2021.SHORT_TEXT_BYTES).site.digest
        == "b692351273770cf009b24e68f0cfc37654491c1b95ddd7940df847911aaa56b4"
    )
    assert (
        fischer2021.text(fischer2021.LONG_TEXT_BYTES).site.digest
        == "5a94e0b1b002a595396d4ef2f47ba4bbe1dfe76532fd1690bbcfc82bdba2bc93"
    )


def test_the_inlined_page_is_one_file_that_holds_the_other_sixteen() -> None:
    inlined = fischer2021.inlined()
    [body] = inlined.bodies
    images = re.findall(rb'src="data:image/jpeg;base64,([^"]+)"', body)
    assert [b64decode(image, validate=True) for image in images] == of_kind(PAGE, Kind.IMAGE)
    assert b"<style>" + PAGE.bodies[1] + b"</style>" in body
    assert b"style.css" not in body
    assert inlined.site.left_out == ()


@pytest.mark.parametrize("size", [fischer2021.SHORT_TEXT_BYTES, fischer2021.LONG_TEXT_BYTES])
def test_a_text_is_one_file_of_exactly_its_size(size: int) -> None:
    text = fischer2021.text(size)
    [resource], [body] = text.site.resources, text.bodies
    assert (resource.media_type, resource.body_bytes, len(body)) == ("text/plain", size, size)
    assert len(set(body.split())) > 30
    assert resource.sha256 == hashlib.sha256(body).hexdigest()


@pytest.mark.parametrize("page", [PAGE, fischer2021.inlined(), fischer2021.text(44_000)])
def test_a_page_written_into_a_folder_is_read_back_as_the_same(page: Page, tmp_path: Path) -> None:
    page.write(tmp_path)
    assert read_folder(tmp_path, page.site.document.file) == page
