"""Records of replications as files."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from tests.report.replication.records import record
from wirelab.errors import WirelabError
from wirelab.experiment.library import experiment_file
from wirelab.replicate.kept import SHIPPED, kept, write_record


def test_a_record_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    written = [record(tmp_path, paper=name) for name in ("b", "a")]
    for each in written:
        write_record(each, tmp_path / "kept" / f"{each['paper']}.json")
    assert kept(folder=tmp_path / "kept") == [*reversed(written)]
    assert kept(["b"], tmp_path / "kept") == written[:1]


def test_a_paper_that_is_not_kept_is_named(tmp_path: Path) -> None:
    with pytest.raises(WirelabError, match="no replication is kept"):
        kept(folder=tmp_path)
    write_record(record(tmp_path), tmp_path / "example.json")
    with pytest.raises(WirelabError, match="no replication of 'exampel' is kept"):
        kept(["exampel"], tmp_path)


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.json")), ids=lambda path: path.stem)
def test_each_shipped_record_is_of_the_claims_that_ship(path: Path) -> None:
    [found] = kept([path.stem])
    assert found["paper"] == path.stem
    claims = Path(str(experiment_file(f"{path.stem}.claims")))
    assert found["claims_sha256"] == sha256(claims.read_bytes()).hexdigest()
