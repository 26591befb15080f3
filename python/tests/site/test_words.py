"""A page in a few words."""

import pytest

from wirelab.site import LeftOut, Reason, count, left_out_words, page_words
from wirelab.site.synthetic import images
from wirelab.site.words import too_large


@pytest.mark.parametrize(
    ("level", "words"),
    [
        ("fischer2021", "fischer2021"),
        ('{"site": "/home/somebody/shop"}', "shop"),
        ('{"objects": 3, "object-size": "1 kB"}', "3 images of 1 kB"),
        ('{"objects": 1}', "1 image"),
        ('{"object-size": "1 kB"}', "images of 1 kB"),
        ('{"site": "shop", "document": "start.html"}', "shop/start.html"),
        ("12", "12"),
    ],
)
def test_a_page_has_a_readable_name(level: str, words: str) -> None:
    assert page_words(level) == words


def test_singular_and_plural_are_right() -> None:
    assert [count(many, "load") for many in (0, 1, 2)] == ["0 loads", "1 load", "2 loads"]


def test_a_bound_exceeded_by_little_is_reported_in_bytes() -> None:
    assert too_large(70_000_000, 67_108_864) == "70 MB, at most 67.1 MB"
    assert too_large(67_108_865, 67_108_864) == "67,108,865 B, at most 67,108,864 B"


def test_references_that_are_not_loaded_are_reported_by_reason_with_one_example() -> None:
    site = images(1, 100).site
    assert left_out_words(site) == ""
    left_out = [LeftOut(url=f"https://a.example/{n}.png", parent=0, why=Reason.ELSEWHERE) for n in range(4)]
    left_out.append(LeftOut(url=f"/{'f' * 100}.mp4", parent=0, why=Reason.EMBEDDED))
    assert left_out_words(site.model_copy(update={"left_out": tuple(left_out)})) == (
        "4 on another host, by its URL or a <base> (https://a.example/0.png, https://a.example/1.png, "
        f"https://a.example/2.png, …); 1 for a player or plug-in (/{'f' * 78}…)"
    )
