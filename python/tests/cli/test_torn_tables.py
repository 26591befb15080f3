"""A campaign of which one table is torn, as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.metrics.records import START, Records, exchange, flow
from wirelab.cli import main
from wirelab.metrics.tables import read_table

TABLES = ("exchanges", "trials", "energy", "settings", "ledger")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Records:
    """With the energy of a radio."""
    folder = tmp_path_factory.mktemp("torn") / "c"
    records = Records(folder, {"s": {"name": "s", "levels": {}, "link_name": "clean", "points": [{}]}})
    for _ in range(2):
        name = records.trial("s", [exchange(0)], [flow(40_000)])
        records.radio[name] = [{"at_ns": START, "uplink": True, "size_bytes": 100, "client_port": 40_000}]
    return records


@pytest.fixture
def campaign(measured: Records, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WIRELAB_AGENT", str(measured.finish()))
    for table in TABLES:
        (measured.folder / f"{table}.parquet").unlink(missing_ok=True)
    done = wirelab("analyze", str(measured.folder), "--radio", "nrf9160-nbiot")
    assert done[0] == 0, done
    return measured.folder


def wirelab(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, list(words), prog_name="wirelab")
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("verb", "table"),
    [
        *(("analyze", table) for table in TABLES),
        *(("report", table) for table in ("exchanges", "trials", "resources")),
        ("show", "exchanges"),
    ],
)
@pytest.mark.parametrize("length", [0, 100])
def test_a_damaged_table_is_one_error_with_its_name_and_a_fix(
    campaign: Path, verb: str, table: str, length: int
) -> None:
    path = campaign / f"{table}.parquet"
    whole = path.read_bytes() if path.exists() else b"PAR1" + bytes(400)
    path.write_bytes(whole[:length])
    try:
        code, out, err = wirelab(verb, str(campaign))
    finally:
        path.unlink()
    assert (code, out) == (2, "")
    assert err == f"{path}: is torn, or no table\nhint: wirelab measure {campaign}\n"


def test_measuring_with_a_radio_replaces_a_damaged_table(campaign: Path) -> None:
    path = campaign / "trials.parquet"
    path.write_bytes(path.read_bytes()[:100])
    assert wirelab("analyze", str(campaign), "--radio", "nrf9160-nbiot")[0] == 0
    assert read_table(path)["trial"].len() == 2
