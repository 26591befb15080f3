"""The page of a replication as Markdown."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from tests.report.replication.records import record
from wirelab.report.replication.markdown import write_markdown


def test_all_papers_are_one_file_with_two_pictures(tmp_path: Path) -> None:
    page, *pictures = write_markdown([record(tmp_path), record(tmp_path, paper="other")], tmp_path / "results.md")
    text = page.read_text()
    assert [path.name for path in pictures] == ["results-1.svg", "results-2.svg"]
    assert all(f"({path.name})" in text for path in pictures)
    assert "emulation only" in text
    assert "| C1 | confirmed | 1.50 |" in text
    tables = [line.count("|") for line in text.splitlines() if line.startswith("| C")]
    assert len(set(tables)) == 1


def test_a_picture_is_a_file_of_its_own_with_its_colours(tmp_path: Path) -> None:
    _, picture, *_ = write_markdown([record(tmp_path), record(tmp_path)], tmp_path / "results.md")
    root = ElementTree.fromstring(picture.read_text())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    style = root.findtext("{http://www.w3.org/2000/svg}style") or ""
    for name in ("--good:", "--bad:", "--ink:", "prefers-color-scheme: dark"):
        assert name in style


def test_one_paper_has_the_headings_and_the_legend_of_its_page(tmp_path: Path) -> None:
    found = record(tmp_path)
    found["inside"] = [
        {"title": "loss takes time", "why": "a packet is sent later", "factor": 1.0, "compared": 2, "against": []},
    ]  # type: ignore[typeddict-item]
    text = write_markdown([found], tmp_path / "one.md")[0].read_text()
    for heading in ("Contradictions inside the publication: 0 of 2 pairs", "C1 turns with choices"):
        assert f"\n### {heading}\n" in text
    assert "\nMarks: square: H2; circle: H3.\n" in text
