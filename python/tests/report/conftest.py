"""Pages of a world of stacks that does not change."""

from __future__ import annotations

import pytest

from tests.described import KNOWN
from wirelab.report import stacks


@pytest.fixture(autouse=True)
def known_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "registered", lambda: KNOWN)
