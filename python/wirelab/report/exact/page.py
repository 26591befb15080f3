"""`exact.json` and the page of it."""

from __future__ import annotations

import json
from pathlib import Path

from wirelab.report.page import write_text
from wirelab.schema.exact import EXACT, Exact


def write_exact(record: Exact, folder: Path, page: str) -> str:
    """Write both; gives the text of the record. Raises `WirelabError` where that is not possible."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)
    write_text(folder / EXACT, f"{text}\n")
    return text
