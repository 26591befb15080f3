"""A request and a message of the user's own, in words."""

from __future__ import annotations

import pytest

from wirelab.schema.request import own_words


@pytest.mark.parametrize(
    ("level", "words"),
    [('{"topic": "a/b"}', "to a/b"), ('{"topic": "a/b", "body": "c.json"}', "to a/b (c.json)"), ("{}", "{}"),
     ('{"path": "/a"}', "GET /a"), ('{"path": "/a", "body": "b.json"}', "POST /a (b.json)"),
     ('{"method": "PUT", "path": "/a"}', "PUT /a"), ("none", "none"), ("3", "3"),
     ('{"path": "/a", "headers": "b"}', '{"path": "/a", "headers": "b"}'),
     ('{"path": "/a", "headers": {"x-a": "1", "x-b": "2"}, "body": "b"}', "POST /a (x-a: 1; x-b: 2; b)")],
)  # fmt: skip
def test_a_level_is_shown_by_all_of_its_parts(level: str, words: str) -> None:
    assert own_words(level) == words
