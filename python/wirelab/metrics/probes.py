"""The results of a link's probes: each packet as the link logged it, and as its two ends sent and received it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from wirelab import agent
from wirelab.errors import RunError
from wirelab.launcher import launched
from wirelab.metrics.tables import read_table, write_table
from wirelab.schema import LinkSpec, TrialResult, is_netem
from wirelab.schema.base import Received
from wirelab.schema.campaign import PACKET_LOG, PROBE_PLAN, PROBES, REQUEST, RESULT
from wirelab.schema.document import damaged, read_document
from wirelab.schema.link import ReplayReport
from wirelab.schema.probe import ProbePlan

ENDS = ("client", "server")
PACKETS, REPLAY = "packets.parquet", "replay.json"
TIMEOUT_S = 120.0
"""How long the agent may take to read, or to replay, the log of one probing."""
PACKET_TYPES = {
    "sequence": pl.Int64, "uplink": pl.Boolean, "size_bytes": pl.Int64, "arrival_ns": pl.Int64,
    "departure_ns": pl.Int64, "lateness_ns": pl.Int64, "fate": pl.String, "copy": pl.Boolean, "corrupted": pl.Boolean,
    "client_port": pl.Int64,
}  # fmt: skip
_RECEIVED = {
    "uplink": pl.Boolean, "client_port": pl.Int64, "number": pl.Int64, "sent_ns": pl.Int64, "received_ns": pl.Int64,
}  # fmt: skip
_NUMBERS = {"sent": 2, "received": 4}
"""How many numbers follow each word that an end prints."""
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
_HINT = "remove the folder, and run the same command again"


class _Request(Received):
    """Of the request of a probing, what was probed."""

    link: LinkSpec


@dataclass(frozen=True)
class Probes:
    """The records of one probing."""

    link: LinkSpec
    plan: ProbePlan
    packets: pl.DataFrame
    """In order of arrival, a row for each packet and each copy."""
    sent: Counter[tuple[bool, int]]
    """Packets sent, by direction (true: uplink) and port of the client's side."""
    received: pl.DataFrame
    replay: ReplayReport | None
    """Of the log; none of a link that netem ran, which keeps no log."""
    result: TrialResult

    @property
    def netem(self) -> bool:
        """Whether netem ran the link: `packets` say what entered it, and nothing of what it did."""
        return is_netem(self.link)


def measure_probes(folder: Path) -> None:
    """Turn the log of a folder of `wirelab.runner.probes` into a table and a report of its replay, next to it."""
    found, log = agent.find_agent(), str(folder / PACKET_LOG)
    lines = agent.ask(found, ["dissect"], timeout_s=TIMEOUT_S, files=[log])
    packets = pl.read_ndjson(lines.encode(), schema=PACKET_TYPES) if lines else pl.DataFrame(schema=PACKET_TYPES)
    write_table(packets, folder / PACKETS)
    if not is_netem(_probed_link(folder)):
        replayed = agent.ask(found, ["replay"], frozenset({0, 1}), TIMEOUT_S, files=[log])
        (folder / REPLAY).write_text(replayed, encoding="utf-8")


def measure_all_probes(campaign: Path) -> None:
    """The same for each link that was probed before a campaign."""
    for folder in probed_folders(campaign):
        measure_probes(folder)


def probed_folders(campaign: Path) -> list[Path]:
    """Folders of the links that were probed."""
    folder = campaign / PROBES
    return sorted(path for path in folder.iterdir() if (path / RESULT).exists()) if folder.exists() else []


def read_probes(folder: Path) -> Probes:
    """Read a folder that `measure_probes` has seen."""
    if not (folder / PACKETS).exists():
        raise RunError(f"{folder} has no {PACKETS}", hint=launched("measure CAMPAIGN"))
    link = _probed_link(folder)
    plan = read_document(folder / PROBE_PLAN, ProbePlan, None, _HINT)
    result = read_document(folder / RESULT, TrialResult, None, _HINT)
    packets = read_table(folder / PACKETS, folder.parents[1], types=PACKET_TYPES)
    sent: Counter[tuple[bool, int]] = Counter()
    rows: list[tuple[bool, int, int, int, int]] = []
    for end in ENDS:
        for word, values in _lines(folder / f"{end}.txt"):
            if word == "sent":
                sent[end == "client", values[0]] += values[1]
            else:
                rows.append((end == "server", values[0], values[1], values[2], values[3]))
    received = pl.DataFrame(rows, schema=_RECEIVED, orient="row")
    replay = None
    if not is_netem(link):
        replay = read_document(folder / REPLAY, ReplayReport, None, launched("measure CAMPAIGN"))
    return Probes(link, plan, packets, sent, received, replay, result)


def _lines(path: Path) -> Iterator[tuple[str, list[int]]]:
    """Each line that an end printed: a word, and as many numbers as it has."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise damaged(path, f"it cannot be read: {error.strerror}", _HINT) from None
    for number, line in enumerate(lines, 1):
        word, *numbers = line.split() or [""]
        if len(numbers) != _NUMBERS.get(word) or not all(map(_NUMBER.fullmatch, numbers)):
            raise damaged(path, f"line {number} is not a line of probes", _HINT)
        yield word, [int(each) for each in numbers]


def _probed_link(folder: Path) -> LinkSpec:
    return read_document(folder / REQUEST, _Request, None, _HINT).link
