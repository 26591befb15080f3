"""Every printed number against ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.replication.records import record
from wirelab.report.blocks import Figure, Grid, Legend, Prose
from wirelab.report.replication import pictures, printed, words
from wirelab.schema.replication import Replication


def _figures(found: Replication) -> list[Figure]:
    return [figure for block in printed.blocks(found) if isinstance(block, Grid) for figure in block.figures]


def _legend(found: Replication) -> str:
    return " ".join(block.text for block in printed.blocks(found) if isinstance(block, Prose))


def test_every_mark_is_explained_once_with_the_look_that_it_has(tmp_path: Path) -> None:
    found = record(tmp_path)
    [legend] = [block for block in printed.blocks(found) if isinstance(block, Legend)]
    assert [(entry.text, entry.shape) for entry in legend.entries] == [("H2", "square"), ("H3", "circle")]
    words = _legend(found)
    for mark in ("filled mark", "hollow one", "line is the 95 % interval", "grey line", "the band"):
        assert words.count(mark) == 1
    [figure] = _figures(found)
    assert "shape" not in figure.caption


def test_a_paper_with_an_outlier_rule_says_that_ours_are_without_it(tmp_path: Path) -> None:
    plain, ruled = record(tmp_path), record(tmp_path)
    ruled["outlier_rule"] = True
    for each in (plain, ruled):
        drawn = [figure for block in pictures.magnitudes([each]) if isinstance(block, Grid) for figure in block.figures]
        captions = [figure.caption for figure in [*drawn, *_figures(each)]]
        assert len(captions) == 2
        assert [words.RAW in caption for caption in captions] == [each["outlier_rule"]] * 2


def test_the_best_null_model_stands_next_to_ours(tmp_path: Path) -> None:
    """Of two printed numbers each is the constant that predicts the other."""
    found = record(tmp_path)
    assert [each["nulls"]["constant"] for each in found["numbers"]] == pytest.approx([0.03, 0.04])
    [without] = _figures(found)
    assert "null model" not in without.caption
    assert "grey cross" not in _legend(found)
    null = {"model": "constant", "n": 2, "error": 0.3, "error_seen": 0.1, "ours": 0.2, "score": {}}
    error = {"n": 2, "error": {}, "nulls": [null, {**null, "model": "protocol-median", "error": 0.9}]}
    found["skill"] = [{"interpretation": "lan", "error": error}]  # type: ignore[list-item]
    [with_nulls] = _figures(found)
    assert with_nulls.caption.endswith(" Best null model: one constant.")
    assert "A small grey cross is what the best null model predicts" in _legend(found)
    assert with_nulls.svg.count("<path") > without.svg.count("<path")
