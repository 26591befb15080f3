"""JSON Schemas of the files of a campaign that the control plane writes: `schema/plan.json` and its like, generated.

`python -m wirelab.schema.files FOLDER` writes them, as `make generate` does.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from wirelab.schema.campaign import JournalEntry
from wirelab.schema.changes import Changes, ExactChanges
from wirelab.schema.choose import Chosen
from wirelab.schema.documented import Documented
from wirelab.schema.estimates import EnergyModel, Estimates
from wirelab.schema.exact import Exact
from wirelab.schema.explain import Explained
from wirelab.schema.plan import Plan
from wirelab.schema.record import CampaignRecord
from wirelab.schema.replication import Replication
from wirelab.schema.verdicts import Verdicts

FILES: Mapping[str, TypeAdapter[Any]] = {
    "plan": TypeAdapter(Plan),
    "campaign": TypeAdapter(CampaignRecord),
    "journal-entry": TypeAdapter(JournalEntry),
    "energy": TypeAdapter(EnergyModel),
    "estimates": TypeAdapter(Estimates),
    "verdicts": TypeAdapter(Verdicts),
    "replication": TypeAdapter(Replication),
    "exact": TypeAdapter(Exact),
    "choose": TypeAdapter(Chosen),
    "explain": TypeAdapter(Explained),
    "changes": TypeAdapter(Changes),
    "exact-changes": TypeAdapter(ExactChanges),
}
"""What a file is called in `schema/`, and what it holds."""


def text(name: str) -> str:
    """One of them."""
    schema = FILES[name].json_schema(mode="serialization", schema_generator=Documented)
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps({**dialect, **schema}, indent=2, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    """All of them."""
    for name in FILES:
        (folder / f"{name}.json").write_text(text(name), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
