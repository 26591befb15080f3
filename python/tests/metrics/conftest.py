"""Records of a scenario `s`, and the tables that are built of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.metrics.records import Records
from wirelab.metrics.dataset import Dataset, build

Build = Callable[[Records], Dataset]


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(tmp_path / "campaign", {"s": {}})


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Build:
    def finish(records: Records) -> Dataset:
        monkeypatch.setenv("WIRELAB_AGENT", str(records.finish()))
        return build(records.folder)

    return finish
