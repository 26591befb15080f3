import json
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from wirelab.experiment import library
from wirelab.experiment.programs.implementations import WorkloadKind
from wirelab.schema import registered
from wirelab.synonyms import meant

ROOT = Path(__file__).parents[2]
PROTOCOLS = [protocol.name for protocol in registered().protocols]


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("http2", "did you mean 'h2' or 'h2c'?"),
        ("HTTP/2", "did you mean 'h2' or 'h2c'?"),
        ("HTTP3", "did you mean 'h3'?"),
        ("quic", "did you mean 'h3' or 'mqtt+quic'?"),
        ("mqtt5", "MQTT 5 is 'mqtt' with the setting version = \"5\""),
    ],
)
def test_a_protocol_is_known_by_its_usual_names(word: str, hint: str) -> None:
    assert meant(word, PROTOCOLS) == hint


def test_a_synonym_depends_on_its_place() -> None:
    assert meant("size", ["upload", "timeout"]) == "did you mean 'upload'?"
    assert meant("size", ["rate", "queue"]) is None
    assert meant("latency", ["end-to-end-delay"]) == "did you mean 'end-to-end-delay'?"


def test_the_target_of_a_synonym_exists_and_is_not_a_synonym() -> None:
    text = (ROOT / "python/wirelab/data/synonyms.toml").read_text(encoding="utf-8")
    metrics = json.loads((ROOT / "schema/metrics.json").read_text(encoding="utf-8"))
    schema = (ROOT / "schema/experiment.json").read_text(encoding="utf-8")
    known = {*PROTOCOLS, *get_args(WorkloadKind), *library.profiles(), *(metric["name"] for metric in metrics)}
    for word, entry in tomllib.loads(text).items():
        assert word not in known
        for means in entry["means"]:
            assert means in known or f'"{means}": {{' in schema, f"{word}: {means}"
