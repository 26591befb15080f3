"""Runs the commands of all pages, or of those that are named, such as `dtls-connection-id`, and writes their tables."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from scripts.answers import pages, written

from wirelab.errors import WirelabError


def main() -> None:
    """Write every table."""
    names = sys.argv[1:]
    known = {path.stem: path for path in pages()}
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no page {', '.join(unknown)}; there are {', '.join(known)}")
    for name in names or known:
        print(f"{name} ...", file=sys.stderr)
        page = known[name].read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory(prefix="wirelab-answers-") as folder:
            try:
                known[name].write_text(written(page, Path(folder) / "results"), encoding="utf-8")
            except WirelabError as error:
                sys.exit(f"{name}: {error}")


if __name__ == "__main__":
    main()
