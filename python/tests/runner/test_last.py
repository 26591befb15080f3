"""The campaign of an earlier run, removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runner import fakes
from wirelab.errors import RunError
from wirelab.runner.last import remove_last
from wirelab.runner.lock import locked


def campaign(folder: Path, name: str) -> Path:
    folder.mkdir()
    (folder / "plan.json").write_text(fakes.make_plan(name=name).model_dump_json())
    return folder


def test_the_campaign_of_the_last_time_is_removed_and_no_other(tmp_path: Path) -> None:
    last, other, nothing = campaign(tmp_path / "last", "interop"), campaign(tmp_path / "other", "mine"), tmp_path / "no"
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "plan.json").write_text("{")
    for folder in (last, other, nothing, damaged):
        remove_last(folder, fakes.make_plan(name="interop"))
    assert [folder.exists() for folder in (last, other, nothing, damaged)] == [False, True, False, True]


def test_a_campaign_that_is_being_run_is_not_removed(tmp_path: Path) -> None:
    last = campaign(tmp_path / "last", "interop")
    with locked(last), pytest.raises(RunError, match="is in use by another process"):
        remove_last(last, fakes.make_plan(name="interop"))
    assert last.exists()
