"""What may be merged, and which part a trial is taken from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.documents import whole_record
from tests.runner.fakes import make_plan
from wirelab.errors import WirelabError
from wirelab.runner import merge
from wirelab.runner.merge import Part
from wirelab.schema.campaign import EntryStatus, JournalEntry
from wirelab.schema.plan import Plan
from wirelab.schema.record import CampaignRecord


def _record(**more: Any) -> CampaignRecord:
    run = {"shard": [1, 2], "claims_sha256": None}
    host = {"kernel": more.pop("kernel", "6.1"), "cpu": more.pop("cpu", "one")}
    record = {"command": ["wirelab", "run", "x", "--shard", "1/2", "--out=a b"], "host": host, "runs": [run], **more}
    return CampaignRecord.model_validate_json(json.dumps(whole_record(record)))


def _part(name: str, plan: Plan, blocks: dict[int, str], **more: Any) -> Part:
    """With the trials of these blocks; the text stands for their records."""
    finished = {
        trial.trial: JournalEntry(
            trial=trial.trial, scenario=trial.scenario, block=block.block, lane=0, lanes=1, status=EntryStatus.DONE,
            attempt=1, agent="a", written="2026", records={"packets.wlpl": blocks[block.block]},
        )
        for block in plan.blocks
        if block.block in blocks
        for trial in block.trials
    }  # fmt: skip
    return Part(Path(name), plan, _record(**more), finished)


def test_in_real_time_a_block_is_taken_from_one_part(tmp_path: Path) -> None:
    plan = make_plan(2, 3)
    whole = _part("b", plan, {1: "y", 2: "y"})
    some = _part("a", plan, {0: "x", 1: "x"})
    # The first was stopped within block 1.
    del some.finished["t1-0001"]  # type: ignore[attr-defined]
    owners = merge._owners([some, whole])
    assert {trial: part.folder.name for trial, part in owners.items()} == {
        "t0-0000": "a", "t1-0000": "a", "t0-0001": "b", "t1-0001": "b", "t0-0002": "b", "t1-0002": "b",
    }  # fmt: skip


def test_a_block_that_two_machines_ran_is_not_chosen_by_the_order_of_arguments(tmp_path: Path) -> None:
    plan = make_plan(2, 2)
    one, other = _part("a", plan, {0: "x", 1: "x"}), _part("b", plan, {1: "y"})
    with pytest.raises(WirelabError, match="a and b have different records of trial t0-0001") as refused:
        merge._owners([one, other])
    assert "run twice" in (refused.value.hint or "")
    same = replace(other, finished={name: one.finished[name] for name in other.finished})
    assert {part.folder.name for part in merge._owners([one, same]).values()} == {"a"}


def test_missing_shards_are_named_with_the_command_of_the_first(tmp_path: Path) -> None:
    plan = make_plan(2, 4)
    parts = [_part("a", plan, {0: "x", 2: "x"})]
    with pytest.raises(WirelabError, match="4 of 8 trials are in no part: shard 2/2 did not run to its end") as refused:
        merge._require_whole(parts, merge._owners(parts))
    assert refused.value.hint == "run it, and name its folder: wirelab run x --shard 2/2"


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"kernel": "5.4"}, "different kernels: 6.1 and 5.4"),
        ({"cpu": "other"}, "different processors: one and other"),
        ({"wirelab": "9.9"}, "different versions of Wirelab"),
        ({"implementations": {"nginx": {"version": "1.18"}}}, "different versions of nginx: none and 1.18"),
        ({"runs": [{"claims_sha256": "y"}]}, "different claims"),
    ],
)
def test_parts_that_differ_are_refused_with_the_first_difference(more: dict[str, Any], what: str) -> None:
    plan = make_plan()
    with pytest.raises(WirelabError, match=what):
        merge._require_alike(_part("a", plan, {}), _part("b", plan, {}, **more))
    merge._require_alike(_part("a", plan, {}), _part("b", plan, {}))


def test_links_and_folders_of_others_are_left_out(tmp_path: Path) -> None:
    source = tmp_path / "pages"
    (source / "inner").mkdir(parents=True)
    (source / "inner" / "page").write_text("1")
    (source / "secret").symlink_to("/etc/hostname")
    merge._copy(source, tmp_path / "out")
    assert [path.relative_to(tmp_path / "out").as_posix() for path in merge._files(tmp_path / "out")] == ["inner/page"]
    copied = tmp_path / "out" / "inner" / "page"
    copied.write_text("2")
    assert (source / "inner" / "page").read_text() == "1"


def test_a_folder_that_is_another_ones_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / ".all.merging").symlink_to(tmp_path / "victim")
    with pytest.raises(WirelabError, match="is not a folder of this user"):
        merge._require_own(tmp_path / ".all.merging")
    merge._require_own(tmp_path / "victim")
