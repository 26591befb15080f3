"""`python -m wirelab.experiment.schema` prints the JSON Schema of experiment files, for editors (`#:schema`)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from wirelab.experiment.file.model import ExperimentFile
from wirelab.units import format_duration, format_share, format_size

_WRITTEN: Mapping[str, Callable[[float], str]] = {
    "%": format_share,
    "ms": format_duration,
    "s": format_duration,
    "B": format_size,
    "kB": format_size,
}
"""How a default is written, by the unit of a key's example."""


def experiment_schema() -> str:
    """The schema as text, keys in the order in which the models have them."""
    schema = ExperimentFile.model_json_schema(by_alias=True)
    for table in (schema, *schema["$defs"].values()):
        for each in table.get("properties", {}).values():
            _as_written(each)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _as_written(key: dict[str, Any]) -> None:
    """Give a key's default as a file has it; what is nothing, or a whole table, says no more than its keys do."""
    default = key.get("default")
    if default is None or isinstance(default, dict):
        key.pop("default", None)
    elif key.get("type") == "string" and not isinstance(default, str):
        key["default"] = _WRITTEN[key["examples"][0].rpartition(" ")[2]](default)


if __name__ == "__main__":
    sys.stdout.write(experiment_schema())
