"""An archive on disk."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.report import campaigns
from wirelab.archive.crate import METADATA
from wirelab.archive.zipped import opened, write
from wirelab.errors import WirelabError
from wirelab.schema.campaign import read_plan

RUN = {"began": "2026-11-21T10:00:00Z", "ended": "2026-11-21T10:01:00Z", "claims_sha256": None}
Rewrite = Callable[[dict[str, bytes]], object]


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    folder = campaigns.write(tmp_path / "c")
    record = campaigns.read(folder, "campaign.json")
    campaigns.store(folder, "campaign.json", {**record, "runs": [RUN]})
    (folder / "certificates").mkdir()
    (folder / "certificates" / "key.pem").write_text("a key")
    (folder / "lock").touch()
    return folder


def test_it_holds_each_file_but_locks_and_keys(campaign: Path, tmp_path: Path) -> None:
    found = write(campaign, tmp_path / "c.zip", licence=None)
    names = {each.name for each in found}
    assert {"plan.json", "exchanges.parquet"} <= names
    assert not {name for name in names if name.startswith(("certificates", "lock"))}
    with opened(tmp_path / "c.zip") as folder:
        for name in names:
            assert (folder / name).read_bytes() == (campaign / name).read_bytes()


def test_the_same_files_give_the_same_bytes(campaign: Path, tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        write(campaign, tmp_path / name, licence="CC-BY-4.0")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize(
    ("change", "what"),
    [(lambda files: files.update({"plan.json": b"{}"}), "plan.json: it was changed"),
     (lambda files: files.pop("exchanges.parquet"), "exchanges.parquet: it is missing"),
     (lambda files: files.update({"more.txt": b"x"}), "more.txt: its metadata do not name it"),
     (lambda files: files.update({"../out.txt": b"x"}), "it holds '../out.txt'"),
     (lambda files: files.update({METADATA: b"{}"}), "not an archive of a campaign"),
     (lambda files: files.pop(METADATA), "not an archive of a campaign")],
)  # fmt: skip
def test_what_was_changed_is_one_error(campaign: Path, tmp_path: Path, change: Rewrite, what: str) -> None:
    write(campaign, tmp_path / "c.zip", licence=None)
    with zipfile.ZipFile(tmp_path / "c.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with zipfile.ZipFile(tmp_path / "changed.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(WirelabError) as raised, opened(tmp_path / "changed.zip"):
        pass
    assert what in str(raised.value)
    assert not (tmp_path.parent / "out.txt").exists()


def test_every_changed_byte_is_found_or_changes_nothing(campaign: Path, tmp_path: Path) -> None:
    write(campaign, tmp_path / "c.zip", licence=None)
    whole = (tmp_path / "c.zip").read_bytes()
    for at in range(0, len(whole), len(whole) // 200):
        (tmp_path / "changed.zip").write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            with opened(tmp_path / "changed.zip") as folder:
                read_plan(folder)
        except WirelabError as error:
            assert error.hint or "not an archive" in str(error)


def test_an_archive_that_was_unpacked_is_archived_as_before(campaign: Path, tmp_path: Path) -> None:
    write(campaign, tmp_path / "c.zip", licence=None)
    with zipfile.ZipFile(tmp_path / "c.zip") as archive:
        archive.extractall(tmp_path / "again")
    write(tmp_path / "again", tmp_path / "again" / "again.zip", licence=None)
    write(tmp_path / "again", tmp_path / "again" / "again.zip", licence=None)
    assert (tmp_path / "again" / "again.zip").read_bytes() == (tmp_path / "c.zip").read_bytes()


def test_a_file_that_is_no_archive_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "c.zip").write_bytes(b"PK nothing")
    with pytest.raises(WirelabError, match="not an archive of a campaign"), opened(tmp_path / "c.zip"):
        pass


def test_a_campaign_that_never_ran_is_refused(tmp_path: Path) -> None:
    folder = campaigns.write(tmp_path / "c")
    with pytest.raises(WirelabError, match="was never run"):
        write(folder, tmp_path / "c.zip", licence=None)
