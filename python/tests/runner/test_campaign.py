"""A campaign's folder, opened, checked and cleaned; runs on it are in `test_run.py`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runner.fakes import make_plan
from wirelab.errors import WirelabError
from wirelab.runner.campaign import Campaign, open_campaign, require_makeable
from wirelab.schema.campaign import EntryStatus, JournalEntry
from wirelab.schema.plan import Plan


def entry(trial: str, status: EntryStatus, attempt: int = 1, scenario: int = 0) -> JournalEntry:
    return JournalEntry(
        trial=trial, scenario=f"{scenario:064x}", block=0, lane=0, lanes=1, status=status, attempt=attempt,
        agent="digest", written="2026-01-01T00:00:00.000Z",
    )  # fmt: skip


def opened(folder: Path, plan: Plan, *entries: JournalEntry) -> Campaign:
    with open_campaign(folder, plan, "digest", fresh=False, retry_failed=False) as campaign:
        campaign.journal.append(*entries)
    return campaign


def test_only_a_final_entry_of_the_same_scenario_skips_a_trial(tmp_path: Path) -> None:
    plan = make_plan(scenarios=2, blocks=2)
    campaign = opened(
        tmp_path / "c", plan,
        entry("t0-0000", EntryStatus.DONE), entry("t0-0001", EntryStatus.CANCELLED),
        entry("t1-0000", EntryStatus.DONE, scenario=0), entry("t1-0001", EntryStatus.DISCARDED, scenario=1),
    )  # fmt: skip
    assert set(campaign.finished()) == {"t0-0000"}


def test_attempts_are_counted_without_those_that_were_cancelled(tmp_path: Path) -> None:
    plan = make_plan(1, 1)
    campaign = opened(
        tmp_path / "c", plan, entry("t0-0000", EntryStatus.DISCARDED), entry("t0-0000", EntryStatus.CANCELLED, 2)
    )
    assert campaign.attempt(plan.blocks[0].trials[0]) == 2


def test_a_discarded_attempt_keeps_its_records_under_its_number(tmp_path: Path) -> None:
    with open_campaign(tmp_path / "c", make_plan(1, 1), "digest", fresh=False, retry_failed=False) as campaign:
        campaign.trial_folder("t0-0000").mkdir()
        campaign.discard([entry("t0-0000", EntryStatus.DONE, attempt=3)], "because")
    assert campaign.journal.entries[-1].status is EntryStatus.DISCARDED
    assert campaign.journal.entries[-1].error == "because"
    assert [path.name for path in (tmp_path / "c" / "trials").iterdir()] == ["t0-0000.discarded-3"]


def test_another_seed_is_another_campaign(tmp_path: Path) -> None:
    opened(tmp_path / "c", make_plan())
    with pytest.raises(WirelabError, match="is a campaign with seed 1, not 2"):
        opened(tmp_path / "c", make_plan().model_copy(update={"seed": 2}))
    assert json.loads((tmp_path / "c" / "plan.json").read_text())["seed"] == 1


@pytest.mark.parametrize("inside", ["file/x", "file/x/y"])
def test_a_folder_inside_a_file_is_refused(inside: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WirelabError) as error:
        opened(tmp_path / inside, make_plan())
    assert error.value.exit_code == 2
    assert str(error.value) == (
        f"{tmp_path / inside}: cannot be made: Not a directory\nhint: name another folder with --out"
    )


def test_a_folder_that_cannot_be_made_is_refused() -> None:
    with pytest.raises(WirelabError, match=r"^/proc/wirelab-campaign: cannot be made: ") as error:
        opened(Path("/proc/wirelab-campaign"), make_plan())
    assert error.value.exit_code == 2


def test_the_check_for_a_folder_leaves_nothing(tmp_path: Path) -> None:
    require_makeable(tmp_path / "a" / "b")
    require_makeable(tmp_path)
    assert not list(tmp_path.iterdir())
