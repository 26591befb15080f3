"""Pages described: those that ship, and folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_main import run
from wirelab.units import size_bytes

HTML = "<title>Mine</title><img src=b.png><img src=https://a.example/c.png>"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    for name in ("index.html", "start.html"):
        (folder / name).write_text(HTML)
    (folder / "b.png").write_bytes(b"png")
    return folder


def test_a_folder_is_described_with_its_resources_and_omissions(shop: Path) -> None:
    code, out, err = run("describe", "page", str(shop))
    assert (code, err) == (0, "")
    assert f"2 resources, {len(HTML) + 3} B, SHA-256 of the manifest " in out
    assert "  /b.png       image     3 B   byte 34 of /index.html\n" in out
    assert "References that are not loaded: 1 on another host, by its URL or a <base> (https://a.example/c.png)" in out
    assert f"wirelab run page --site {shop}\n" in out
    assert run("describe", str(shop)) == (0, out, "")


def test_a_document_in_a_folder_is_described_as_a_page_of_it(shop: Path) -> None:
    _, out, _ = run("describe", "page", str(shop / "start.html"))
    assert "byte 34 of /start.html" in out
    assert f"wirelab run page --site {shop} --set workload.page.document=start.html\n" in out


def test_an_unknown_page_is_refused_with_the_known_ones() -> None:
    code, _, err = run("describe", "page", "fischer")
    assert (code, err.splitlines()[0]) == (2, "error: unknown page 'fischer'")
    assert err.endswith("a folder of your own: describe page DIR\n")
    assert run("describe", "page")[2].endswith("describe page NAME|DIR; names: wirelab list pages\n")


def test_a_single_resource_is_written_in_the_singular() -> None:
    assert "\n1 resource, 44 kB, SHA-256" in run("describe", "page", "text-44kb")[1]


@pytest.mark.parametrize("words", [("page", "fischer2021"), ("workload", "page")])
def test_a_page_is_described_with_how_it_is_written_its_bounds_and_defaults(words: tuple[str, str]) -> None:
    out = run("describe", *words)[1]
    for form in (
        '"fischer2021"',
        '{ objects = 20, object-size = "10 kB" }',
        '{ site = "DIR", document = "index.html" }',
    ):
        assert f"\n  {form}\n" in out
    reported = " ".join(out.split())
    assert "from 1 to 999 objects (20) of at least 100 B (10 kB)" in reported
    assert "(B, kB, MB, GB, KiB, MiB, GiB), at most 60 MB together" in reported
    assert "at most 1,000 resources and 67.1 MB together" in reported


@pytest.mark.parametrize(("objects", "size"), [("1", "100B"), ("999", "60kB"), ("1", "60MB")])
def test_the_described_bounds_are_those_in_force(objects: str, size: str) -> None:
    sets = ("--set", f"workload.page.objects={objects}", "--set", f"workload.page.object-size={size}")
    assert run("check", "page", *sets)[0] == 0
    less = ("0", "99B") if size == "100B" else (str(int(objects) + 1), f"{size_bytes(size) + 60} B")
    sets = ("--set", f"workload.page.objects={less[0]}", "--set", f"workload.page.object-size={less[1]}")
    assert run("check", "page", *sets)[0] == 2
