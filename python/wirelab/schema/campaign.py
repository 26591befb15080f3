"""What a campaign's folder holds besides the border's files (`docs/reference/files.md`)."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import ValidationError

from wirelab.errors import RunError
from wirelab.schema.base import Border, Unsigned

PLAN = "plan.json"
FACTS = "campaign.json"
JOURNAL = "journal.jsonl"
TRIALS = "trials"
RESULT = "result.json"
REQUEST = "request.json"
PACKET_LOG = "packets.wlpl"
PROBES = "probes"
PROBE_PLAN = "probe-plan.json"
SECRETS = "tls-secrets.txt"
"""In an endpoint's folder: what decrypts its connections, as SSLKEYLOGFILE names it."""
QLOG = "qlog"
"""In an endpoint's folder: traces of its QUIC connections."""


def capture_name(end: str) -> str:
    """File of the packets that one end saw."""
    return f"{end}.pcapng"


class EntryStatus(StrEnum):
    """How an attempt at a trial ended; a discarded one is run again and never counted."""

    DONE = "done"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    TIMED_OUT = "timed-out"
    CANCELLED = "cancelled"
    DISCARDED = "discarded"

    @property
    def final(self) -> bool:
        """The trial needs no further attempt."""
        return self not in {EntryStatus.CANCELLED, EntryStatus.DISCARDED}


class JournalEntry(Border):
    """A line of the journal. The last entry of a trial holds."""

    trial: str
    scenario: str
    block: Unsigned
    lane: Unsigned
    lanes: Unsigned
    status: EntryStatus
    error: str | None = None
    attempt: Unsigned
    agent: str
    written: str


def read_journal(path: Path) -> tuple[list[JournalEntry], int]:
    """Every entry in order, and the bytes they take; a torn last line is ignored, a missing journal is empty."""
    if not path.exists():
        return [], 0
    lines = path.read_bytes().splitlines(keepends=True)
    entries: list[JournalEntry] = []
    size = 0
    for number, line in enumerate(lines, 1):
        try:
            entry = JournalEntry.model_validate_json(line)
        except ValidationError as error:
            if number == len(lines):
                break
            raise RunError(
                f"{path}:{number}: not a journal entry", hint="start the campaign anew with --fresh"
            ) from error
        if not line.endswith(b"\n"):
            break
        entries.append(entry)
        size += len(line)
    return entries, size


def attempt_folder(campaign: Path, trial: str, attempt: int) -> Path:
    """Where a discarded attempt's records are kept."""
    return campaign / TRIALS / f"{trial}.discarded-{attempt}"
