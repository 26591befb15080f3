"""The bytes of captured trials by layer and purpose; each byte counts once (`docs/guide/captures.md`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from wirelab import agent
from wirelab.metrics.base import CARRIED_OUT
from wirelab.metrics.link import DIRECTIONS
from wirelab.metrics.tables import write_table
from wirelab.schema import registered
from wirelab.schema.campaign import TRIALS
from wirelab.schema.plan import Plan, Scenario
from wirelab.schema.workload import RequestResponse

LEDGER = "ledger.parquet"
PARTS = (
    "ip", "transport", "connection", "acknowledgements", "retransmitted", "handshake", "protection", "application",
    "sealed", "other",
)  # fmt: skip
"""Parts of `total`, as `wirelab-agent ledger` names them (`schema/ledger.json`)."""
COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "trial": pl.String, "scenario": pl.String, "direction": pl.String, "exchanges": pl.Int64,
    **dict.fromkeys(("packets", "total", *PARTS, "payload", "link_layer", "connections"), pl.Int64),
}  # fmt: skip
READ = ("trial", "outcome", "connection_reused", "connections", "download_bytes")
"""Columns of exchanges, of which some may be absent."""
_AT_ONCE = 100


def measure_ledger(campaign: Path, plan: Plan, trials: pl.DataFrame, exchanges: pl.DataFrame) -> pl.DataFrame | None:
    """Write the ledger of the trials whose captures have every packet, a row for each direction; none without any."""
    scenarios = {each.key: each for each in plan.scenarios if each.capture}
    whole = (pl.col("status") == "done") & ~pl.col("excluded") & (pl.col("left_out_of_captures").fill_null(0) == 0)
    captured = trials.filter(whole & pl.col("scenario").is_in(list(scenarios)))
    if captured.is_empty():
        (campaign / LEDGER).unlink(missing_ok=True)
        return None
    folders = {str(campaign / TRIALS / trial): (trial, key) for trial, key in captured["trial", "scenario"].iter_rows()}
    opened = (~pl.col("connection_reused").fill_null(False)).cast(pl.Int64)
    if "connections" in exchanges.columns:
        opened = pl.coalesce("connections", opened)
    counted = exchanges.group_by("trial").agg(
        count=pl.len(), completed=pl.col("outcome").is_in(CARRIED_OUT).sum(), downloads=pl.col("download_bytes").sum(),
        opened=opened.sum(),
    )  # fmt: skip
    outcomes = {str(trial): tuple(rest) for trial, *rest in counted.iter_rows()}
    rows = []
    for found in _ask(list(folders)):
        trial, key = folders[found["trial"]]
        count, completed, downloads, opened = outcomes.get(trial, (0, 0, 0, 0))
        messages = _messages(scenarios[key], count, downloads)
        for direction, spent, message in zip(DIRECTIONS, found["directions"], messages, strict=True):
            # The bytes of a message before its exchange failed are not known.
            payload = message if completed == count and not spent["sealed"] else None
            rows.append(
                {"trial": trial, "scenario": key, "direction": direction, "exchanges": count, **spent}
                | {"payload": payload, "connections": opened}
            )
    table = pl.DataFrame(rows, schema=COLUMNS)
    write_table(table, campaign / LEDGER)
    return table


def _ask(folders: list[str]) -> list[dict[str, Any]]:
    lines = []
    for first in range(0, len(folders), _AT_ONCE):
        lines += agent.ask(agent.find_agent(), ["ledger"], files=folders[first : first + _AT_ONCE]).splitlines()
    return [json.loads(line) for line in lines]


def _messages(scenario: Scenario, exchanges: int, downloads: int) -> tuple[int, int]:
    """Bytes of the user's that a trial carries up and down, with `downloads` bytes asked for in all."""
    workload = scenario.workload
    uploads = workload.upload_bytes * exchanges
    if not isinstance(workload, RequestResponse):
        return uploads, workload.downloads[0] * exchanges
    return uploads, uploads if scenario.protocol in registered().names(lambda protocol: protocol.echo) else downloads
