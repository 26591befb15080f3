"""Gives the files of a new clone the times of an earlier clone's files of the same content: `stamps.py RECORD`.

Cargo compares times, not content, so that a new clone would compile every crate of ours again. RECORD holds, for each
path, the digest and the time of the last build's file. A file that differs keeps its own time, which is later than any
build. That is right only if one build at a time uses the record and the target folder: the caller holds a lock.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path


def main(record: Path) -> None:
    """Set the times, and write the record of this clone."""
    earlier = json.loads(record.read_text()) if record.exists() else {}
    listed = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True).stdout.decode()
    current = {}
    for name in filter(None, listed.split("\0")):
        path = Path(name)
        if path.is_symlink() or not path.is_file():
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        known, time_ns = earlier.get(name, (None, 0))
        if known == digest:
            os.utime(path, ns=(time_ns, time_ns))
        current[name] = (digest, path.stat().st_mtime_ns)
    new = record.with_suffix(".new")
    new.write_text(json.dumps(current))
    new.replace(record)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
