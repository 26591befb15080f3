"""Records of a trial and their digests: whatever is missing, cut or changed is found."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import polars as pl
import pytest

from tests.documents import whole_result
from tests.repeats import repeats
from wirelab.schema.records import damage, sync_records

SAMPLED = repeats(200)
"""Places of each file that are cut and flipped; `make nightly` takes every byte."""
FILES = ("result.json", "client/exchanges.arrow", "client/settings-seen.json", "client/lines.jsonl", "packets.wlpl")


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    folder = tmp_path / "t"
    (folder / "client" / "qlog").mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(whole_result({"link": {"directions": [{}]}})))
    pl.DataFrame({"index": range(50), "outcome": ["completed"] * 50}).write_ipc(folder / "client" / "exchanges.arrow")
    (folder / "client" / "settings-seen.json").write_text('{"client": {}, "server": {}, "connections": 1}')
    (folder / "client" / "lines.jsonl").write_text('{"index": 0}\n{"index": 1}\n')
    (folder / "packets.wlpl").write_bytes(bytes(range(256)))
    (folder / "client" / "qlog" / "of-a-program").write_text("deeper")
    return folder


def places(content: bytes) -> list[int]:
    chance = random.Random(len(content))
    everywhere = range(len(content))
    return list(everywhere) if len(content) <= SAMPLED else chance.sample(everywhere, SAMPLED)


def test_records_are_the_files_of_a_trial_and_of_its_endpoints(trial: Path) -> None:
    (trial / "client" / "link").symlink_to(trial / "result.json")
    os.mkfifo(trial / "client" / "fifo")
    assert sorted(sync_records(trial)) == sorted(FILES)


@pytest.mark.parametrize("name", FILES)
def test_every_cut_and_every_flipped_byte_of_a_record_is_found(trial: Path, name: str) -> None:
    records = sync_records(trial)
    assert damage(trial, records, done=True) is None
    path = trial / name
    content = path.read_bytes()
    torn = f"its record {name} was changed, or is torn"
    for place in places(content):
        path.write_bytes(content[:place])
        assert damage(trial, records, done=True) == torn
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        assert damage(trial, records, done=True) == torn
    path.write_bytes(content)
    assert damage(trial, records, done=True) is None
    path.unlink()
    assert damage(trial, records, done=True) == f"its record {name} is missing"


@pytest.mark.parametrize("name", ["result.json", "client/exchanges.arrow", "client/settings-seen.json"])
def test_without_digests_a_record_that_is_cut_is_found_by_reading_it(trial: Path, name: str) -> None:
    path = trial / name
    content = path.read_bytes()
    assert damage(trial, None, done=True) is None
    for place in places(content):
        path.write_bytes(content[:place])
        assert damage(trial, None, done=True) is not None, place
    path.unlink()
    found = damage(trial, None, done=True)
    assert found == (None if "settings" in name else f"its record {name} is missing")


def test_a_link_or_a_folder_in_a_records_place_is_not_the_record(trial: Path) -> None:
    records = sync_records(trial)
    path = trial / "result.json"
    elsewhere = trial.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert damage(trial, records, done=True) == "its record result.json is a symbolic link"
    path.unlink()
    path.mkdir()
    assert damage(trial, records, done=True) == "its record result.json was changed, or is torn"


def test_a_trial_whose_folder_is_gone_has_lost_its_records(trial: Path) -> None:
    records = sync_records(trial)
    gone = trial.with_name("gone")
    trial.rename(gone)
    assert damage(trial, records, done=True) == "its record client/exchanges.arrow is missing"
    assert damage(trial, None, done=True) == "its folder is missing, or cannot be read"
    gone.rename(trial.with_name("t"))
    assert damage(trial, {}, done=False) is None
