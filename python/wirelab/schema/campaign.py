"""What a campaign's folder holds besides the border's files (`docs/reference/files.md`)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wirelab.errors import RunError
from wirelab.schema.base import SCHEMA_VERSION, Border, Unsigned, canonical_json
from wirelab.schema.link import LinkSpec

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


def packet_log(link: str) -> str:
    """Packet log of a link that is not the client's."""
    return f"packets-{link}.wlpl"


def traffic_folder(name: str) -> str:
    """Folder, and process, of one end of background traffic."""
    return f"traffic-{name}"


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


PLAN_KEYS = frozenset({"schema_version", "experiment", "seed", "scenarios", "blocks"})
_LISTS = ("scenarios", "blocks")
"""Keys of a plan that are lists of objects."""


def read_plan(campaign: Path) -> dict[str, Any]:
    """A campaign's plan, as this build writes it: raises `RunError` for one of another build."""
    path = campaign / PLAN
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        why = _strangeness(plan)
    except ValueError as error:
        why = f"it is no JSON: {error}"
    if why is not None:
        hint = f"plan again: wirelab run FILE --out {campaign} --fresh"
        raise RunError(f"{path} was written by another build, or damaged: {why}", hint=hint)
    found: dict[str, Any] = plan
    return found


def _strangeness(plan: Any) -> str | None:
    """Why this build cannot read a plan. A version tells what was released; between releases the links do."""
    if not isinstance(plan, dict):
        return "it is no JSON object"
    if (version := plan.get("schema_version")) != SCHEMA_VERSION:
        return f"its schema_version is {version}, this build's is {SCHEMA_VERSION}"
    if absent := PLAN_KEYS - plan.keys():
        return f"it has no {min(absent)}"
    if not isinstance(plan["experiment"], dict):
        return "its experiment is no JSON object"
    for key in _LISTS:
        if not isinstance(plan[key], list) or not all(isinstance(each, dict) for each in plan[key]):
            return f"its {key} are no list of JSON objects"
    return _strange_link(scenario["link"] for scenario in plan["scenarios"] if "link" in scenario)


def _strange_link(found: Iterable[Any]) -> str | None:
    links = {canonical_json(link): link for link in found}
    for link in links.values():
        try:
            LinkSpec.model_validate(link)
        except ValidationError as error:
            first = error.errors()[0]
            place = f", {'.'.join(map(str, first['loc']))}" if first["loc"] else ""
            return f"in a link{place}: {first['msg'][:1].lower()}{first['msg'][1:]}"
    return None


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
