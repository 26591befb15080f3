"""Which choice decides a claim."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.replication.records import record
from wirelab.report.replication.deciding import deciding, most_changing
from wirelab.schema.replication import ReplicatedClaim, Replication


@pytest.fixture
def found(tmp_path: Path) -> Replication:
    return record(tmp_path)


def _unturned(found: Replication) -> ReplicatedClaim:
    claim = found["claims"][0]
    assert claim["over_grid"] is not None
    claim["over_grid"]["deciding"] = None
    claim["points"][0]["standing"], claim["points"][1]["standing"] = "inconclusive", "contradicted"
    for point in claim["points"]:
        point["n"] = 100
    return claim


def test_the_choice_that_turns_the_verdict_has_its_pairs(found: Replication) -> None:
    assert deciding(found["claims"][0], found).text == "round trip (1 of 1)"


def test_without_one_the_choice_stands_that_changes_the_verdict(found: Replication) -> None:
    cell = deciding(_unturned(found), found)
    assert cell.text == "round trip (contradicted or inconclusive: 1 of 1)"
    assert cell.title == "changes the verdict in 1 of 1 pairs of points that differ in it alone"


def test_a_choice_does_not_decide_what_the_number_of_values_may(found: Replication) -> None:
    claim = _unturned(found)
    claim["points"][1]["n"] = 126
    assert most_changing(claim, found) is None
    assert deciding(claim, found).reason == "no choice alone decides it in half of its pairs"
    claim["points"][1]["n"] = 125
    assert most_changing(claim, found) is not None


def test_a_difference_below_one_percent_changes_nothing(found: Replication) -> None:
    claim = _unturned(found)
    claim["points"][0]["value"], claim["points"][1]["value"] = 1.0003, 0.9998
    assert most_changing(claim, found) is None


def test_two_verdicts_that_are_not_decided_are_no_decision(found: Replication) -> None:
    claim = _unturned(found)
    claim["points"][1]["standing"] = "depends-on-outlier-rule"
    assert most_changing(claim, found) is None


def test_one_verdict_everywhere_is_said(found: Replication) -> None:
    claim = _unturned(found)
    claim["points"][1]["standing"] = "inconclusive"
    assert deciding(claim, found).reason == "it has the same verdict at every point that was run"
