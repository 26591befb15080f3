"""Raw records of kept campaigns give the kept estimates and verdicts, whatever has changed since they were measured."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.golden.differences import differences
from tests.golden.kept.convert import KEPT, unpack, with_protocols

from wirelab.claims.judge import judge_campaign
from wirelab.metrics.dataset import measure
from wirelab.stats.analyze import analyze

NAMES = sorted(path.name.removesuffix(".tar.xz") for path in KEPT.glob("*.tar.xz"))


def test_golden_campaigns_are_quickstart_and_each_paper() -> None:
    assert NAMES == ["elmangoush2017", "fischer2021", "h2window2017", "londono2016", "milosevic2021", "quickstart"]
    assert sum(path.stat().st_size for path in KEPT.glob("*.tar.xz")) <= 5_000_000


WORDS = {
    "held": "confirmed", "refuted": "contradicted", "undecided": "inconclusive",
    "lateness p99": "timing error p99", "publishable": "good", "teaching": "limited", "invalid": "unusable",
    "Holm's step-down over the claims; within a claim all parts must hold (no correction needed) and one refuted part "
    "refutes it (Bonferroni over the parts that decide)":
    "Holm's step-down over the claims; within a claim all parts must be confirmed (no correction needed) and one "
    "contradicted part contradicts it (Bonferroni over the parts that decide)",
}  # fmt: skip
"""Verdicts, qualities and a method as they were called when the campaigns were kept, and as they are."""
KEYS = {"told": "configured", "again": "retransmitted"}
"""Keys of their estimates as they were called, and as they are."""
SENTENCES = frozenset({"contradiction", "cure", "notes", "text", "why"})
"""Keys whose values are sentences: their wording may change, and their numbers may not."""


def comparable(document: Any, key: str = "") -> Any:
    """A document in today's words, with the numbers of each sentence in its place."""
    if isinstance(document, dict):
        return {KEYS.get(name, name): comparable(value, name) for name, value in document.items()}
    if isinstance(document, list):
        return [comparable(value, key) for value in document]
    if isinstance(document, str) and key in SENTENCES:
        return re.findall(r"\d+(?:\.\d+)?", document)
    return WORDS.get(document, document) if isinstance(document, str) else document


def test_a_sentence_is_compared_by_its_numbers_and_any_other_text_by_itself() -> None:
    kept = comparable({"why": "waited 1.5 ms of 20", "grade": "publishable", "name": "h2, lossy"})
    assert kept == {"why": ["1.5", "20"], "grade": "good", "name": "h2, lossy"}
    assert kept != comparable({"why": "waited 1.6 ms of 20", "grade": "good", "name": "h2, lossy"})


@pytest.mark.parametrize("name", NAMES)
def test_raw_records_give_the_golden_estimates_and_verdicts(name: str, tmp_path: Path) -> None:
    campaign = unpack(name, tmp_path)
    results = [path for path in (campaign / "estimates.json", campaign / "verdicts.json") if path.exists()]
    kept = {path: comparable(with_protocols(json.loads(path.read_text(encoding="utf-8")))) for path in results}
    measure(campaign)
    judge_campaign(campaign, analyze(campaign))
    found = [
        difference
        for path, document in kept.items()
        for difference in differences(comparable(json.loads(path.read_text(encoding="utf-8"))), document, path.name)
        if not difference.startswith("verdicts.json.claims_sha256:")  # of the claims before they were converted
    ]
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:20])
    shutil.rmtree(campaign)
