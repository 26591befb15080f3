"""`wirelab clock compare`, on simulated campaigns."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from tests.cli.test_main import run
from tests.stats.compare.test_clocks import DELAY, edit_exchanges, write_pair


def test_each_scenario_has_its_medians_and_its_tails(tmp_path: Path) -> None:
    live, virtual = write_pair(tmp_path, protocols=("http1",))
    code, out, err = run("clock", "compare", str(live), str(virtual))
    lines = out.splitlines()
    assert code == 0
    assert [line.split()[:3] for line in lines[2:4]] == [["http1", "lossless", "30"], ["http1", "random", "30"]]
    assert "reference" in lines[2]
    assert lines[6].startswith("scenario")
    assert "within 1.25" in lines[6]
    assert lines[-1].startswith("2 scenarios: ")
    assert "different builds" not in err


def test_a_scenario_that_differs_is_an_exit_code(tmp_path: Path) -> None:
    live, virtual = write_pair(tmp_path, protocols=("http1",))
    lossy = pl.col("client_retransmissions") > 0
    edit_exchanges(live, pl.when(lossy).then(pl.col(DELAY) * 2).otherwise(DELAY).alias(DELAY))
    code, out, err = run("clock", "compare", str(live), str(virtual), "--json")
    assert code == 1
    found = json.loads(out)
    assert found["metric"] == "end-to-end-delay"
    assert err == ""
    cells = {cell["name"]: cell for cell in found["cells"]}
    assert cells["http1 random 30 B 20 ms"]["verdict"] == "differs"
    assert [each["name"] for each in cells["http1 lossless 30 B 20 ms"]["measures"]] == [
        "late-share",
        "p95",
        "distance",
    ]


def test_what_cannot_be_compared_is_one_error(tmp_path: Path) -> None:
    live, virtual = write_pair(tmp_path, exchanges=1)
    code, out, err = run("clock", "compare", str(virtual), str(live))
    assert (code, out) == (2, "")
    assert "ran under the virtual clock" in err
    code, _, err = run("clock", "compare", str(live), str(tmp_path / "nothing"))
    assert code == 2
    assert "no campaign" in err
    (virtual / "exchanges.parquet").unlink()
    code, _, err = run("clock", "compare", str(live), str(virtual))
    assert code == 2
    assert "has no exchanges.parquet" in err
    assert "hint: wirelab " in err
