"""A campaign as a replication reads it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.golden.kept.convert import kept_results, unpack

from wirelab.claims.load import load
from wirelab.errors import WirelabError
from wirelab.experiment.library import experiment_file
from wirelab.replicate.source import read_source

CLAIMS = Path(str(experiment_file("londono2016.claims")))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = unpack("londono2016", tmp_path_factory.mktemp("campaign"))
    for file, document in kept_results("londono2016").items():
        (folder / file).write_text(json.dumps(document))
    return folder


def test_the_summary_says_what_ran(campaign: Path) -> None:
    shutil.copy(CLAIMS, campaign)
    found = read_source(campaign, load(CLAIMS), "good in 4 of 4 scenarios", "the first one").summary
    assert (found["experiment"], found["clock"], found["why"]) == ("londono2016", "live", "the first one")
    assert found["exchanges"] >= found["completed"] > 0
    assert found["quick"] is None
    assert found["digest"] is None
    assert found["measured"] is not None


def test_a_campaign_of_other_claims_is_refused(campaign: Path) -> None:
    text = CLAIMS.read_text().replace("error_rate = 0.05", "error_rate = 0.01")
    (campaign / CLAIMS.name).write_text(re.sub(r"^\[frozen\]\n(.+\n)+", "", text, flags=re.MULTILINE))
    with pytest.raises(WirelabError, match="was judged by other claims"):
        read_source(campaign, load(CLAIMS), "")


def test_a_campaign_without_verdicts_is_refused(campaign: Path) -> None:
    (campaign / "verdicts.json").unlink()
    with pytest.raises(WirelabError, match="has no verdicts"):
        read_source(campaign, load(CLAIMS), "")
