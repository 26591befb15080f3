"""Opening a file that a user names, as `wirelab_energy` does it. Nothing else opens one."""

from __future__ import annotations

from wirelab_energy.opened import MOST_BYTES, NO_FILE, nearest_file, open_file, read_bytes

__all__ = ["MOST_BYTES", "NO_FILE", "nearest_file", "open_file", "read_bytes"]
