"""Sections of the page of a replication."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.report.replication.records import record
from wirelab.report.blocks import Definitions, Group, Items, Prose, Table
from wirelab.report.replication import page, sections
from wirelab.report.replication.markdown import write_markdown


def test_every_claim_has_a_row_with_its_verdict(tmp_path: Path) -> None:
    [one, other] = record(tmp_path), record(tmp_path, primary=False)
    rows = sections.table([one, other]).claims
    assert [row.id for row in rows] == ["C1", "C2", "C3"] * 2
    assert [row.verdict.text for row in rows] == ["confirmed", "inconclusive", "confirmed", "–", "–", "–"]
    assert [row.cells[0].text for row in rows[:2]] == ["1.50", "–"]


def test_a_campaign_is_shown_with_what_ran_it(tmp_path: Path) -> None:
    table, _ = sections.campaigns([record(tmp_path)])
    assert isinstance(table, Table)
    assert [cell.text for cell in table.rows[0]] == [
        "main", "as in its file", "virtual", "2026-11-27", "10", "1,000", "6 min", "good in 10 of 10 scenarios", "a1",
    ]  # fmt: skip
    assert table.rows[0][3].title == "Wirelab 1, kernel 6.12"
    assert table.rows[0][5].title == "completed, of the exchanges of 20 trials"


def test_campaigns_of_one_experiment_differ_in_their_settings(tmp_path: Path) -> None:
    found = record(tmp_path)
    [only] = found["campaigns"]
    sets = [
        {"clock": ["virtual"]}, {"workload": ["single"], "stop.replicates": ["160"]},
        {"a.client.cpu": ["1 %"], "b.client.cpu": ["2 %", "3 %"]},
    ]  # fmt: skip
    found["campaigns"] = [{**only, "sets": each} for each in sets]
    one, commands = sections.campaigns([found])
    several, _ = sections.campaigns([found, record(tmp_path, paper="other")])
    assert isinstance(one, Table)
    assert isinstance(several, Table)
    short = ["as in its file", "workload single; replicates 160", "a.client.cpu 1 %; b.client.cpu 2 %, 3 %"]
    assert [row[1].text for row in one.rows] == short
    assert one.rows[1][1].title == "workload=single; stop.replicates=160"
    assert isinstance(commands, Group)
    [table] = commands.blocks
    assert isinstance(table, Table)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["main", "wirelab run main --clock virtual"],
        ["main", "wirelab run main --clock virtual --set workload=single --set stop.replicates=160"],
        ["main", "wirelab run main --clock virtual --set 'a.client.cpu=1 %' --set 'b.client.cpu=2 %,3 %'"],
    ]
    assert [(row[0].text, row[2].text) for row in several.rows] == [
        *(("example", each) for each in short), ("other", short[0]),
    ]  # fmt: skip


def test_the_command_of_a_quick_run_is_that_of_the_whole(tmp_path: Path) -> None:
    found = record(tmp_path)
    found["campaigns"][0] |= {"quick": "2 of 5 trials a scenario", "clock": "live"}
    _, commands = sections.campaigns([found])
    assert isinstance(commands, Group)
    [table] = commands.blocks
    assert isinstance(table, Table)
    assert table.rows[0][1].text == "wirelab run main --clock live (the whole, not the quick run)"


def test_what_was_left_out_is_listed_with_the_campaigns(tmp_path: Path) -> None:
    found = record(tmp_path)
    found["left_out"] = ["choices, 150 scenarios: it takes 5 min"]
    *_, table, _ = sections.campaigns([found])
    assert isinstance(table, Table)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["choices, 150 scenarios: it takes 5 min"],
    ]  # fmt: skip


def test_future_work_of_one_paper_is_a_list_and_of_several_one_for_each(tmp_path: Path) -> None:
    found = record(tmp_path)
    found["future"] = [
        {"text": "more clients", "found": "50 take as long", "not_yet": None},
        {"text": "devices", "found": None, "not_yet": "it needs one"},
    ]
    [terms] = sections.future([found])
    assert isinstance(terms, Definitions)
    assert [*terms.terms] == [("more clients", "50 take as long."), ("devices", "Not yet measured. It needs one.")]
    more: Any
    for more, words in (({}, ""), ({"digest": "0123456789ab" + "0" * 52}, ", digest 0123456789ab")):
        found["future"][0] |= {"run": "more --clock virtual", **more}
        [terms, repeated] = sections.future([found])
        assert isinstance(terms, Definitions)
        assert isinstance(repeated, Prose)
        assert terms.terms[0][1] == f"50 take as long. Run: `wirelab run more --clock virtual`{words}."
    first, second, _ = sections.future([found, {**found, "paper": "other"}])
    assert isinstance(first, Group) and isinstance(second, Group)
    assert (first.summary, second.summary) == ("example", "other")
    assert sections.future([{**found, "future": []}]) == []


def test_the_chance_of_a_wrong_decision_is_that_of_each_campaign_on_the_page_of_all_papers_too(tmp_path: Path) -> None:
    records = [record(tmp_path), record(tmp_path, paper="other")]
    [claims] = (part for part in page.sections_of_all(records) if part.id == "claims")
    [how] = (block for block in claims.blocks if isinstance(block, Group))
    [items] = how.blocks
    assert isinstance(items, Items)
    assert any(
        "In each campaign the chance of one wrong decision or more is at most 5 %." in each for each in items.items
    )
    assert "In each campaign the chance" in write_markdown(records, tmp_path / "all.md")[0].read_text()
