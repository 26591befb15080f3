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
}  # fmt: skip
"""Verdicts and qualities as they were called when the campaigns were kept, and as they are."""
KEYS = {"told": "configured", "again": "retransmitted"}
"""Keys of their estimates as they were called, and as they are."""
SENTENCES = {
    r"\blateness\b(?! p)": lambda _: "timing error",
    r"This is a preview scaled down to a budget: no result, and": (
        lambda _: "This is a quick run, scaled down to a budget: not conclusive, and"
    ),
    r"\bas told\b": lambda _: "as configured",
    r"was told (?=\d)": lambda _: "was configured as ",
    r"\btold (?=[\d.]+%)": lambda _: "configured ",
    r"\b(refuted|undecided)\b": lambda found: WORDS[found[1]],
    r"\bheld\b(?! in its place| back)": lambda _: "confirmed",
    r"\brefutes\b": lambda _: "contradicts",
    r"\brefute\b": lambda _: "contradict",
    r"must hold \(": lambda _: "must be confirmed (",
    r"not of publishable accuracy": lambda _: "not of good quality",
    r"\bstack\b": lambda _: "protocol",
    r"\bstacks\b": lambda _: "protocols",
    r"fewer lanes \(--lanes\)": lambda _: "fewer trials at a time (--jobs)",
    r"leave the machine alone": lambda _: "stop other programs",
}
"""The same inside sentences."""


def renamed(document: Any) -> Any:
    """A kept document in today's words."""
    if isinstance(document, dict):
        return {KEYS.get(key, key): renamed(value) for key, value in document.items()}
    if isinstance(document, list):
        return [renamed(value) for value in document]
    if not isinstance(document, str):
        return document
    if document in WORDS:
        return WORDS[document]
    for pattern, word in SENTENCES.items():
        document = re.sub(pattern, word, document)
    return document


@pytest.mark.parametrize("name", NAMES)
def test_raw_records_give_the_golden_estimates_and_verdicts(name: str, tmp_path: Path) -> None:
    campaign = unpack(name, tmp_path)
    results = [path for path in (campaign / "estimates.json", campaign / "verdicts.json") if path.exists()]
    kept = {path: renamed(with_protocols(json.loads(path.read_text(encoding="utf-8")))) for path in results}
    measure(campaign)
    judge_campaign(campaign, analyze(campaign))
    found = [
        difference
        for path, document in kept.items()
        for difference in differences(json.loads(path.read_text(encoding="utf-8")), document, path.name)
        if not difference.startswith("verdicts.json.claims_sha256:")  # of the claims before they were converted
    ]
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:20])
    shutil.rmtree(campaign)
