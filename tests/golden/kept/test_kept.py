"""Raw records of kept campaigns give the kept estimates and verdicts, whatever has changed since they were measured."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.golden.differences import differences
from tests.golden.kept.convert import KEPT, unpack

from wirelab.claims.judge import judge_campaign
from wirelab.metrics.dataset import measure
from wirelab.stats.analyze import analyze

NAMES = sorted(path.name.removesuffix(".tar.xz") for path in KEPT.glob("*.tar.xz"))


def test_quickstart_and_each_paper_are_kept() -> None:
    assert NAMES == ["elmangoush2017", "fischer2021", "h2window2017", "londono2016", "milosevic2021", "quickstart"]
    assert sum(path.stat().st_size for path in KEPT.glob("*.tar.xz")) <= 5_000_000


@pytest.mark.parametrize("name", NAMES)
def test_raw_records_give_the_kept_estimates_and_verdicts(name: str, tmp_path: Path) -> None:
    campaign = unpack(name, tmp_path)
    results = [path for path in (campaign / "estimates.json", campaign / "verdicts.json") if path.exists()]
    kept = {path: json.loads(path.read_text(encoding="utf-8")) for path in results}
    measure(campaign)
    judge_campaign(campaign, analyze(campaign))
    found = [
        difference
        for path, document in kept.items()
        for difference in differences(json.loads(path.read_text(encoding="utf-8")), document, path.name)
    ]
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:20])
    shutil.rmtree(campaign)
