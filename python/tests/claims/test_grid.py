"""Which points of the grid of choices a campaign's verdicts belong to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.claims.grids import FILE
from wirelab.claims.grid import AS_RUN, Grid
from wirelab.claims.load import Claims, load
from wirelab.schema.verdicts import ChoiceVerdict, OverGrid

VARIED = {"link.rtt", "workload.connection"}


@pytest.fixture
def claims(tmp_path: Path) -> Claims:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE)
    return load(path)


def _row(verdict: Any, point: float | None = None, **levels: str) -> ChoiceVerdict:
    ours: Any = None if point is None else {"point": point}
    named: Any = {{"rtt": "link.rtt", "connection": "workload.connection"}.get(k, k): v for k, v in levels.items()}
    return {"levels": named, "verdict": verdict, "missing": False, "link": None, "ours": ours}


def _over(grid: Grid, claim: int, *rows: ChoiceVerdict) -> OverGrid:
    found = grid.of_claim(grid.claims.claims[claim], rows)
    assert found is not None
    return found


def test_a_choice_that_a_scenario_does_not_name_is_at_its_first_level(claims: Claims) -> None:
    rows = (
        _row("confirmed", 1.1, rtt="20 ms", delay="end-to-end-delay"),
        _row("contradicted", 0.9, rtt="20 ms", connection="persistent", delay="end-to-end-delay"),
        _row("confirmed", 1.5, rtt="2ms", delay="end-to-end-delay"),
    )
    found = _over(Grid(claims, VARIED), 1, *rows)
    assert (found["size"], found["points"], found["confirmed"], found["contradicted"]) == (12, 3, 2, 1)
    assert found["deciding"] == {"path": "workload.connection", "flips": 1, "pairs": 1}
    assert found["effect"] is not None
    assert found["effect"]["largest"]["levels"] == {
        "link.rtt": "2 ms", "workload.connection": "new", "delay": "end-to-end-delay",
    }  # fmt: skip
    assert found["interpretations"] == {"lan": "confirmed", "calibrated": None}


def test_no_claim_is_counted_at_an_interpretation_that_was_fitted_to_it(claims: Claims) -> None:
    rows = [_row("contradicted", rtt="20 ms"), _row("confirmed", rtt="4 ms")]
    levels = [{**row["levels"], "delay": "end-to-end-delay"} for row in rows]
    named = [ChoiceVerdict({**row, "levels": each}) for row, each in zip(rows, levels, strict=True)]
    touched, other = (_over(Grid(claims, VARIED), claim, *named) for claim in (0, 1))
    assert (touched["points"], touched["confirmed"], touched["fitted"]) == (1, 0, 1)
    assert touched["interpretations"]["calibrated"] == "fitted"
    assert (other["points"], other["confirmed"], other["fitted"]) == (2, 1, 0)


def test_the_meaning_of_a_metric_is_no_choice_for_a_claim_that_does_not_use_it(claims: Claims) -> None:
    found = _over(Grid(claims, VARIED), 2, _row("confirmed", rtt="2 ms"), _row("confirmed", rtt="4 ms"))
    assert (found["size"], found["robust"]) == (6, True)
    assert found["interpretations"]["lan"] == "confirmed"


def test_metrics_change_their_meaning_together_with_the_first_that_is_open(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE.replace('size = ["wire-bytes"]', 'size = ["wire-bytes", "wire-up-bytes"]'))
    claims = load(path)
    rows = (
        _row("confirmed", rtt="2 ms", delay="end-to-end-delay"),
        _row("contradicted", rtt="2 ms", delay="response-time"),
    )
    found = _over(Grid(claims, VARIED), 2, *rows)
    assert (found["size"], found["points"]) == (12, 2)
    assert found["deciding"] == {"path": "delay", "flips": 1, "pairs": 1}
    assert found["interpretations"]["lan"] == "confirmed"


def test_a_choice_whose_levels_a_claim_compares_is_no_choice_for_it(tmp_path: Path) -> None:
    """Its verdict is the same at all of them, and counts once: that of the row which was run."""
    connections = '[choices]\n"workload.connection" = ["new", "persistent"]\n[grid]'
    ascending = 'ascending = [{ protocol = "h2" }, { protocol = "h3" }]'
    compared = 'ascending = [{ "workload.connection" = "persistent" }, { "workload.connection" = "new" }]'
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE.replace("[grid]", connections).replace(ascending, compared))
    grid = Grid(load(path), {"link.rtt", "workload.connection"})
    assert "workload.connection" in grid.paths(grid.claims.claims[0])
    assert "workload.connection" not in grid.paths(grid.claims.claims[2])
    missing: Any = {**_row("inconclusive", **{"link.rtt": "2 ms", "workload.connection": "new"}), "missing": True}
    ran = _row("confirmed", **{"link.rtt": "2 ms", "workload.connection": "persistent"})
    assert (_over(grid, 0, missing, ran)["points"], _over(grid, 2, missing, ran)["points"]) == (1, 1)
    again = _row("confirmed", **{"link.rtt": "2 ms", "workload.connection": "new"})
    assert (_over(grid, 0, again, ran)["points"], _over(grid, 2, again, ran)["points"]) == (2, 1)


def test_a_level_that_is_not_of_the_grid_is_outside(claims: Claims) -> None:
    found = _over(Grid(claims, VARIED), 2, _row("confirmed", rtt="2 ms"), _row("contradicted", rtt="7 ms"))
    assert (found["points"], found["outside"], found["contradicted"]) == (1, 1, 0)
    other = _over(Grid(claims, VARIED), 2, _row("confirmed", rtt="2 ms"), _row("confirmed", rtt="2 ms", jitter="5 ms"))
    assert (other["points"], other["outside"]) == (1, 1)


def test_a_choice_that_a_campaign_does_not_vary_is_not_guessed(claims: Claims) -> None:
    rows = (_row("confirmed", 1.0, rtt="2 ms"), _row("confirmed", 2.0, rtt="4 ms"))
    found = _over(Grid(claims, {"link.rtt"}), 2, *rows)
    assert found["points"] == 2
    assert found["effect"] is not None
    assert found["effect"]["least"]["levels"]["workload.connection"] == AS_RUN
    assert found["interpretations"]["lan"] is None
    given = _over(Grid(claims, {"link.rtt"}, {"workload.connection": "new"}), 2, *rows)
    assert given["interpretations"]["lan"] == "confirmed"


def test_a_first_level_that_is_unset_is_that_of_each_campaign_that_does_not_name_the_choice(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE.replace('levels = ["new", "persistent"]', 'levels = ["unset", "persistent"]'))
    found = _over(Grid(load(path), {"link.rtt"}), 2, _row("confirmed", rtt="2 ms"), _row("confirmed", rtt="4 ms"))
    assert found["interpretations"]["lan"] == "confirmed"


def test_one_point_without_declared_choices_gives_no_record(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE[: FILE.index("[[choice]]")].replace('primary = "lan"\n', "") + FILE[FILE.index("[[claim]]") :])
    grid = Grid(load(path))
    assert grid.of_claim(grid.claims.claims[2], [_row("confirmed")]) is None
    several = grid.of_claim(grid.claims.claims[2], [_row("confirmed", rtt="2 ms"), _row("contradicted", rtt="9 ms")])
    assert several is not None
    assert several["size"] is None
    assert several["deciding"] == {"path": "link.rtt", "flips": 1, "pairs": 1}


def test_the_record_says_whether_the_grid_is_frozen_and_what_was_written_after_the_fact(claims: Claims) -> None:
    record = Grid(claims).record()
    assert (record["frozen"], record["primary"]) == (None, "lan")
    assert [each["after_the_fact"] for each in record["interpretations"]] == [False, True]
    assert record["interpretations"][1]["used"] == 1
    assert record["interpretations"][0]["levels"]["workload.connection"] == "new"


def test_a_choice_of_a_link_that_a_claim_does_not_name_is_no_choice_of_it(tmp_path: Path) -> None:
    """Two points that differ in it alone are one."""
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE.replace('path = "workload.connection"', 'path = "links.clean.delay"'))
    claims = load(path)
    lossy, clean = claims.claims[:2]
    grid = Grid(claims, {"link.rtt", "links.clean.delay"})
    assert "links.clean.delay" not in grid.paths(lossy)
    assert "links.clean.delay" in grid.paths(clean)
    rows = [
        ChoiceVerdict({
            "levels": {"link.rtt": "2 ms", "links.clean.delay": level, "delay": "end-to-end-delay"},
            "verdict": "confirmed", "missing": False, "link": None,
        })
        for level in ("new", "persistent")
    ]  # fmt: skip
    assert _over(grid, 0, *rows)["points"] == 1
