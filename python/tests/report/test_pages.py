"""The pages of a campaign, in its report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import pages
from tests.report import campaigns
from wirelab.metrics.dataset import measure
from wirelab.report.blocks import DASH, Prose, Table
from wirelab.report.campaign import Campaign, load
from wirelab.report.sections.pages import section
from wirelab.schema.campaign import page_manifest
from wirelab.site import LeftOut, Reason
from wirelab.stats.analyze import analyze

DIGEST = pages.PAGE.site.digest


def campaign(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    records = pages.write(folder)
    monkeypatch.setenv("WIRELAB_AGENT", str(records.finish("load-time")))
    measure(folder)
    analyze(folder)
    return load(folder, folder)


def row(found: Campaign) -> list[str]:
    blocks = section(found)
    assert blocks is not None
    note, table = blocks.blocks
    assert isinstance(note, Prose)
    assert isinstance(table, Table)
    [cells] = table.rows
    return [cell.text for cell in cells]


def test_a_page_is_reported_with_its_digest_and_its_unused_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = campaign(tmp_path / "campaign", monkeypatch)
    site = pages.PAGE.site
    assert row(found) == ["eight", "9", f"{site.body_bytes:,}", DIGEST, "nothing"]
    manifest = page_manifest(found.folder, DIGEST)
    left_out = (LeftOut(url="https://a.example/b.png", parent=0, why=Reason.ELSEWHERE),)
    manifest.write_text(json.dumps(site.model_copy(update={"left_out": left_out}).to_json()))
    assert row(found)[-1] == "1 on another host, by its URL or a <base> (https://a.example/b.png)"
    manifest.unlink()
    assert row(found)[-1] == DASH


def test_campaigns_without_pages_have_no_such_section(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path)
    assert section(load(folder, folder)) is None
