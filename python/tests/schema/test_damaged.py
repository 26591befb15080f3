"""Damaged files of a campaign: one error that names the file and the key, and no traceback.

What is damage is asked of the JSON Schemas, so that what a schema allows is read and what it refuses is not.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import polars as pl
import pytest
from click.testing import CliRunner
from pydantic import TypeAdapter

from tests.damaging import places
from tests.documents import whole_record, whole_result
from tests.synthetic import write_campaign
from wirelab.claims.judge import judge_campaign
from wirelab.cli import main
from wirelab.errors import WirelabError
from wirelab.metrics import tables
from wirelab.metrics.exchange_rows import EXCHANGE_TYPES
from wirelab.metrics.tables import read_table, require_whole, write_table
from wirelab.metrics.trial_rows import TRIAL_TYPES
from wirelab.schema import exchange_columns
from wirelab.schema.campaign import JournalEntry, read_journal, read_plan, read_result
from wirelab.schema.estimates import read_energy_model, read_estimates
from wirelab.schema.files import FILES
from wirelab.schema.host import TrialResult
from wirelab.schema.record import read_record
from wirelab.schema.verdicts import read_verdicts
from wirelab.stats.analyze import analyze

CLAIMS = Path(__file__).parents[2] / "wirelab" / "data" / "experiments" / "milosevic2021.claims.toml"
RESULT = "trials/result.json"
READERS: dict[str, Callable[[Path], object]] = {
    "plan.json": read_plan,
    "campaign.json": read_record,
    "estimates.json": read_estimates,
    "verdicts.json": read_verdicts,
    "energy.json": lambda folder: read_energy_model(folder / "energy.json"),
    RESULT: lambda folder: read_result(folder / RESULT),
}
TABLES = {
    "exchanges.parquet": {name: EXCHANGE_TYPES[name] for name in exchange_columns(["request-response"])}
    | {"disturbed": pl.Boolean},
    "trials.parquet": TRIAL_TYPES,
}
EACH = 300
"""Damaged documents of each kind; with those of tables and journals more than 2,000 files."""
WRONG: tuple[Any, ...] = ({"a": 1}, [1], "word", -7, 0.5, True, None)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    write_whole(folder)
    return folder


def write_whole(folder: Path) -> None:
    """A small campaign with every file."""
    write_campaign(
        folder, protocols=("h2", "h3"), links=("random",), uploads=("30 B",), trials=2, exchanges=5, claims=str(CLAIMS)
    )
    judge_campaign(folder, analyze(folder))
    record = whole_record({"runs": [{"ended": None}], "implementations": {"curl": {}}})
    (folder / "campaign.json").write_text(json.dumps(record))
    part = {"name": "r", "title": "A radio", "validated": True, "sources": []}
    one = {"links": ["random"], "radio": {**part, "inputs": {}}, "device": part}
    energy = {
        "schema_version": 2, "radios": [one], "measured_on_device": True,
        "battery": {"capacity_mah": 1.0, "voltage_v": 3.0}, "no_day": {}, "notes": ["note"],
    }  # fmt: skip
    (folder / "energy.json").write_text(json.dumps(energy))
    report = {"directions": [{"dropped": [{"cause": "loss", "packets": 1}]}, {}]}
    result = whole_result({"link": report, "endpoints": [{"name": "client"}]})
    (folder / RESULT).write_text(json.dumps(result))
    entry = JournalEntry.model_validate(
        {"trial": "t", "scenario": "s", "block": 0, "lane": 0, "lanes": 1, "status": "done", "attempt": 1,
         "agent": "a", "written": "2026-01-01T00:00:00Z"}
    )  # fmt: skip
    (folder / "journal.jsonl").write_text((entry.model_dump_json() + "\n") * 3)


@pytest.fixture
def copy(campaign: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(campaign, tmp_path / "c"))


def damaged(text: str, chance: random.Random) -> tuple[bytes, str | None]:
    """A damaged document; with the key that is wrong, where one is."""
    kind = chance.choice(("cut", "empty", "bytes", *["type", "missing"] * 3))
    if kind in {"type", "missing"}:
        document = json.loads(text)
        *outer, key = chance.choice(list(places(document)))
        inner = document
        for each in outer:
            inner = inner[each]
        if kind == "missing":
            del inner[key]
        else:
            inner[key] = chance.choice(WRONG)
        return json.dumps(document).encode(), str(key)
    whole = text.strip().encode()
    end = chance.randrange(len(whole))
    return {"cut": whole[:end], "empty": b"", "bytes": whole[:end] + b"\xff\xfe" + whole[end:]}[kind], None


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_document_is_one_error_with_its_file_and_key(copy: Path, name: str) -> None:
    chance = random.Random(name)
    path = copy / name
    text = path.read_text(encoding="utf-8")
    adapter = TypeAdapter(TrialResult) if name == RESULT else FILES[name.removesuffix(".json")]
    schema = jsonschema.Draft202012Validator(adapter.json_schema(mode="validation"))
    refused = 0
    for _ in range(EACH):
        content, key = damaged(text, chance)
        path.write_bytes(content)
        allowed = key is not None and schema.is_valid(json.loads(content))
        try:
            READERS[name](copy)
        except WirelabError as error:
            refused += 1
            assert str(path) in error.what
            assert "\n" not in error.what
            assert error.hint
            # A whole number with a fraction is none to the models and one to JSON Schema; trials are of scenarios.
            if key is not None and not key.isdecimal() and " of no scenario" not in error.what:
                assert key in error.what or "schema_version" in error.what or "has no" in error.what, (key, error.what)
        else:
            assert allowed, (key, content[:200])
    assert refused > EACH / 3


@pytest.mark.parametrize("name", [*READERS, "journal.jsonl"])
def test_a_folder_in_place_of_a_file_is_one_error(copy: Path, name: str) -> None:
    (copy / name).unlink()
    (copy / name).mkdir()
    read = READERS.get(name, lambda folder: read_journal(folder / "journal.jsonl"))
    with pytest.raises(WirelabError, match="it cannot be read: Is a directory"):
        read(copy)


def test_a_damaged_line_of_the_journal_is_named(copy: Path) -> None:
    chance = random.Random(1)
    path = copy / "journal.jsonl"
    first, *rest = path.read_text().splitlines()
    refused = 0
    for _ in range(EACH):
        content, key = damaged(first, chance)
        path.write_bytes(content + b"\n" + "\n".join(rest).encode() + b"\n")
        try:
            read_journal(path)
        except WirelabError as error:
            refused += 1
            assert error.what.startswith(f"{path}:1: not a journal entry: ")
            assert "\n" not in error.what
        else:
            assert key is not None
    assert refused > EACH / 3


@pytest.mark.parametrize("name", TABLES)
def test_a_damaged_table_is_one_error_with_its_column(copy: Path, name: str) -> None:
    chance = random.Random(name)
    path, types = copy / name, TABLES[name]
    whole = pl.read_parquet(path).with_columns(pl.lit(None, kind).alias(each) for each, kind in types.items())
    whole.pipe(write_table, path)
    content = path.read_bytes()
    for number in range(100):
        column = chance.choice(list(types))
        match number % 4:
            case 0:
                path.write_bytes(content[: chance.randrange(len(content))])
                column = ""
            case 1:
                whole.drop(column).pipe(write_table, path)
            case 2:
                other = pl.Boolean if types[column] == pl.String else pl.String
                whole.with_columns(pl.lit(None, other).alias(column)).pipe(write_table, path)
            case 3:
                path.unlink()
                path.mkdir()
                column = ""
        with pytest.raises(WirelabError) as caught:
            read_table(path, types=types)
        assert str(path) in str(caught.value)
        assert column in caught.value.what
        assert caught.value.hint == f"wirelab measure {copy}"
        if path.is_dir():
            path.rmdir()


def test_a_table_of_another_version_is_refused(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = copy / "trials.parquet"
    with monkeypatch.context() as other_build:
        other_build.setattr(tables, "TABLES_VERSION", "2")
        pl.read_parquet(path).pipe(write_table, path)
    with pytest.raises(WirelabError, match=r"its schema_version is 2, this build's is 1"):
        read_table(path)


def test_a_table_of_which_one_byte_differs_is_refused(copy: Path) -> None:
    """Before the library that reads it sees it: over a damaged count it may ask for all memory and end the process."""
    path = copy / "trials.parquet"
    pl.DataFrame({"trial": ["a"]}).pipe(write_table, path)
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(WirelabError) as caught:
            require_whole(path)
        assert caught.value.hint == f"wirelab measure {copy}"


def test_a_table_that_another_program_wrote_is_refused(copy: Path) -> None:
    path = copy / "trials.parquet"
    pl.read_parquet(path).write_parquet(path)
    with pytest.raises(WirelabError, match="no digest"):
        read_table(path)


@pytest.mark.parametrize("name", [*(name for name in READERS if "/" not in name), "journal.jsonl", *TABLES])
@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"schema_version": 1}', b"\xff\xfe", b"null"])
@pytest.mark.parametrize("verb", ["report", "analyze", "show"])
def test_no_verb_ends_in_a_traceback(copy: Path, verb: str, name: str, content: bytes) -> None:
    (copy / name).write_bytes(content)
    done = CliRunner().invoke(main, [verb, str(copy)], prog_name="wirelab")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "Traceback" not in done.stderr
    assert done.stderr.count("error: ") <= 1
    assert done.exit_code in {0, 1, 2}
