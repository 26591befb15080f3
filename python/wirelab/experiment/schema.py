"""`python -m wirelab.experiment.schema` prints the JSON Schema of experiment files, for editors (`#:schema`)."""

from __future__ import annotations

import json
import sys

from wirelab.experiment.file.model import ExperimentFile


def experiment_schema() -> str:
    """The schema as text, the same for the same models."""
    schema = ExperimentFile.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(experiment_schema())
