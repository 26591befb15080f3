"""How often a simulation is repeated: as often as a test says, or so many times as often for `make nightly`."""

import os


def repeats(usual: int) -> int:
    """A test's bounds are computed from this number."""
    return usual * int(os.environ.get("WIRELAB_REPEATS") or 1)
