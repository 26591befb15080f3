"""The documentation as a site: every page, anchor, picture and file that a page refers to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts import site


def test_no_link_of_the_site_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site.main(tmp_path / "site")
    built = Path(capsys.readouterr().out.strip())
    pages = {path.relative_to(site.ROOT / "docs").with_suffix(".html") for path in (site.ROOT / "docs").rglob("*.md")}
    made = {path.relative_to(built) for path in built.rglob("*.html")}
    assert {path.with_name("index.html") if path.stem == "README" else path for path in pages} <= made
    # Nothing is fetched from elsewhere, whatever links lead there.
    for page in made:
        text = (built / page).read_text()
        assert not re.search(r'\bsrc="?https?:|<link[^>]*rel="?stylesheet[^>]*href="?https?:', text), page


def test_a_file_that_is_missing_is_named_with_its_page(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#x">b</a><img src="c.svg"><a href="https://example.org/">e</a>')
    assert list(site.broken(tmp_path)) == ["a.html: b.html#x", "a.html: c.svg"]
    (tmp_path / "b.html").touch()
    (tmp_path / "c.svg").touch()
    assert not list(site.broken(tmp_path))
