"""What an exchange, or a trial, cost the client's radio, in a line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wirelab.units import format_energy


def energy_words(campaign: Path, trial: str, exchanges: Sequence[Mapping[str, Any]]) -> str | None:
    """Of the exchange if it is one alone, else of the trial; None without a radio, or without its packets."""
    import polars as pl

    from wirelab.metrics.dataset import TRIAL_TABLE
    from wirelab.metrics.energy import BOUNDS, MESSAGE, METRICS, TRIAL
    from wirelab.metrics.radio import ENERGY

    path = campaign / ENERGY
    if not path.exists():
        return None
    what = MESSAGE if len(exchanges) == 1 else TRIAL
    names = {f"{what}{ending}": bound for bound, ending in BOUNDS.items()}
    columns = {names[metric.name]: metric.column for metric in METRICS if metric.name in names}
    if what == MESSAGE:
        row = exchanges[0]
    else:
        row = next(pl.read_parquet(campaign / TRIAL_TABLE).filter(pl.col("trial") == trial).iter_rows(named=True), {})
    low, typical, high = (row.get(columns[bound]) for bound in ("low", "typical", "high"))
    if low is None or typical is None or high is None:
        return None
    radio = json.loads(path.read_text(encoding="utf-8"))["radio"]
    label = radio["name"] if radio["validated"] else f"{radio['name']} (unvalidated)"
    of = "" if what == MESSAGE else " of the whole trial"
    typical_j, low_j, high_j = (format_energy(each) for each in (typical, low, high))
    bounds = "" if low == high else f" [{low_j}, {high_j}]"
    return f"radio energy{of} {typical_j}{bounds} by {label}, tail included"
