"""Raw records of kept campaigns give the kept estimates and verdicts, whatever has changed since they were measured.

After a change that is meant to change numbers, run it with WIRELAB_UPDATE_GOLDEN=1 and say in the commit what changed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.golden.differences import differences
from tests.golden.kept.convert import KEPT, RESULTS, keep_results, kept_results, unpack

from wirelab.claims.judge import judge_campaign
from wirelab.metrics.dataset import measure
from wirelab.stats.analyze import analyze

NAMES = sorted({path.name.partition(".")[0] for path in KEPT.glob("*.tar.xz")})


def test_golden_campaigns_are_quickstart_and_each_paper() -> None:
    assert NAMES == ["elmangoush2017", "fischer2021", "h2window2017", "londono2016", "milosevic2021", "quickstart"]
    assert sum(path.stat().st_size for path in KEPT.glob("*.tar.xz")) <= 5_000_000


SENTENCES = frozenset({"contradiction", "cure", "notes", "text", "why"})
"""Keys whose values are sentences: their wording may change, and their numbers may not."""


def comparable(document: Any, key: str = "") -> Any:
    """A document with the numbers of each sentence in its place."""
    if isinstance(document, dict):
        return {name: comparable(value, name) for name, value in document.items()}
    if isinstance(document, list):
        return [comparable(value, key) for value in document]
    if isinstance(document, str) and key in SENTENCES:
        return re.findall(r"\d+(?:\.\d+)?", document)
    return document


def test_a_sentence_is_compared_by_its_numbers_and_any_other_text_by_itself() -> None:
    kept = comparable({"why": "waited 1.5 ms of 20", "grade": "good", "name": "h2, lossy"})
    assert kept == {"why": ["1.5", "20"], "grade": "good", "name": "h2, lossy"}
    assert kept != comparable({"why": "waited 1.6 ms of 20", "grade": "good", "name": "h2, lossy"})


@pytest.mark.parametrize("name", NAMES)
def test_raw_records_give_the_golden_estimates_and_verdicts(name: str, tmp_path: Path) -> None:
    campaign = unpack(name, tmp_path)
    measure(campaign)
    judge_campaign(campaign, analyze(campaign))
    if os.environ.get("WIRELAB_UPDATE_GOLDEN"):
        keep_results(name, campaign)
    kept = kept_results(name)
    assert [file for file in RESULTS if (campaign / file).exists()] == list(kept)
    found = [
        difference
        for file, document in kept.items()
        for difference in differences(
            comparable(json.loads((campaign / file).read_text(encoding="utf-8"))), comparable(document), file
        )
    ]
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:20])
    shutil.rmtree(campaign)
