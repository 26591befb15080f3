"""Pages of a world of protocols that does not change."""

from __future__ import annotations

import pytest

from tests.described import KNOWN
from wirelab.report import protocols


@pytest.fixture(autouse=True)
def known_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocols, "registered", lambda: KNOWN)
