"""Our emulator against netem: the same link files, in the kernel of a User-Mode Linux guest and on this machine.

netem runs in the guest because machines need not have it; ours runs outside, for in the guest a look at the clock takes
longer than our delays are exact. What the two do to packets is told by the ends alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.uml.links import LINKS

if TYPE_CHECKING:
    pass

ROOT = Path(__file__).parents[2]
REQUIRED = bool(os.environ.get("WIRELAB_REQUIRE_ALL"))
TIMEOUT_S = 240
LEAST_RESOLUTION = 0.02
"""Half-width of the simultaneous interval of a difference in loss, at most."""
OURS, THEIRS = range(1, len(LINKS) + 2), range(101, 101 + len(LINKS))
"""Seeds: of ours the draws are the same wherever this runs; netem takes none."""


@dataclass(frozen=True)
class Records:
    """Folders of probes, by the name of the link."""

    ours: Path
    netem: Path


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Records]: ...
