"""Files of rows, as an endpoint leaves them (docs/contract.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def write_rows(target: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a file of rows, whole or not at all."""
    partial = target.with_suffix(".partial")
    partial.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    partial.rename(target)
