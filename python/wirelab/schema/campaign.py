"""What a campaign's folder holds besides the border's files (`docs/reference/files.md`)."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wirelab.errors import RunError
from wirelab.launcher import launched
from wirelab.schema.base import SCHEMA_VERSION, Border, Unsigned
from wirelab.schema.plan import Plan

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
PAGES = "pages"
PAGE_FILES = "files"
"""Of a page: its resources' files, beside its manifest."""
MOST_SHOWN = 40
"""Of a value that is wrong."""


def packet_log(link: str) -> str:
    """Packet log of a link that is not the client's."""
    return f"packets-{link}.wlpl"


def traffic_folder(name: str) -> str:
    """Folder, and process, of background traffic where it begins."""
    return f"traffic-{name}"


def traffic_server_folder(name: str) -> str:
    """And of its other end; no traffic has such a name."""
    return f"traffic-{name}.server"


def page_manifest(campaign: Path, sha256: str) -> Path:
    """The manifest of the page with this digest."""
    return campaign / PAGES / sha256 / "manifest.json"


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


_NEEDED = (
    ("schema_version",), ("identity_version",), ("seed",),
    ("experiment",), ("experiment", "name"), ("experiment", "metric"),
    ("scenarios",), ("scenarios", "key"), ("scenarios", "identity"), ("scenarios", "stack"), ("scenarios", "link"),
    ("blocks",), ("blocks", "trials"), ("blocks", "trials", "trial"), ("blocks", "trials", "scenario"),
    ("blocks", "trials", "replicate"),
)  # fmt: skip
"""What nobody can do without who reads a plan; the rest tells of another build, and only its values are looked at."""


def read_plan(campaign: Path) -> dict[str, Any]:
    """A campaign's plan, as this build writes it: raises `RunError` for one of another build."""
    path = campaign / PLAN
    try:
        text = path.read_text(encoding="utf-8")
        plan = json.loads(text)
        why = _strangeness(plan, text)
    except ValueError as error:
        why = f"it is no JSON: {error}"
    if why is not None:
        hint = f"plan again: {launched(f'run FILE --out {campaign} --fresh')}"
        raise RunError(f"{path} was written by another build, or damaged: {why}", hint=hint)
    found: dict[str, Any] = plan
    return found


def _strangeness(plan: Any, text: str) -> str | None:
    """Why this build cannot read a plan. A version tells what was released; between releases the values do."""
    if not isinstance(plan, dict):
        return "it is no JSON object"
    if (version := plan.get("schema_version")) != SCHEMA_VERSION:
        return f"its schema_version is {version}, this build's is {SCHEMA_VERSION}"
    try:
        Plan.model_validate_json(text, strict=True)
    except ValidationError as error:
        why = next(filter(None, map(_strange_value, error.errors(include_url=False))), None)
        if why is not None:
            return why
    known = {scenario["key"] for scenario in plan["scenarios"]}
    trials = (trial for block in plan["blocks"] for trial in block["trials"])
    stray = next((trial for trial in trials if trial["scenario"] not in known), None)
    return None if stray is None else f"its trial {stray['trial']} is of no scenario"


def _strange_value(detail: Any) -> str | None:
    place = ".".join(map(str, detail["loc"]))
    if detail["type"] == "missing":
        in_list = isinstance(detail["loc"][-1], int)
        needed = in_list or tuple(part for part in detail["loc"] if isinstance(part, str)) in _NEEDED
        return f"it has no {place}" if needed else None
    value = json.dumps(detail["input"], ensure_ascii=False)
    shown = value if len(value) <= MOST_SHOWN else f"{value[:MOST_SHOWN]}…"
    return f"{place}: {detail['msg'][:1].lower()}{detail['msg'][1:]} ({shown})"


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
