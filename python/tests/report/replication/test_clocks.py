"""The primary interpretation under both clocks."""

from __future__ import annotations

from pathlib import Path

from tests.replicate.sources import estimate
from tests.report.replication.records import record
from wirelab.report.blocks import Group, Items, Table
from wirelab.report.replication import clocks
from wirelab.schema.estimates import EstimateRecord
from wirelab.schema.replication import LivePart, Replication
from wirelab.schema.verdicts import Verdict


def _under_both(folder: Path) -> Replication:
    found = record(folder)
    first, second = found["claims"][:2]
    first["parts"][0]["live"] = _live("confirmed", estimate(1.7, 1.5, 1.9))
    second["parts"][0]["live"] = _live("inconclusive", estimate(2.0, 1.9, 2.1))
    return found


def _live(verdict: Verdict, ours: EstimateRecord) -> LivePart:
    why = "it is 2 [1, 3]; it would be confirmed, but not without the waiting"
    return {"verdict": verdict, "why": why, "ours": ours, "link": None, "campaign": 1}


def test_a_part_has_both_estimates_and_both_verdicts(tmp_path: Path) -> None:
    [group] = clocks.blocks(_under_both(tmp_path))
    assert isinstance(group, Group)
    assert group.summary == (
        "Of 1 part that the virtual clock decides: 1 with the same verdict live, 0 inconclusive live, and 0 with the "
        "opposite one. Live intervals that contain the virtual clock's estimate: 1 of 2"
    )
    [table] = group.blocks
    assert isinstance(table, Table)
    assert [cell.text for cell in table.rows[0]][1:] == [
        "1.60 [1.40, 1.80]", "confirmed", "1.70 [1.50, 1.90]", "confirmed", "–", "–",
    ]  # fmt: skip
    assert table.rows[1][0].text.startswith("C2.1 (")


def test_another_verdict_in_real_time_has_its_reason(tmp_path: Path) -> None:
    found = _under_both(tmp_path)
    found["claims"][0]["parts"][0]["live"] = _live("inconclusive", estimate(1.7, 1.5, 1.9))
    [group] = clocks.blocks(found)
    assert isinstance(group, Group)
    [table] = group.blocks
    assert isinstance(table, Table)
    assert table.rows[0][-1].text == "It would be confirmed, but not without the waiting."


def test_a_ratio_of_additions_that_may_be_nothing_has_no_number(tmp_path: Path) -> None:
    found = _under_both(tmp_path)
    part = found["claims"][0]["parts"][0]
    part["form"], part["live"] = "causal-contrast", _live("confirmed", estimate(-2239.0, -2672.0, 1220.0))
    [group] = clocks.blocks(found)
    assert isinstance(group, Group)
    [table] = group.blocks
    assert isinstance(table, Table)
    assert [cell.text for cell in table.rows[0]][1:5] == ["1.60 [1.40, 1.80]", "confirmed", "–", "confirmed"]
    assert "their ratio says nothing" in (table.rows[0][3].reason or "")


def test_the_page_of_several_papers_has_a_sentence_for_each_that_ran_under_both(tmp_path: Path) -> None:
    [items] = clocks.of_papers([_under_both(tmp_path), record(tmp_path)])
    assert isinstance(items, Items)
    assert [each.startswith("example: Of 1 part ") for each in items.items] == [True]
    assert clocks.blocks(record(tmp_path)) == clocks.of_papers([record(tmp_path)]) == []


def test_an_opposite_verdict_is_counted_with_its_part(tmp_path: Path) -> None:
    found = _under_both(tmp_path)
    found["claims"][0]["parts"][0]["live"] = _live("contradicted", estimate(0.5, 0.4, 0.6))
    [group] = clocks.blocks(found)
    assert isinstance(group, Group)
    assert "0 with the same verdict live, 0 inconclusive live, and 1 with the opposite one (C1.1)." in group.summary


def test_an_interval_without_ends_contains_nothing(tmp_path: Path) -> None:
    found = _under_both(tmp_path)
    found["claims"][0]["parts"][0]["live"] = _live("inconclusive", estimate(1.7))
    [group] = clocks.blocks(found)
    assert isinstance(group, Group)
    assert group.summary.endswith("estimate: 0 of 1")
