"""Files of a campaign in one small file."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest
from tests.golden.kept.convert import kept_results, unpack

from wirelab.claims.load import load
from wirelab.errors import WirelabError
from wirelab.experiment.library import experiment_file
from wirelab.replicate.kept import keep_campaign
from wirelab.replicate.source import read_source
from wirelab.schema.archive import is_archive, pack, unpacked

CLAIMS = Path(str(experiment_file("londono2016.claims")))


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = unpack("londono2016", tmp_path_factory.mktemp("campaign"))
    for file, document in kept_results("londono2016").items():
        (folder / file).write_text(json.dumps(document))
    path = folder / CLAIMS.name
    path.write_text(CLAIMS.read_text())
    verdicts = json.loads((folder / "verdicts.json").read_text())
    verdicts["claims_sha256"] = load(path).sha256
    (folder / "verdicts.json").write_text(json.dumps(verdicts))
    return folder


def test_what_a_replication_reads_of_a_kept_campaign_is_that_of_its_folder(campaign: Path, tmp_path: Path) -> None:
    kept = keep_campaign(campaign, tmp_path / "londono2016")
    assert is_archive(kept)
    assert kept.name == f"{campaign.name}.tar.xz"
    claims = load(CLAIMS)
    with unpacked(kept) as folder:
        assert read_source(folder, claims, "good") == read_source(campaign, claims, "good")
        assert {path.name for path in folder.iterdir()} <= {path.name for path in campaign.iterdir()}
    assert not folder.exists()


def test_it_is_small_and_the_same_again(campaign: Path, tmp_path: Path) -> None:
    first = keep_campaign(campaign, tmp_path / "a")
    assert first.read_bytes() == keep_campaign(campaign, tmp_path / "b").read_bytes()
    assert first.stat().st_size < sum(path.stat().st_size for path in campaign.iterdir() if path.is_file()) / 3


def test_files_of_trials_are_kept_where_they_are_and_absent_ones_left_out(tmp_path: Path) -> None:
    (tmp_path / "c" / "trials" / "a").mkdir(parents=True)
    (tmp_path / "c" / "trials" / "a" / "packets.wlpl").write_bytes(b"log")
    kept = pack(tmp_path / "c", ["plan.json", "trials/a/packets.wlpl"], tmp_path / "new" / "base.tar.xz")
    with unpacked(kept) as folder:
        assert [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()] == [
            "trials/a/packets.wlpl"
        ]


@pytest.mark.parametrize("content", [b"", b"no archive", b"\xfd7zXZ\x00\x00\x04torn"])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "some.tar.xz"
    path.write_bytes(content)
    with pytest.raises(WirelabError, match="cannot be read"), unpacked(path):
        pass


@pytest.mark.parametrize(
    "name",
    ["../plan.json", "folder/plan.json", "/plan.json", "trials/../plan.json", "trials/plan.json", "trials/a/b/c"],
)
def test_a_file_outside_is_never_written(tmp_path: Path, name: str) -> None:
    path = tmp_path / "some.tar.xz"
    with tarfile.open(path, mode="w:xz") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = 2
        archive.addfile(entry, io.BytesIO(b"{}"))
    with pytest.raises(WirelabError, match="is no kept campaign"), unpacked(path):
        pass
