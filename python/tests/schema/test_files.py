"""The JSON Schemas of a campaign's files, and that what Wirelab writes satisfies them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.asked import load_experiment
from tests.synthetic import write_campaign
from wirelab.claims.judge import judge_campaign
from wirelab.plan import make_plan
from wirelab.schema.files import FILES, text
from wirelab.stats.analyze import analyze

CHECKED_IN = Path(__file__).parents[3] / "schema"
CLAIMS = Path(__file__).parents[2] / "wirelab" / "data" / "experiments" / "milosevic2021.claims.toml"


@pytest.mark.parametrize("name", FILES)
def test_each_schema_is_a_schema_and_the_one_checked_in(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(text(name)))
    assert (CHECKED_IN / f"{name}.json").read_text(encoding="utf-8") == text(name), "run: make generate"


@pytest.mark.parametrize("name", ["quickstart", "milosevic2021"])
def test_a_plan_satisfies_its_schema(name: str) -> None:
    document = json.loads(json.dumps(make_plan(load_experiment(name)).to_json()))
    jsonschema.validate(document, json.loads(text("plan")))


def test_estimates_and_verdicts_satisfy_their_schemas(tmp_path: Path) -> None:
    write_campaign(tmp_path, uploads=("30 B",), trials=3, exchanges=5, claims=str(CLAIMS))
    judge_campaign(tmp_path, analyze(tmp_path))
    for name in ("estimates", "verdicts"):
        jsonschema.validate(json.loads((tmp_path / f"{name}.json").read_text()), json.loads(text(name)))
