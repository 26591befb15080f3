"""The page of an explanation, and its record."""

from __future__ import annotations

from pathlib import Path

from tests.explained import EXPLANATION
from wirelab.report.explain.page import sections, write_explained
from wirelab.schema.explain import EXPLAINED, Explained, read_explained


def test_the_page_and_the_record_are_written_and_the_record_is_read_again(tmp_path: Path) -> None:
    text = write_explained(EXPLANATION, tmp_path, "explain.html")
    assert read_explained(tmp_path / EXPLAINED) == EXPLANATION
    assert (tmp_path / EXPLAINED).read_text(encoding="utf-8") == f"{text}\n"
    page = (tmp_path / "explain.html").read_text(encoding="utf-8")
    for words in (
        "h3 takes 30.3 ms less than h2", "5 of 1,000 exchanges timed out", "with a persistent connection",
        "1,441 B", "Shapley", "emulation only", "2 smaller shares",
    ):  # fmt: skip
        assert words in page, words
    assert "<svg" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")


def test_what_there_is_none_of_has_no_section() -> None:
    names = [section.id for section in sections(EXPLANATION)]
    assert names == ["shares", "levels", "what-ifs", "resources", "how"]
    side = {**EXPLANATION["first"], "spent": None}
    bare: Explained = {**EXPLANATION, "what_ifs": [], "first": side}  # type: ignore[typeddict-item]
    assert [section.id for section in sections(bare)] == ["shares", "levels", "how"]
