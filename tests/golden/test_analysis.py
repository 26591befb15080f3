"""A small kept dataset gives the kept estimates and verdicts.

After a change that is meant to change numbers, run it with WIRELAB_UPDATE_GOLDEN=1 and read the difference.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.golden.differences import differences

import wirelab.data
from tests.documents import whole_plan
from wirelab.claims.judge import judge_campaign
from wirelab.metrics.exchange_rows import EXCHANGE_TYPES
from wirelab.metrics.tables import write_table
from wirelab.metrics.trial_rows import TRIAL_TYPES
from wirelab.stats.analyze import analyze

GOLDEN = Path(__file__).parent / "analysis"
CLAIMS = Path(str(wirelab.data.__file__)).parent / "experiments" / "milosevic2021.claims.toml"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    for name, types in (
        ("exchanges.parquet", EXCHANGE_TYPES | {"disturbed": pl.Boolean}),
        ("trials.parquet", TRIAL_TYPES),
    ):
        table = pl.read_parquet(GOLDEN / name)
        absent = [pl.lit(None, dtype=kind).alias(each) for each, kind in types.items() if each not in table.columns]
        table.with_columns(absent).pipe(write_table, folder / name)
    plan = json.loads((GOLDEN / "plan.json").read_text())
    plan["experiment"]["claims"] = str(CLAIMS)
    (folder / "plan.json").write_text(json.dumps(whole_plan(plan)))
    judge_campaign(folder, analyze(folder))
    return folder


@pytest.mark.xdist_group("golden")
@pytest.mark.parametrize("name", ["estimates.json", "verdicts.json"])
def test_the_golden_dataset_gives_the_golden(campaign: Path, name: str) -> None:
    if os.environ.get("WIRELAB_UPDATE_GOLDEN"):
        shutil.copy(campaign / name, GOLDEN)
    made, kept = (json.loads((folder / name).read_text()) for folder in (campaign, GOLDEN))
    found = [each for each in differences(made, kept, name) if "claims_sha256" not in each]
    assert not found, "\n".join(found[:20])
