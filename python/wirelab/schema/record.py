"""`campaign.json`: what ran a campaign (`docs/reference/files.md`)."""

from __future__ import annotations

from pathlib import Path

from wirelab.launcher import launched
from wirelab.schema.base import SCHEMA_VERSION, Border, Unsigned
from wirelab.schema.document import read_document
from wirelab.schema.host import HostFacts

FACTS = "campaign.json"


class AgentVersion(Border):
    """The agent that measured."""

    version: str
    sha256: str


class ProgramVersion(Border):
    """A third-party program that plays a role."""

    title: str
    homepage: str | None
    version: str | None


class RunRecord(Border):
    """What one command did to the campaign; what follows `claims_sha256` is known when it ends."""

    began: str
    """RFC 3339, as all times."""
    ended: str | None
    """Null if it was stopped."""
    claims_sha256: str | None
    """Of the claims as they stood then."""
    total: Unsigned | None = None
    run: Unsigned | None = None
    reused: Unsigned | None = None
    """Trials that an earlier run finished."""
    failed: Unsigned | None = None
    discarded: Unsigned | None = None
    flagged_blocks: Unsigned | None = None
    lanes: Unsigned | None = None
    """At the end."""
    elapsed_s: float | None = None
    cut_after_blocks: Unsigned | None = None
    """Blocks that had begun when the budget ended the run with trials left; null if it did not."""
    cut_scenarios: Unsigned = 0
    """How many scenarios that left with fewer trials than asked for."""


class CampaignRecord(Border):
    """Versions, machine, kernel settings, command line, and a record of each run."""

    schema_version: int = SCHEMA_VERSION
    wirelab: str
    agent: AgentVersion
    python: str
    libraries: dict[str, str]
    """Of each Python library that takes part in a number."""
    uv_lock_sha256: str | None
    """Null of an installed wheel."""
    os: str
    host: HostFacts
    implementations: dict[str, ProgramVersion]
    command: tuple[str, ...]
    """Of the last run; the home folder is `~`."""
    runs: tuple[RunRecord, ...] = ()


def read_record(campaign: Path) -> CampaignRecord | None:
    """What ran a campaign; None if nothing did yet. Raises `RunError` if the file is damaged, or of another version."""
    path = campaign / FACTS
    if not path.exists():
        return None
    hint = f"run the campaign again: {launched(f'run FILE --out {campaign} --fresh')}"
    return read_document(path, CampaignRecord, SCHEMA_VERSION, hint)
