"""A campaign as a replication reads it."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from shutil import copytree

import pytest
from tests.golden.kept.convert import kept_results, unpack

from wirelab.claims.load import load
from wirelab.errors import WirelabError
from wirelab.experiment.library import experiment_file
from wirelab.replicate.source import _ran_words, quick_words, read_source
from wirelab.schema.plan import Preview

CLAIMS = Path(str(experiment_file("londono2016.claims")))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = unpack("londono2016", tmp_path_factory.mktemp("campaign"))
    for file, document in kept_results("londono2016").items():
        (folder / file).write_text(json.dumps(document))
    return folder


def _judged_by(campaign: Path, text: str) -> None:
    """As if it had been analyzed with this file of claims."""
    path = campaign / CLAIMS.name
    path.write_text(text)
    verdicts = json.loads((campaign / "verdicts.json").read_text())
    verdicts["claims_sha256"] = load(path).sha256
    (campaign / "verdicts.json").write_text(json.dumps(verdicts))


def test_the_summary_says_what_ran(campaign: Path) -> None:
    _judged_by(campaign, CLAIMS.read_text())
    found = read_source(campaign, load(CLAIMS), "good in 4 of 4 scenarios", "the first one").summary
    assert (found["experiment"], found["clock"], found["why"]) == ("londono2016", "live", "the first one")
    assert found["exchanges"] >= found["completed"] > 0
    assert found["quick"] is None
    assert found["digest"] is None
    assert found["measured"] is not None


def test_a_run_that_was_stopped_lasted_until_its_last_trial(campaign: Path, tmp_path: Path) -> None:
    campaign = copytree(campaign, tmp_path / campaign.name)
    _judged_by(campaign, CLAIMS.read_text())
    path = campaign / "campaign.json"
    whole = read_source(campaign, load(CLAIMS), "good").summary["seconds"]
    record = json.loads(path.read_text())
    ended = {**record["runs"][0], "ended": None, "total": None, "run": None, "elapsed_s": None}
    path.write_text(json.dumps(record | {"runs": [ended, *record["runs"]]}))
    # No trial was written before the other run began: it was stopped at once.
    assert read_source(campaign, load(CLAIMS), "good").summary["seconds"] == whole
    path.write_text(json.dumps(record | {"runs": [ended]}))
    trials = (json.loads(line)["written"] for line in (campaign / "journal.jsonl").read_text().splitlines())
    last, began = (datetime.fromisoformat(each) for each in (max(trials), ended["began"]))
    assert read_source(campaign, load(CLAIMS), "good").summary["seconds"] == (last - began).total_seconds()


def test_a_campaign_of_other_claims_is_refused(campaign: Path) -> None:
    unfrozen = re.sub(r"^\[frozen\]\n(.+\n)+", "", CLAIMS.read_text(), flags=re.MULTILINE)
    _judged_by(campaign, unfrozen.replace("error_rate = 0.05", "error_rate = 0.01"))
    with pytest.raises(WirelabError, match=r"was judged by other claims .* what is frozen differs"):
        read_source(campaign, load(CLAIMS), "")
    after = '\n[[claim]]\nid = "L99"\ntext = "one more"\nafter-the-fact = 2026-11-27T00:00:00Z\n'
    part = re.search(r"^\[\[claim\.part\]\]\n(.+\n)+", unfrozen, flags=re.MULTILINE)
    assert part is not None
    later = campaign.parent / CLAIMS.name
    later.write_text(unfrozen + after + part[0])
    _judged_by(campaign, unfrozen)
    assert read_source(campaign, load(later), "").verdicts["claims"]
    _judged_by(campaign, unfrozen + after.replace("one more", "another") + part[0])
    with pytest.raises(WirelabError, match="claim L99 differs"):
        read_source(campaign, load(later), "")


def test_a_campaign_may_lack_parts_that_were_written_later(campaign: Path) -> None:
    text = CLAIMS.read_text()
    tables = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    before = [each for each in tables if not (each.startswith("[[claim.part]]") and "after-the-fact" in each)]
    assert len(tables) - len(before) == 4
    _judged_by(campaign, "".join(before))
    assert read_source(campaign, load(CLAIMS), "").verdicts["claims"]
    _judged_by(campaign, text.replace("of answered requests alone", "of those that were answered"))
    with pytest.raises(WirelabError, match="claim L3 differs"):
        read_source(campaign, load(CLAIMS), "")


def test_a_campaign_whose_claims_changed_after_it_was_judged_is_refused(campaign: Path) -> None:
    _judged_by(campaign, CLAIMS.read_text())
    with (campaign / CLAIMS.name).open("a") as file:
        file.write("# a note\n")
    with pytest.raises(WirelabError, match="changed after") as refused:
        read_source(campaign, load(CLAIMS), "")
    assert f"analyze {campaign}" in str(refused.value)


def test_a_campaign_without_verdicts_is_refused(campaign: Path) -> None:
    (campaign / "verdicts.json").unlink()
    with pytest.raises(WirelabError, match="has no verdicts"):
        read_source(campaign, load(CLAIMS), "")


def test_a_quick_run_says_what_ran_where_its_budget_ended_before_its_plan() -> None:
    quick = Preview(budget_ns=10**9, replicates=(10, 4), exchanges=(5, 5))
    planned = "4 of 10 trials a scenario, 5 of 5 exchanges each"
    assert quick_words(quick) == _ran_words(quick, [4, 4]) == planned
    assert _ran_words(quick, [3, 3]) == "3 of 10 trials a scenario (the budget ended), 5 of 5 exchanges each"
    assert _ran_words(quick, [2, 4]).startswith("2 to 4 of 10 trials a scenario (the budget ended)")
