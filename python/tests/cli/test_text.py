"""Plain columns as a terminal shows them."""

import pytest

from wirelab.cli.text import columns


def test_columns_are_as_wide_as_their_widest_cell_and_two_spaces_apart() -> None:
    assert columns([("name", "of"), ("a", "longer")]) == "name  of\na     longer"


def test_columns_of_numbers_are_right_aligned() -> None:
    assert columns([("a", "1", "x"), ("b", "100", "y")], right=(1,)) == "a    1  x\nb  100  y"


def test_no_line_ends_in_spaces() -> None:
    assert columns([("a", ""), ("", "b"), ("", "")]) == "a\n   b\n"


def test_no_rows_give_no_text() -> None:
    assert columns([]) == ""


def test_a_row_that_lacks_a_cell_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        columns([("a", "b"), ("c",)])
