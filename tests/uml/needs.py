"""What tests say where no guest can be had."""

from __future__ import annotations

import os

import pytest
from tests.uml import guest

REQUIRED = bool(os.environ.get("WIRELAB_REQUIRE_ALL"))


def require_guest() -> None:
    """Skip with the reason. What is not installed fails where everything is required; a machine on which an installed
    guest cannot boot is at nobody's fault.
    """
    missing = guest.not_installed()
    if missing and REQUIRED:
        pytest.fail(missing)
    if missing:
        pytest.skip(missing)
    if why := guest.cannot_boot():
        pytest.skip(f"not run, for a User-Mode Linux guest cannot boot here: {why}")
