"""Opening a file that a user names, as `wirelab_energy` does it. Nothing else opens one."""

from __future__ import annotations

from wirelab_energy.opened import NO_FILE, nearest_file, open_file, read_bytes

__all__ = ["NO_FILE", "nearest_file", "open_file", "read_bytes"]
