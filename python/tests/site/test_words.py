"""A page in a few words."""

import pytest

from wirelab.site import page_words


@pytest.mark.parametrize(
    ("level", "words"),
    [
        ("fischer2021", "fischer2021"),
        ('{"site": "/home/somebody/shop"}', "shop"),
        ('{"objects": 3, "object-size": "1 kB"}', "3 images of 1 kB"),
        ('{"objects": 1}', "1 image"),
        ('{"object-size": "1 kB"}', "images of 1 kB"),
        ("12", "12"),
    ],
)
def test_a_page_is_named_as_people_would(level: str, words: str) -> None:
    assert page_words(level) == words
