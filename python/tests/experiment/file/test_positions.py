import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab.experiment.file.positions import Path, positions

TEXT = '''\
title = "a # b" # comment
a.b."c d" = 1
[factors]
"workload.upload" = ["30 B", # first
  "3.5 kB"]
[links]
x = { rtt = "20 ms", ge = { p = "1 %", 1-h = '7' } }
  [ links . "y.z" ]
text = """
[not.a.table]
x = 1 ""\\" """
after = 2
[[hosts]]
name = 'C:\\'
[[hosts]]
name = "b"
[hosts.radio]
power = -1.5e3
'''


@pytest.mark.parametrize(
    ("path", "position"),
    [
        (("title",), (1, 1)),
        (("a", "b", "c d"), (2, 5)),
        (("factors",), (3, 1)),
        (("factors", "workload.upload", 0), (4, 22)),
        (("factors", "workload.upload", 1), (5, 3)),
        (("links", "x", "ge", "1-h"), (7, 40)),
        (("links", "y.z"), (8, 3)),
        (("links", "y.z", "after"), (12, 1)),
        (("hosts", 0, "name"), (14, 1)),
        (("hosts", 1, "name"), (16, 1)),
        (("hosts", 1, "radio", "power"), (18, 1)),
    ],
)
def test_the_position_of_a_key_is_found(path: Path, position: tuple[int, int]) -> None:
    assert positions(TEXT)[path] == position


def test_every_key_of_a_document_has_a_position_and_no_other() -> None:
    assert set(positions(TEXT)) == set(_paths(tomllib.loads(TEXT)))


def test_windows_line_ends_count_as_one() -> None:
    assert positions("a = 1\r\nb = 2\r\n")[("b",)] == (2, 1)


def test_the_last_line_needs_no_newline() -> None:
    assert positions("a = 1\nb = [1, 2]")[("b", 1)] == (2, 9)


_keys = st.text("abc.- \"'\\é", min_size=1, max_size=5)
_scalars = st.one_of(st.integers(), st.booleans(), st.text("ab#]}[{\"'\\\n=,", max_size=8))
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_keys, inner, max_size=3)),
    max_leaves=12,
)


@given(st.dictionaries(_keys, _values, max_size=5))
def test_every_key_of_any_document_has_a_position(document: dict[str, Any]) -> None:
    text = "".join(f"{_quoted(key)} = {_written(value)}\n" for key, value in document.items())
    assert tomllib.loads(text) == document
    assert set(positions(text)) == set(_paths(document))


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*path, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths(inner, (*path, index))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _written(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case str():
            return _quoted(value)
        case list():
            return f"[{', '.join(_written(inner) for inner in value)}]"
    return "{" + ", ".join(f"{_quoted(key)} = {_written(inner)}" for key, inner in value.items()) + "}"
