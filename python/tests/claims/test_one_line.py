"""One-line models, by errors that were computed by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.claims.grids import LATE
from tests.claims.test_printed import FILE
from tests.documents import whole_estimates
from tests.synthetic import write_campaign
from wirelab.claims.interpretations import digest
from wirelab.claims.judge import judge_campaign
from wirelab.claims.load import load
from wirelab.claims.one_line import Cell, ModelTable, judged_by, means_s
from wirelab.claims.printed import printed
from wirelab.errors import CombinedError
from wirelab.schema.verdicts import read_verdicts

SHIPPED = Path(__file__).parents[2] / "wirelab" / "data" / "experiments"
GRID = ["protocol", "page"]
ROUNDS: list[list[Any]] = [["h1", "a", 4], ["h2", "a", 2], ["h1", "b", 1], ["h2", "b", 1]]
MODEL = """\
[[model]]
name = "round trips"
text = "two round trips"
metric = "delay"
per-round = "link.rtt"
rounds = [["http1", "lossless", 2], ["h3", "lossless", 2]]
"""


def _table(**more: object) -> ModelTable:
    written = {"name": "m", "text": "t", "metric": "time", "per-round": "100 ms", "rounds": ROUNDS}
    return ModelTable.model_validate({**written, **more})


def _constants(means: dict[Cell, float], **more: object) -> tuple[list[float], float | None]:
    found = judged_by(_table(**more), GRID, 0.1, means, {})["printed"]
    assert found is not None
    return [each["value_s"] for each in found["constants"]], found["error"]


def test_a_model_that_gives_every_mean_has_no_error() -> None:
    means: dict[Cell, float] = {("h1", "a"): 0.45, ("h2", "a"): 0.25, ("h1", "b"): 0.12, ("h2", "b"): 0.12}
    constants, error = _constants(means, constant="page")
    assert constants == pytest.approx([0.05, 0.02])
    assert error == pytest.approx(0.0)


def test_a_model_without_constants_that_is_off_by_a_factor_of_2_has_an_error_of_log_2() -> None:
    means: dict[Cell, float] = {("h1", "a"): 0.8, ("h2", "a"): 0.4, ("h1", "b"): 0.05}
    assert _constants(means) == ([], pytest.approx(math.log(2)))


def test_a_known_part_of_the_time_is_no_fitted_constant() -> None:
    assert _constants({("h1", "b"): 0.6}, plus="500 ms") == ([], pytest.approx(0.0))


def test_as_many_constants_as_means_leave_no_error() -> None:
    assert _constants({("h1", "a"): 0.9, ("h1", "b"): 0.2}, constant="page")[1] is None


def test_means_that_were_not_measured_leave_no_record() -> None:
    assert judged_by(_table(), GRID, 0.1, {("h1", "a"): 0.4}, {})["ours"] is None


def test_a_round_is_a_duration_or_the_level_of_a_choice() -> None:
    assert _table().round_s({"link.rtt": "2 ms"}) == 0.1
    table = _table(**{"per-round": "link.rtt"})
    assert table.round_s({"link.rtt": "2 ms"}) == 0.002
    assert table.round_s({}) is None


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ('"delay"\nper', '"dely"\nper', 'unknown metric ("dely")'),
        ('"link.rtt"\nrounds', '"link.rt"\nrounds', 'should be a duration or the path of a choice ("link.rt")'),
        ("rounds =", 'constant = "page"\nrounds =', 'unknown factor ("page")'),
        ("rounds =", 'interpretation = "wan"\nrounds =', 'unknown interpretation ("wan")'),
        ('["http1", "lossless", 2]', '["http1", 2]', "needs 2 levels and a number of rounds"),
        ('["http1", "lossless", 2]', '["http1", "clean", 2]', 'unknown level of link ("clean")'),
        ('["http1", "lossless", 2]', '["http1", "lossless"]', "needs levels, then a number of rounds"),
        ('["http1", "lossless", 2]', '["http1", "lossless", nan]', "should be a finite number (NaN)"),
        ('["http1", "lossless", 2]', '["http1", "lossless", -1]', "needs a number of rounds that is at least 0 (-1)"),
        ('["http1", "lossless", 2]', '["h3", "lossless", 1]', 'has the cell of a row before it (["h3", "lossless"])'),
    ],
)
def test_a_model_of_what_the_file_does_not_have_is_an_error(tmp_path: Path, old: str, new: str, wrong: str) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE.replace("[published]", MODEL.replace(old, new) + "[published]"))
    with pytest.raises(CombinedError) as error:
        load(path)
    assert wrong in str(error.value)
    assert "x.claims.toml:" in str(error.value)


def test_a_campaign_has_each_model_next_to_its_own_means(tmp_path: Path) -> None:
    file = tmp_path / "x.claims.toml"
    file.write_text(FILE.replace("[published]", MODEL + "[published]"))
    folder = write_campaign(
        tmp_path / "campaign", protocols=("http1", "h3"), links=("lossless", "random"), uploads=("30 B",),
        factors={"link.rtt": ["20 ms"]}, trials=6, claims=str(file),
    )  # fmt: skip
    estimates: Any = whole_estimates({})
    judge_campaign(folder, estimates)
    verdicts = read_verdicts(folder)
    assert verdicts is not None
    [model] = verdicts["models"]
    assert model["round_s"] == 0.02
    assert model["ours"] is not None
    assert model["ours"]["error"] == pytest.approx(0.0, abs=0.02)
    assert model["printed"] is not None
    assert model["printed"]["error"] == pytest.approx(math.log(41 / 40) / 2)


def test_models_do_not_thaw_what_is_frozen(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE)
    bare = digest(load(path).file, LATE)
    path.write_text(FILE.replace("[published]", MODEL + "[published]"))
    assert digest(load(path).file, LATE) == bare


def test_two_constants_give_the_seven_means_of_fischer2021_within_4_percent() -> None:
    claims = load(SHIPPED / "fischer2021.claims.toml")
    [table] = claims.file.model
    grid = list(claims.file.grid)
    found = judged_by(table, grid, 0.1, means_s(printed(claims), table.metric, grid), {})["printed"]
    assert found is not None
    assert (found["n"], len(found["constants"])) == (7, 2)
    assert found["error"] is not None
    assert found["error"] < 0.04


@pytest.mark.parametrize(("factors", "known"), [({"link.rtt": ["2 ms"]}, True), ({"client.cpu": ["none"]}, False)])
def test_without_an_interpretation_a_round_is_the_level_that_was_run(
    factors: dict[str, list[str]], known: bool, tmp_path: Path
) -> None:
    file = tmp_path / "x.claims.toml"
    file.write_text(FILE.replace("[published]", MODEL + "[published]").replace('primary = "lan"\n', ""))
    folder = write_campaign(
        tmp_path / "campaign", protocols=("http1", "h3"), links=("lossless", "random"), uploads=("30 B",),
        factors=factors, trials=6, claims=str(file),
    )  # fmt: skip
    estimates: Any = whole_estimates({})
    judge_campaign(folder, estimates)
    verdicts = read_verdicts(folder)
    assert verdicts is not None
    [model] = verdicts["models"]
    assert model["printed"] is not None
    assert (model["ours"] is not None) == known
    assert model["round_s"] == (0.002 if known else 0.02)
