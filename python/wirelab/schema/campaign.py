"""The files of a campaign's folder other than the border's (`docs/reference/files.md`)."""

from __future__ import annotations

import re
import zlib
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from wirelab.errors import WirelabError
from wirelab.launcher import launched
from wirelab.schema.base import SCHEMA_VERSION, Border, Unsigned
from wirelab.schema.document import damaged, read_document, wrong_value
from wirelab.schema.host import TrialResult
from wirelab.schema.plan import Plan

PLAN = "plan.json"
OF_A_TEST = "campaign"
"""The campaign of `wirelab test`, in the folder of its results."""
EXPERIMENT = "experiment.toml"
"""The experiment's file as it was written, before `--set`."""
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
"""The files of a page's resources, next to its manifest."""


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
    """How an attempt at a trial ended; a discarded one is run again and never counted. One that was not run was never
    started, because a program that it needs did not become ready before, or somebody ended its guest; the next run
    starts it. Of an unusable one the records are whole, but the link was so late that a timer may have fired: nothing
    is estimated from it.
    """

    DONE = "done"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    TIMED_OUT = "timed-out"
    CANCELLED = "cancelled"
    DISCARDED = "discarded"
    NOT_RUN = "not-run"
    UNUSABLE = "unusable"

    @property
    def final(self) -> bool:
        """The trial needs no further attempt."""
        return self not in {EntryStatus.CANCELLED, EntryStatus.DISCARDED, EntryStatus.NOT_RUN}


class JournalEntry(Border):
    """A line of `journal.jsonl`. The last entry of a trial holds."""

    trial: str
    """Name of the trial."""
    scenario: str
    """Key of its scenario."""
    block: Unsigned
    """Number of its block."""
    lane: Unsigned
    """Number of the job that ran it, from 0."""
    lanes: Unsigned
    """Parallel trials at that time."""
    status: EntryStatus
    """How the attempt ended."""
    error: str | None = None
    """Why it failed, was discarded or is unusable; null if it is done."""
    not_confirmed: Unsigned = 0
    """Exchanges that the client calls completed and the link does not confirm; with any the trial failed."""
    stall_ns: Unsigned = 0
    """Largest timing error of its links, if a timer of an endpoint may have fired meanwhile; 0 if not."""
    part: Unsigned | None = None
    """Which part of a merged campaign ran it, from 1; null if it was not merged, and under the virtual clock."""
    attempt: Unsigned
    """Number of the attempt, from 1."""
    agent: str
    """SHA-256 of the agent that measured."""
    written: str
    """RFC 3339."""
    records: dict[str, str] | None = None
    """SHA-256 of each record in the trial's folder, by name; null if nothing was recorded, or by an earlier version."""
    crc32: str | None = None
    """CRC-32 of the line up to this key, in hexadecimal; null by an earlier version."""

    def line(self) -> bytes:
        """The line of the journal, with its checksum."""
        # Only a merged campaign has parts.
        without = {"crc32"} if self.part is not None else {"crc32", "part"}
        body = self.model_dump_json(exclude=without).encode()[:-1]
        return body + b',"crc32":"%08x"}\n' % zlib.crc32(body)


class JournalLines(NamedTuple):
    """What a journal holds; a last line without its end is one that a crash cut."""

    entries: list[JournalEntry]
    whole: bytes
    """The lines of these entries."""
    damaged: list[str]
    """Each other line, and what is wrong with it; the hint of an error is not in it."""
    cut: str | None
    """What is wrong with the last line; None if it is whole."""


def read_plan(campaign: Path) -> Plan:
    """A campaign's plan. Raises `WirelabError` for one that is damaged, or of another version."""
    hint = f"plan again: {launched(f'run FILE --out {campaign} --fresh')}"
    plan = read_document(campaign / PLAN, Plan, SCHEMA_VERSION, hint)
    known = {scenario.key for scenario in plan.scenarios}
    stray = next((trial.trial for block in plan.blocks for trial in block.trials if trial.scenario not in known), None)
    if stray is not None:
        raise damaged(campaign / PLAN, f"its trial {stray} is of no scenario", hint)
    return plan


def read_result(path: Path) -> TrialResult:
    """What the host said of a trial that ended. Raises `WirelabError` if the file is damaged."""
    return read_document(path, TrialResult, None, f"the same {launched('run')} command runs the trial again")


def read_journal(path: Path) -> tuple[list[JournalEntry], int]:
    """Every entry in order, and the bytes they take; a torn last line is ignored, a missing journal is empty.

    Raises `WirelabError` for any other line that is damaged.
    """
    read = scan_journal(path)
    if read.damaged:
        raise WirelabError(read.damaged[0], hint=f"the same {launched('run')} command runs its trial again")
    return read.entries, len(read.whole)


def measured_between(campaign: Path) -> tuple[str, str] | None:
    """When its first and its last trial that were done were written (RFC 3339); None without any."""
    written = [each.written for each in read_journal(campaign / JOURNAL)[0] if each.status is EntryStatus.DONE]
    return (min(written), max(written)) if written else None


def last_day(campaign: Path) -> str | None:
    """The day of its last trial that was done; None without any."""
    measured = measured_between(campaign)
    return None if measured is None else measured[1][:10]


def scan_journal(path: Path) -> JournalLines:
    """The entries that are whole, and the lines that are not. Raises `WirelabError` if the file cannot be read."""
    entries: list[JournalEntry] = []
    whole: list[bytes] = []
    damaged_lines: list[str] = []
    cut = None
    if not path.exists():
        return JournalLines(entries, b"", damaged_lines, cut)
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except OSError as error:
        raise damaged(path, f"it cannot be read: {error.strerror}", "start the campaign anew with --fresh") from None
    for number, line in enumerate(lines, 1):
        entry = _entry(line)
        if isinstance(entry, JournalEntry):
            entries.append(entry)
            whole.append(line)
        elif number == len(lines):
            cut = f"{path}:{number}: not a journal entry: {entry}"
        else:
            damaged_lines.append(f"{path}:{number}: not a journal entry: {entry}")
    return JournalLines(entries, b"".join(whole), damaged_lines, cut)


_CHECKSUM = re.compile(rb',"crc32":"([0-9a-f]{8})"}\n$')


def _entry(line: bytes) -> JournalEntry | str:
    """The entry of a line, or what is wrong with it."""
    try:
        entry = JournalEntry.model_validate_json(line)
    except ValidationError as error:
        return wrong_value(error.errors(include_url=False)[0])
    if not line.endswith(b"\n"):
        return "it has no end"
    found = _CHECKSUM.search(line)
    if entry.crc32 is not None and (found is None or int(found[1], 16) != zlib.crc32(line[: found.start()])):
        return "its checksum is wrong"
    return entry


def attempt_folder(campaign: Path, trial: str, attempt: int) -> Path:
    """The folder of a discarded attempt's records."""
    return campaign / TRIALS / f"{trial}.discarded-{attempt}"
