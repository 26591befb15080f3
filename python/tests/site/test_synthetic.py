import io

import numpy as np
import pytest
from PIL import Image

from wirelab.site import BUILTIN, Kind
from wirelab.site.bounds import LEAST_IMAGE_BYTES
from wirelab.site.synthetic import images, png


@pytest.mark.parametrize("size", [*range(LEAST_IMAGE_BYTES, 420), 10_000, 65_600, 65_700, 131_222, 1_000_000])
def test_an_image_of_any_size_has_exactly_that_size_and_can_be_decoded(size: int) -> None:
    data = png(size, "1.png")
    assert len(data) == size
    with Image.open(io.BytesIO(data)) as picture:
        picture.load()
        assert picture.format == "PNG"


def test_an_images_pixels_are_incompressible() -> None:
    with Image.open(io.BytesIO(png(100_000, "1.png"))) as picture:
        pixels = np.asarray(picture)
    assert pixels.size > 95_000
    counts = np.bincount(pixels.ravel(), minlength=256) / pixels.size
    assert -(counts * np.log2(counts)).sum() > 7.95


def test_an_image_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 100"):
        png(LEAST_IMAGE_BYTES - 1, "1.png")


def test_a_page_of_images_names_each_once_and_discovers_it_at_its_tag() -> None:
    page = images(3, 500)
    document, *found = page.site.resources
    assert [(each.path, each.body_bytes, each.kind) for each in found] == [
        (f"/{number}.png", 500, Kind.IMAGE) for number in (1, 2, 3)
    ]
    assert all(page.bodies[0][: each.at_bytes].endswith(b'.png">') for each in found)
    assert document.body_bytes == len(page.bodies[0])
    assert len({each.sha256 for each in found}) == 3


def test_a_page_of_images_is_the_same_on_every_machine() -> None:
    assert images(2, 1000).site.digest == "4521e4447505f46e8d95f056869ceea463185162c11cd88ac237e5a66709d870"


def test_a_page_may_have_no_image() -> None:
    assert len(images(0, 1000).site.resources) == 1


def test_built_in_pages_are_valid_pages() -> None:
    sites = [page.make().site for page in BUILTIN.values()]
    assert len({site.digest for site in sites}) == len(BUILTIN)
    assert sites[0].body_bytes == 394_000
