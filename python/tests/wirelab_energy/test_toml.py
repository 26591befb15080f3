import tomllib
from pathlib import Path

import pytest

from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.toml import parse_toml, read_text


def test_a_missing_key_is_an_error_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(WirelabError) as caught:
        read_text(tmp_path / "no", Where("no"))
    assert str(caught.value) == "no: no such file"


def test_a_document_is_read_as_tomllib_reads_it() -> None:
    assert parse_toml("a = 1\n", Where("x")) == tomllib.loads("a = 1")


@pytest.mark.parametrize(
    "text",
    [
        "a." * 50_000 + "a = 1",
        f"[{'a.' * 33}a]",
        f"x = {'[' * 33}{']' * 33}",
        '"a" . ' * 33 + "a = 1",
        "'a'." * 33 + "a = 1",
    ],
)
def test_deep_nesting_is_refused_before_anything_calls_itself_for_it(text: str) -> None:
    with pytest.raises(WirelabError, match=r"x.*: is nested more than 32 times"):
        parse_toml(text, Where("x"))


def test_the_line_of_a_deep_key_is_named() -> None:
    with pytest.raises(WirelabError, match=r"^x:3:1: "):
        parse_toml("a = 1\nb = 1\n" + "a." * 40 + "a = 1", Where("x"))


@pytest.mark.parametrize("text", ["a." * 31 + "a = 1", "a = 1.5\n" * 1, f"a = '{'.' * 100}'", "a = 1 # " + "... " * 50])
def test_what_is_not_deep_is_read(text: str) -> None:
    assert "a" in parse_toml(text, Where("x"))


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbfa = 1")
    assert read_text(tmp_path / "x", Where("x")) == "a = 1"
