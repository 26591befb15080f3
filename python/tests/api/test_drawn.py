"""What a notebook shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import wirelab
from tests.report import campaigns


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return campaigns.write(tmp_path_factory.mktemp("drawn") / "c")


def test_a_campaign_shows_its_answer_and_a_chart_with_its_own_colours(folder: Path) -> None:
    shown = wirelab.load(folder)._repr_html_()
    assert "Small uploads" in shown
    assert "Quality" in shown
    assert "<svg" in shown
    assert "var(--" not in shown
    assert not re.search(r"<script|href=|src=", shown)


def test_a_metric_without_a_distribution_is_refused(folder: Path, tmp_path: Path) -> None:
    other = campaigns.write(tmp_path / "c")
    (other / "exchanges.parquet").unlink()
    with pytest.raises(wirelab.WirelabError, match="has no distribution of delays"):
        wirelab.load(other).cdf()
