"""The numbers that a publication prints, next to a campaign's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.claims.grids import LATE
from tests.documents import whole_estimates
from tests.synthetic import write_campaign
from wirelab.claims.judge import judge_campaign
from wirelab.claims.load import Claims, load
from wirelab.claims.printed import null_cell, printed, published_numbers
from wirelab.errors import CombinedError
from wirelab.schema.verdicts import read_verdicts

FILE = """\
paper = "example"
primary = "lan"
[metrics]
delay = ["end-to-end-delay"]
[grid]
protocol = ["http1", "h3"]
link = ["lossless", "random"]
[[choice]]
path = "link.rtt"
title = "round trip"
levels = ["20 ms", "2 ms"]
[[interpretation]]
name = "lan"
title = "a local network"
basis = "text"
why = "it says so"
levels = { "link.rtt" = "2 ms" }
[[interpretation]]
name = "slow"
title = "fitted to a number"
basis = "fitted"
why = "it fits"
levels = { "link.rtt" = "20 ms" }
used = [["delay", "*", "lossless", "mean"]]
[[interpretation]]
name = "jittery"
title = "a rival"
basis = "rival"
why = "jitter"
levels = { "link.rtt" = "20 ms" }
[[claim]]
id = "C1"
text = "h3 is slower"
[[claim.part]]
form = "order"
metric = "delay"
where = { link = "random" }
ascending = [{ protocol = "http1" }, { protocol = "h3" }]
[published]
unit = "ms"
statistics = ["mean"]
rows = [
  ["delay", "http1", "lossless", 40],
  ["delay", "h3", "lossless", 41],
  ["delay", "http1", "random", 80],
]
values = [["delay", "h3", "random", [100, 102]]]
"""


def _load(folder: Path, text: str = FILE) -> Claims:
    (folder / "x.claims.toml").write_text(text)
    return load(folder / "x.claims.toml")


def test_numbers_are_in_base_units_and_printed_values_have_mean_and_sd(tmp_path: Path) -> None:
    numbers = {(statistic, *sorted(dict(at).values())): value for (_, statistic, at), value in
               printed(_load(tmp_path)).items()}  # fmt: skip
    assert numbers == pytest.approx(
        {
            ("mean", "http1", "lossless"): 0.04, ("mean", "h3", "lossless"): 0.041, ("mean", "http1", "random"): 0.08,
            ("mean", "h3", "random"): 0.101, ("sd", "h3", "random"): 2**0.5 * 1e-3,
        }
    )  # fmt: skip
    assert {each["metric"] for each in published_numbers(_load(tmp_path))} == {"end-to-end-delay"}


def test_the_null_cell_is_the_first_level_of_the_second_factor_unless_the_file_names_one(tmp_path: Path) -> None:
    assert null_cell(_load(tmp_path).file) == {"link": "lossless"}
    named = FILE.replace('primary = "lan"', 'primary = "lan"\nnull-cell = { link = "random" }')
    assert null_cell(_load(tmp_path, named).file) == {"link": "random"}
    one_factor = FILE[: FILE.index("[published]")].replace('link = ["lossless", "random"]\n', "")
    one_factor = one_factor.replace('where = { link = "random" }\n', "").replace('"lossless", "mean"', '"mean"')
    assert null_cell(_load(tmp_path, one_factor).file) == {}


@pytest.mark.parametrize(
    ("cell", "wrong"),
    [('{ link = "clean" }', 'unknown level of link ("clean")'), ('{ size = "1" }', 'unknown factor ("size")')],
)
def test_a_null_cell_that_the_grid_does_not_have_is_an_error(tmp_path: Path, cell: str, wrong: str) -> None:
    with pytest.raises(CombinedError) as error:
        _load(tmp_path, FILE.replace('primary = "lan"', f'primary = "lan"\nnull-cell = {cell}'))
    assert wrong in str(error.value)


def test_naming_a_null_cell_does_not_thaw_what_is_frozen(tmp_path: Path) -> None:
    from wirelab.claims.interpretations import digest

    named = FILE.replace('primary = "lan"', 'primary = "lan"\nnull-cell = { link = "random" }')
    assert digest(_load(tmp_path).file, LATE) == digest(_load(tmp_path, named).file, LATE)


def test_a_campaign_has_the_skill_of_each_interpretation_that_it_ran(tmp_path: Path) -> None:
    file = tmp_path / "x.claims.toml"
    file.write_text(FILE)
    folder = write_campaign(
        tmp_path / "campaign", protocols=("http1", "h3"), links=("lossless", "random"), uploads=("30 B",),
        factors={"link.rtt": ["20 ms"]}, trials=6, claims=str(file),
    )  # fmt: skip
    estimates: Any = whole_estimates({})
    judge_campaign(folder, estimates)
    verdicts = read_verdicts(folder)
    assert verdicts is not None
    skill = {each["interpretation"]: each for each in verdicts["skill"]}
    assert set(skill) == {"slow", "jittery"}
    slow = skill["slow"]
    assert (slow["knobs"], slow["used"], slow["predicted"], slow["missing"]) == (0, 2, 3, 0)
