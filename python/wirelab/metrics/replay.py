"""Whether a trial's packet log, run through a fresh chain of the same seed, says the same of every packet, and what
the log says befell packets one by one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from wirelab import agent
from wirelab.metrics.link import DIRECTIONS
from wirelab.schema.campaign import PACKET_LOG, TRIALS, packet_log

EFFECTS = ("packets", "duplicated", "corrupted", "reordered")
"""What the log says of delivered packets one by one, copies left out (`DeliveredPackets`)."""
COLUMNS = ("replay_packets", "replay_mismatches", *(f"{way}_log_{name}" for way in DIRECTIONS for name in EFFECTS))
LOGS_AT_ONCE = 100
_TYPES = {"trial": pl.String, **dict.fromkeys(COLUMNS, pl.Int64)}


def replays(campaign: Path, trials: Iterable[str]) -> pl.DataFrame:
    """A row for each trial that has a log: the packets and mismatches of all its links, what befell those of the
    client's. All are null where a log cannot be read.
    """
    logs = {str(path): trial for trial in trials if (path := campaign / TRIALS / trial / PACKET_LOG).exists()}
    others = {path: sorted(map(str, Path(path).parent.glob(packet_log("*")))) for path in logs}
    paths = [each for path in logs for each in (path, *others[path])]
    reports = {}
    for first in range(0, len(paths), LOGS_AT_ONCE):
        # It fails if a log does not match or cannot be read, and has reported the others.
        said = agent.ask(agent.find_agent(), ["replay"], frozenset({0, 1}), files=paths[first : first + LOGS_AT_ONCE])
        for report in map(json.loads, said.splitlines()):
            effects = [way[name] for way in report["directions"] for name in EFFECTS]
            reports[report["log"]] = (report["packets"], report["mismatches"], *effects)
    rows = []
    for log, trial in logs.items():
        found = [reports.get(each) for each in (log, *others[log])]
        known = [each for each in found if each is not None]
        if len(known) < len(found):
            rows.append((trial, *(None,) * len(COLUMNS)))
            continue
        rows.append((trial, sum(each[0] for each in known), sum(each[1] for each in known), *known[0][2:]))
    return pl.DataFrame(rows, schema=_TYPES, orient="row")
