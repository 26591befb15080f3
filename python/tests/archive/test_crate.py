"""What an archive says of itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.report import campaigns
from wirelab.archive.crate import METADATA, Content, digests, metadata
from wirelab.schema.campaign import read_plan
from wirelab.schema.record import read_record

CONTENTS = [
    Content("plan.json", 3, "ab"),
    Content("trials/a/packets.wlpl", 4, "cd"),
    Content("estimates.json", 5, "ef"),
]


@pytest.fixture
def text(tmp_path: Path) -> str:
    folder = campaigns.write(tmp_path / "c")
    record = read_record(folder)
    assert record is not None
    run = {"began": "2026-11-21T10:00:00Z", "ended": "2026-11-21T10:01:00Z", "claims_sha256": None}
    known = type(record).model_validate({**record.model_dump(mode="json"), "runs": [run]})
    return metadata(read_plan(folder), known, CONTENTS, None)


def test_every_reference_leads_to_an_entity(text: str) -> None:
    graph = json.loads(text)["@graph"]
    known = {each["@id"] for each in graph}

    def referred(value: object) -> list[str]:
        if isinstance(value, list):
            return [name for each in value for name in referred(each)]
        return [str(value["@id"])] if isinstance(value, dict) else []

    named = {name for each in graph for key, value in each.items() if key != "@id" for name in referred(value)}
    assert {name for name in named if not name.startswith("https://w3id.org/ro/crate")} <= known
    assert METADATA in known


def test_each_file_has_its_digest_its_size_and_its_kind(text: str) -> None:
    assert digests(text) == {"plan.json": "ab", "trials/a/packets.wlpl": "cd", "estimates.json": "ef"}
    files = {each["@id"]: each for each in json.loads(text)["@graph"] if each["@type"] == "File"}
    assert files["plan.json"]["encodingFormat"] == "application/json"
    assert files["trials/a/packets.wlpl"]["contentSize"] == "4"


def test_without_a_licence_it_says_so(text: str) -> None:
    [licence] = [each for each in json.loads(text)["@graph"] if each["@id"] == "#licence"]
    assert licence["description"] == "The authors of this archive name no licence."
