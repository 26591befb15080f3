import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from tests.described import BASE
from wirelab.experiment.library import experiment_file, experiment_names
from wirelab.experiment.schema import experiment_schema

CHECKED_IN = Path(__file__).parents[3] / "schema" / "experiment.json"


def test_the_schema_for_editors_is_the_one_checked_in() -> None:
    assert CHECKED_IN.read_text(encoding="utf-8") == experiment_schema(), "run: make generate"


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(experiment_schema()))


@pytest.mark.parametrize("name", experiment_names())
def test_shipped_experiments_satisfy_it(name: str) -> None:
    document = tomllib.loads(experiment_file(name).read_text(encoding="utf-8"))
    jsonschema.validate(document, json.loads(experiment_schema()))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('rtt = "20 ms"', "rtt = 20"),
        ("[links.wire]", "[linkz.wire]"),
        ("replicates = 3", "replicates = 0"),
        ("title", "titel"),
    ],
)
def test_common_mistakes_do_not_satisfy_the_schema(old: str, new: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(BASE.replace(old, new, 1)), json.loads(experiment_schema()))
