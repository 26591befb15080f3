"""Charts and tables on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report import campaigns
from wirelab.errors import WirelabError
from wirelab.report.campaign import Campaign, load
from wirelab.report.export.files import write_figures

BEGINS = {"svg": b"<svg xmlns", "pdf": b"%PDF-", "png": b"\x89PNG"}


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    folder = campaigns.write(tmp_path_factory.mktemp("files") / "c")
    return load(folder, folder)


def test_every_chart_is_written_in_each_format_with_what_includes_it(campaign: Campaign, tmp_path: Path) -> None:
    written = write_figures(campaign, tmp_path, tuple(BEGINS), "ieee")
    for each in written:
        for kind, begins in BEGINS.items():
            assert (tmp_path / f"{each.name}.{kind}").read_bytes().startswith(begins)
    document, captions = (tmp_path / "figures.tex").read_text(), (tmp_path / "figures.md").read_text()
    for each in written:
        assert f"{{{each.name}}}" in document
        assert f"({each.name}.svg)" in captions
    tables = sorted(tmp_path.glob("*-table*.tex"))
    assert len(tables) > sum(each.tables for each in written) > 0
    assert all(path.read_text().startswith("% Intervals are 95 %.") for path in tables)
    assert (tmp_path / "wirelab.bib").read_text().startswith("@misc{wirelab-tiny,")


def test_one_chart_can_be_asked_for_by_name(campaign: Campaign, tmp_path: Path) -> None:
    [one] = write_figures(campaign, tmp_path, ["svg"], "slides", ["delays-clean"])
    assert one.name == "delays-clean"
    assert [path.name for path in tmp_path.glob("*.svg")] == ["delays-clean.svg"]
    assert "includegraphics" not in (tmp_path / "figures.tex").read_text()
    write_figures(campaign, tmp_path, ["pdf"], "slides", ["delays-lossy"])
    write_figures(campaign, tmp_path, ["pdf"], "slides", ["delays-clean"])
    assert (tmp_path / "figures.tex").read_text().count("includegraphics") == 2
    with pytest.raises(WirelabError, match=r"--only: no chart 'delay-clean'") as raised:
        write_figures(campaign, tmp_path, ["svg"], "ieee", ["delay-clean"])
    assert "delays-clean" in str(raised.value.hint)


def test_the_same_campaign_gives_the_same_files(campaign: Campaign, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write_figures(campaign, tmp_path / folder, ["svg"], "acm")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name
