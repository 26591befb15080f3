"""Freezing a file of claims."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.claims.grids import FILE
from wirelab.claims.freeze import claims_of, freeze
from wirelab.claims.load import load
from wirelab.errors import WirelabError

AT = "2026-11-27T00:00:00Z"


def test_a_frozen_file_loads_and_keeps_its_comments(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE + "# the end\n")
    digest = freeze(path, AT)
    assert path.read_text() == f'{FILE}# the end\n\n[frozen]\ndigest = "{digest}"\nat = 2026-11-27T00:00:00Z\n'
    frozen = load(path).file.frozen
    assert frozen is not None
    assert (frozen.digest, frozen.at) == (digest, datetime(2026, 11, 27, tzinfo=UTC))


def test_freezing_anew_replaces_the_digest(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE)
    first = freeze(path, AT)
    path.write_text(path.read_text().replace("h3 is faster", "h3 is quicker"))
    with pytest.raises(WirelabError, match="changed after they were frozen"):
        load(path)
    assert freeze(path, AT) != first
    assert path.read_text().count("[frozen]") == 1
    load(path)


def test_freezing_an_unchanged_file_keeps_its_first_time(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(FILE)
    digest, text = freeze(path, AT), path.read_text()
    assert freeze(path, "2027-01-01T00:00:00Z") == digest
    assert path.read_text() == text


def test_a_file_with_another_mistake_is_not_frozen(tmp_path: Path) -> None:
    path = tmp_path / "x.claims.toml"
    path.write_text(text := FILE.replace('basis = "text"', 'basis = "fitted"'))
    with pytest.raises(WirelabError, match="basis fitted"):
        freeze(path, AT)
    assert path.read_text() == text


def test_an_experiment_without_claims_has_nothing_to_freeze(tmp_path: Path) -> None:
    experiment = tmp_path / "x.toml"
    experiment.write_text('claims = "x.claims.toml"\n')
    assert claims_of(experiment) == tmp_path / "x.claims.toml"
    experiment.write_text('title = "none"\n')
    with pytest.raises(WirelabError, match="nothing to freeze"):
        claims_of(experiment)
