"""Pages of lessons that ship."""

from __future__ import annotations

import html
import lzma
import re

import pytest

from wirelab.lessons.lesson import find_lesson, lesson_names
from wirelab.lessons.shipped import packed, shipped_page


@pytest.mark.parametrize("name", lesson_names())
def test_every_lesson_has_a_page_that_says_what_the_lesson_says_now(name: str) -> None:
    lesson, page = find_lesson(name), html.unescape(re.sub(r"</?code>", "", shipped_page(name)))
    for text in (lesson.title, *lesson.idea, lesson.question, lesson.answer, *(task.key for task in lesson.tasks)):
        assert text in page, f"make lessons NAMES={name}"
    assert page.count("<svg") >= 2
    assert "▶│" in page


def test_a_page_is_packed_small_and_unpacked_whole() -> None:
    text = "<p>each way</p>" * 1000
    small = packed(text)
    assert len(small) < 300
    assert lzma.decompress(small).decode() == text
