"""Trials as rows of `trials.parquet`: what the journal says of them, and what their records do."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from wirelab.errors import WirelabError
from wirelab.metrics import delivery, resources
from wirelab.metrics.exchange_rows import TRIAL_KEYS, read_exchanges
from wirelab.metrics.link import COUNTS, DIRECTIONS, link_columns
from wirelab.metrics.outages import TRIAL_COLUMNS
from wirelab.metrics.registry import TRIAL_METRICS
from wirelab.metrics.replay import COLUMNS as REPLAY
from wirelab.metrics.traffic import background_bps
from wirelab.schema.campaign import (
    JOURNAL,
    RESULT,
    TRIALS,
    EntryStatus,
    JournalEntry,
    attempt_folder,
    read_journal,
    read_plan,
    read_result,
)
from wirelab.schema.plan import Plan, Scenario
from wirelab.schema.records import damage

DAMAGED = "damaged"
"""Status of a trial that is left out because a record is missing or torn."""
_NAMED = 3
"""Damaged trials that a sentence names."""

OUTCOMES = ("completed", "sent", "failed", "timed-out", "unsupported")
_LINK = [f"{direction}_{name}" for direction in DIRECTIONS for name in COUNTS]
_LATENESS = ["lateness_p50_ns", "lateness_p99_ns", "lateness_max_ns", "kernel_drops", "oversized"]
_WIRE = [f"wire_{direction}_{unit}" for unit in ("bytes", "packets") for direction in DIRECTIONS]
LIMIT = {
    "quota_periods": "periods", "throttled_periods": "throttled_periods", "throttled_ns": "throttled_ns",
}  # fmt: skip
"""Columns of a limit on CPU time, by what `result.json` calls them."""
_RESOURCES = [
    *resources.COLUMNS, "client_run_delay_ns", "server_run_delay_ns", "stolen_cpu_ns", "background_bps",
    *(f"{role}_{what}" for role in ("client", "server") for what in LIMIT),
]  # fmt: skip
ENERGY = [metric.column for metric in TRIAL_METRICS if metric.unit == "j"]
TRIAL_TYPES: dict[str, pl.DataType | type[pl.DataType]] = {
    **TRIAL_KEYS,
    "status": pl.String, "error": pl.String, "excluded": pl.Boolean, "exclusion": pl.String,
    **{outcome.replace("-", "_"): pl.Int64 for outcome in OUTCOMES},
    **dict.fromkeys(["uncounted", "not_confirmed", "arrived"], pl.Int64), "not_checked": pl.String,
    **dict.fromkeys(delivery.TOTALS, pl.Int64),
    **dict.fromkeys(TRIAL_COLUMNS, pl.Int64),
    **dict.fromkeys([*_LINK, *_LATENESS], pl.Int64), "clock_step": pl.Boolean,
    "left_out_of_captures": pl.Int64,
    **dict.fromkeys(["lateness_upper_ns", "lateness_packets"], pl.List(pl.Int64)),
    **dict.fromkeys(REPLAY, pl.Int64),
    **dict.fromkeys(["duration_ns", *_WIRE, *_RESOURCES], pl.Int64),
    **dict.fromkeys(ENERGY, pl.Float64),
}  # fmt: skip


def done_trials(campaign: Path) -> list[str]:
    """The finished trials, in the plan's order."""
    plan = read_plan(campaign)
    entries, _ = read_journal(campaign / JOURNAL)
    return [entry.trial for entry, _ in attempts(plan, entries) if entry.status is EntryStatus.DONE]


def attempts(plan: Plan, entries: Iterable[JournalEntry]) -> Iterable[tuple[JournalEntry, int]]:
    """Finished trials of the plan, then discarded attempts, each with its replicate."""
    planned = {trial.trial: trial for block in plan.blocks for trial in block.trials}
    mine = [e for e in entries if e.trial in planned and planned[e.trial].scenario == e.scenario]
    last = {entry.trial: entry for entry in mine}
    held = [last[trial] for trial in planned if trial in last and last[trial].status.final]
    discarded = [entry for entry in mine if entry.status is EntryStatus.DISCARDED]
    return [(entry, planned[entry.trial].replicate) for entry in [*held, *discarded]]


def checked_row(campaign: Path, scenario: Scenario, entry: JournalEntry, replicate: int) -> dict[str, Any]:
    """A trial's row; of one whose records are missing or torn only why, and of a discarded attempt with such nothing
    that would be in them.
    """
    row, folder = entry_row(campaign, entry, replicate)
    done, why = entry.status is EntryStatus.DONE, None
    if not row["excluded"]:
        why = damage(folder, entry.records, done=done)
    try:
        if why is None:
            return row | _recorded_row(folder, scenario, done=done)
    except WirelabError:
        why = f"its record {RESULT} was changed, or is torn"
    return row if row["excluded"] else row | {"status": DAMAGED, "error": why}


def damage_words(trials: pl.DataFrame) -> str | None:
    """Which trials of `trials.parquet` were left out because a record is missing or torn, and why; None without any."""
    found = list(trials.filter(pl.col("status") == DAMAGED).select("trial", "error").iter_rows())
    if not found:
        return None
    first = "; ".join(f"{trial}: {why}" for trial, why in found[:_NAMED])
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    left = f"{len(found)} trial{'s are' if len(found) > 1 else ' is'} left out because of damaged records"
    return f"{left} ({first}{more}). The same run command runs {'them' if len(found) > 1 else 'it'} again."


def entry_row(campaign: Path, entry: JournalEntry, replicate: int) -> tuple[dict[str, Any], Path]:
    """What the journal says of a trial, and the folder of its records."""
    excluded = entry.status is EntryStatus.DISCARDED
    kept = campaign / TRIALS / entry.trial
    folder = attempt_folder(campaign, entry.trial, entry.attempt) if excluded else kept
    row: dict[str, Any] = dict.fromkeys(TRIAL_TYPES) | {
        "trial": folder.name, "scenario": entry.scenario, "block": entry.block, "replicate": replicate,
        "lane": entry.lane,
        "status": entry.status.value, "error": None if excluded else entry.error,
        "excluded": excluded, "exclusion": entry.error if excluded else None, "not_confirmed": entry.not_confirmed,
    }  # fmt: skip
    return row, folder


def _recorded_row(folder: Path, scenario: Scenario, *, done: bool) -> dict[str, Any]:
    """What a trial's records say of it."""
    row: dict[str, Any] = {"uncounted": 0 if done else _recorded(folder)}
    path = folder / RESULT
    if not path.exists():
        return row
    result = read_result(path)
    row |= {"duration_ns": result.end_ns - result.start_ns, **link_columns(result.link)}
    row["stolen_cpu_ns"] = result.steal_ns
    if result.confirmation is not None:
        row["not_checked"] = result.confirmation.not_checked
        row["arrived"] = result.confirmation.arrived if result.confirmation.sent else None
    row["background_bps"] = background_bps(folder, scenario)
    for endpoint in result.endpoints:
        if endpoint.name in resources.ROLES:
            row |= dict(resources.used(endpoint))
            row[f"{endpoint.name}_run_delay_ns"] = endpoint.run_delay_ns
    for role, limit in result.cpu_limits.items():
        # What it waited for its limit may be in it.
        row[f"{role}_run_delay_ns"] = None
        row |= {f"{role}_{name}": getattr(limit, key) for name, key in LIMIT.items()}
    return row


def _recorded(folder: Path) -> int | None:
    """The number of exchanges of an unfinished trial; None if its client's file is damaged."""
    try:
        return len(read_exchanges(folder, folder.name))
    except WirelabError:
        return None
