"""A small kept dataset gives the kept estimates and verdicts.

After a change that is meant to change numbers, run it with WIRELAB_UPDATE_GOLDEN=1 and read the difference.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wirelab.data
from wirelab import claims, stats
from wirelab.metrics.dataset import TRIAL_TYPES

GOLDEN = Path(__file__).parent / "analysis"
CLAIMS = Path(str(wirelab.data.__file__)).parent / "experiments" / "milosevic2021.claims.toml"


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    shutil.copy(GOLDEN / "exchanges.parquet", folder)
    trials = pl.read_parquet(GOLDEN / "trials.parquet")
    absent = [pl.lit(None, dtype=kind).alias(name) for name, kind in TRIAL_TYPES.items() if name not in trials.columns]
    trials.with_columns(absent).write_parquet(folder / "trials.parquet")
    plan = json.loads((GOLDEN / "plan.json").read_text())
    plan["experiment"]["claims"] = str(CLAIMS)
    (folder / "plan.json").write_text(json.dumps(plan))
    claims.judge(folder, stats.analyze(folder))
    return folder


@pytest.mark.parametrize("name", ["estimates.json", "verdicts.json"])
def test_the_kept_dataset_gives_the_kept(campaign: Path, name: str) -> None:
    if os.environ.get("WIRELAB_UPDATE_GOLDEN"):
        shutil.copy(campaign / name, GOLDEN)
    made, kept = (json.loads((folder / name).read_text()) for folder in (campaign, GOLDEN))
    differences = list(_differences(made, kept, name))
    assert not differences, "\n".join(differences[:20])


def _differences(made: Any, kept: Any, where: str) -> Any:
    """Paths at which the two differ; numbers may by the last bits."""
    if isinstance(made, dict) and isinstance(kept, dict) and made.keys() == kept.keys():
        for key in made:
            yield from _differences(made[key], kept[key], f"{where}.{key}")
    elif isinstance(made, list) and isinstance(kept, list) and len(made) == len(kept):
        for index, (one, other) in enumerate(zip(made, kept, strict=True)):
            yield from _differences(one, other, f"{where}[{index}]")
    elif isinstance(made, float) and isinstance(kept, int | float):
        if not math.isclose(made, kept, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{where}: {made} instead of {kept}"
    elif made != kept and not where.endswith("claims_sha256"):
        yield f"{where}: {made!r} instead of {kept!r}"
