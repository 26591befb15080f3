"""Orders that a publication's own numbers should have, by z that were computed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.claims.grids import LATE
from tests.claims.test_printed import FILE
from wirelab.claims.interpretations import digest
from wirelab.claims.load import Claims, load
from wirelab.claims.printed import orders_inside
from wirelab.errors import CombinedError

PRINTED = """\
[published]
unit = "ms"
sample-size = 100
statistics = ["mean", "sd"]
rows = [
  ["delay", "http1", "lossless", 40, 3],
  ["delay", "h3", "lossless", 30, 4],
  ["delay", "http1", "random", 80, 3],
  ["delay", "h3", "random", 28, 4],
]
"""
LOSS = """\
[[inside]]
title = "Loss does not shorten a delay"
why = "nothing is sent earlier"
metrics = ["delay"]
lower = { link = "lossless" }
upper = { link = "random" }
over = { protocol = ["http1", "h3"] }
"""
SHIPPED = Path(__file__).parents[2] / "wirelab" / "data" / "experiments"


def _load(folder: Path, inside: str, published: str = PRINTED) -> Claims:
    (folder / "x.claims.toml").write_text(FILE[: FILE.index("[published]")] + inside + published)
    return load(folder / "x.claims.toml")


def test_z_is_the_difference_in_standard_errors_of_printed_means(tmp_path: Path) -> None:
    [record] = orders_inside(_load(tmp_path, LOSS))
    [cell] = record["against"]
    assert (record["compared"], cell["lower"]["levels"]) == (2, {"link": "lossless", "protocol": "h3"})
    # 30 - 28 ms, and standard errors of 4 / 10 ms each.
    assert cell["difference"] == pytest.approx(2e-3)
    assert cell["z"] == pytest.approx(2 / (0.4 * 2**0.5))


def test_a_difference_that_chance_explains_is_not_against_the_order(tmp_path: Path) -> None:
    near = PRINTED.replace('"h3", "random", 28', '"h3", "random", 29')
    assert orders_inside(_load(tmp_path, LOSS, near))[0]["against"] == []


def test_a_factor_scales_the_upper_mean_and_its_error(tmp_path: Path) -> None:
    swapped = LOSS.replace('lower = { link = "lossless"', 'lower = { link = "random"')
    twice = swapped.replace('upper = { link = "random"', 'upper = { link = "lossless"') + "factor = 1.5\n"
    [cell] = orders_inside(_load(tmp_path, twice))[0]["against"]
    assert cell["difference"] == pytest.approx(20e-3)
    assert cell["z"] == pytest.approx(20 / (0.3**2 + 0.45**2) ** 0.5)


def test_without_a_sample_size_there_is_no_z_and_any_difference_counts(tmp_path: Path) -> None:
    [cell] = orders_inside(_load(tmp_path, LOSS, PRINTED.replace("sample-size = 100\n", "")))[0]["against"]
    assert cell["z"] is None


def test_values_that_are_printed_one_by_one_have_their_own_number(tmp_path: Path) -> None:
    rows = '["delay", "h3", "lossless", [30, 32]], ["delay", "h3", "random", [20, 22]]'
    values = f'[published]\nunit = "ms"\nvalues = [{rows}]\n'
    [cell] = orders_inside(_load(tmp_path, LOSS.replace('"http1", ', ""), values))[0]["against"]
    assert cell["z"] == pytest.approx(10 / 2**0.5)


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ('metrics = ["delay"]', 'metrics = ["dely"]', 'unknown metric ("dely")'),
        ('{ link = "lossless" }', '{ link = "lossles" }', 'unknown level of link ("lossles")'),
        ('{ link = "lossless" }', '{ lnk = "lossless" }', 'unknown factor ("lnk")'),
        ('over = { protocol = ["http1", "h3"] }\n', "", 'the publication prints no such mean ("delay lossless")'),
    ],
)
def test_a_mean_that_is_not_printed_is_an_error(tmp_path: Path, old: str, new: str, wrong: str) -> None:
    with pytest.raises(CombinedError) as error:
        _load(tmp_path, LOSS.replace(old, new))
    assert wrong in str(error.value)


def test_orders_do_not_thaw_what_is_frozen(tmp_path: Path) -> None:
    bare = digest(_load(tmp_path, "").file, LATE)
    assert digest(_load(tmp_path, LOSS).file, LATE) == bare


def test_milosevic2021_contradicts_itself_by_ten_and_by_thirty_standard_errors() -> None:
    records = orders_inside(load(SHIPPED / "milosevic2021.claims.toml"))
    found = {
        (cell["lower"]["metric"], *cell["lower"]["levels"].values()): round(cell["z"] or 0)
        for record in records
        for cell in record["against"]
        if record["factor"] == 1
    }
    assert found["end-to-end-delay", "lossless", "http1", "30 B"] == 10
    assert found["response-time", "lossless", "http1", "30 B"] == 30
    assert found["response-time", "lossless", "h2", "30 B"] == 46
    assert next(each for each in records if each["title"].startswith("Random"))["against"] == []
