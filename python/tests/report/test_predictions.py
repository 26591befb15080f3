"""Printed numbers as a whole, in the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.report.campaigns import judge, read, store, write
from tests.report.replication.records import record as replication
from wirelab.report import page, predictions
from wirelab.report.blocks import Group, Items, Prose, Table
from wirelab.report.campaign import load

ESTIMATE = {"point": 0.5, "low": 0.4, "high": 0.6, "level": 0.95, "n": 12, "method": "percentiles"}
SCORE = {**ESTIMATE, "point": -0.4, "low": -0.6, "high": -0.2}
NULL = {"model": "constant", "n": 12, "error": 0.36, "error_seen": 0.3, "ours": 0.5, "score": SCORE}
PREDICTION: dict[str, Any] = {"n": 12, "error": ESTIMATE, "nulls": [NULL]}
SKILL: dict[str, Any] = {
    "interpretation": "lan", "by_rule": False, "null_cell": {"link": "lossless"}, "knobs": 1, "used": 0,
    "predicted": 24, "missing": 2, "error": PREDICTION, "skill": "no-skill", "groups": [], "left_out": [],
}  # fmt: skip
LOWER = {"metric": "response-time", "levels": {"link": "lossless"}, "value": 0.0528, "unit": "s"}
INSIDE = {
    "title": "Loss does not shorten a delay", "why": "Nothing is sent earlier", "factor": 1.0, "compared": 12,
    "against": [
        {"lower": LOWER, "upper": {**LOWER, "levels": {"link": "burst"}, "value": 0.0202}, "difference": 0.0326,
         "z": 30.4},
    ],
}  # fmt: skip
MODEL = {
    "name": "rounds", "text": "a round trip each", "note": "It fails for 2 MB", "metric": "time",
    "interpretation": None, "round_s": 0.1, "ours": None,
    "printed": {"n": 7, "constants": [{"level": "page", "value_s": 0.17}], "error": 0.03, "cells": []},
}  # fmt: skip


def _campaign(folder: Path, **records: Any) -> Any:
    folder = judge(write(folder))
    verdicts = {**read(folder, "verdicts.json"), **records}
    store(folder, "verdicts.json", verdicts)
    loaded = load(folder, folder)
    assert loaded.verdicts is not None
    return loaded


def _tables(campaign: Any) -> dict[str, Table]:
    return {each.caption: each for each in predictions.blocks(campaign.verdicts) if isinstance(each, Table)}


def test_an_interpretation_without_skill_says_so_and_names_the_better_null_model(tmp_path: Path) -> None:
    by_rule = {**SKILL, "by_rule": True, "skill": "skill", "error": {**PREDICTION, "nulls": []}}
    campaign = _campaign(tmp_path, skill=[SKILL, by_rule])
    rows = _tables(campaign)[predictions.SKILL].rows
    assert [cell.text for cell in rows[0]] == [
        "lan",
        "1",
        "0",
        "12 of 24",
        "0.50 [0.40, 0.60]",
        "0.360",
        "–",
        "–",
        "no skill",
    ]
    assert rows[0][-1].title == "not below the error of: one constant"
    assert rows[1][0].text == "lan, by the outlier rule"
    assert predictions.SKILL in page.render(campaign)


def test_a_null_model_of_some_numbers_has_our_error_on_the_same_ones(tmp_path: Path) -> None:
    cell = {**NULL, "model": "null-cell", "n": 8, "error": 0.4, "ours": 0.75}
    campaign = _campaign(tmp_path, skill=[{**SKILL, "error": {**PREDICTION, "nulls": [NULL, cell]}}])
    [row] = _tables(campaign)[predictions.SKILL].rows
    assert [each.text for each in row[5:8]] == ["0.360", "–", "0.400 (ours 0.750)"]
    assert row[7].title is not None
    assert row[7].title.startswith("at lossless: on 8 numbers")


def test_a_fit_with_one_column_left_out_has_a_table(tmp_path: Path) -> None:
    campaign = _campaign(tmp_path, skill=[{**SKILL, "left_out": [{"path": "link", **PREDICTION}]}])
    [row] = _tables(campaign)[predictions.LEFT_OUT].rows
    assert [cell.text for cell in row[:4]] == ["lan", "link", "12", "0.50 [0.40, 0.60]"]


@pytest.mark.parametrize(("z", "words"), [(30.4, "z = 30"), (None, "prints no standard deviations")])
def test_a_contradiction_inside_the_publication_has_its_z(tmp_path: Path, z: float | None, words: str) -> None:
    against = [{**INSIDE["against"][0], "z": z}]  # type: ignore[index]
    campaign = _campaign(tmp_path, inside=[{**INSIDE, "against": against}, {**INSIDE, "against": []}])
    [group] = [each for each in predictions.blocks(campaign.verdicts) if isinstance(each, Group)]
    assert group.summary == "Contradictions inside the publication: 1 of 24 pairs"
    [items] = group.blocks
    assert isinstance(items, Items)
    assert "52.8\u00a0ms (response-time, lossless) is above 20.2\u00a0ms (response-time, burst)" in items.items[0]
    assert words in items.items[0]
    assert items.items[1] == (
        "Loss does not shorten a delay: 0 of 12 printed pairs contradict it. Nothing is sent earlier."
    )


def test_a_one_line_model_has_its_error_and_its_constants(tmp_path: Path) -> None:
    campaign = _campaign(tmp_path, models=[MODEL])
    [row] = _tables(campaign)[predictions.MODELS].rows
    assert [cell.text for cell in row[1:]] == ["100", "1", "7", "0.0300", "–", "–"]
    assert "rounds: It fails for 2 MB." in page.render(campaign)


def test_verdicts_without_these_records_add_nothing(tmp_path: Path) -> None:
    folder = judge(write(tmp_path))
    verdicts = read(folder, "verdicts.json")
    for key in ("skill", "inside", "models"):
        verdicts.pop(key, None)
    assert predictions.blocks(verdicts) == []


def test_the_page_of_all_papers_has_a_table_for_each_that_prints_numbers(tmp_path: Path) -> None:
    first, silent = replication(tmp_path, paper="first"), replication(tmp_path, paper="silent", printed=False)
    fitted: Any = {**SKILL, "used": 12, "left_out": [{**PREDICTION, "path": "protocol"}]}
    first["skill"], first["inside"], silent["skill"] = [fitted], [INSIDE], []  # type: ignore[list-item]
    about, table, left_out, inside = predictions.of_papers([first, silent])
    assert isinstance(about, Prose)
    assert isinstance(left_out, Table)
    assert left_out.caption == "first: fits with one column left out"
    assert isinstance(table, Table)
    assert table.caption == "first: our means next to the printed ones"
    assert isinstance(inside, Items)
    assert inside.items == ["first: Contradictions inside the publication: 1 of 12 pairs."]
    silent["inside"] = []
    assert predictions.of_papers([silent]) == []
    for used, why in (
        (0, "no interpretation is fitted to its printed numbers, so that no column can be left out of a fit"),
        (1, "its fits use 1 printed number, too few to leave a column out"),
    ):
        first["skill"] = [{**SKILL, "left_out": [], "used": used}]  # type: ignore[list-item]
        *_, items = predictions.of_papers([first])
        assert isinstance(items, Items)
        assert f"first: {why}." in items.items
