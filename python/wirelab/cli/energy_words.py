"""What an exchange, or a trial, cost the client's radio, in a line; and an exchange with its processor."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wirelab.units import format_energy, with_bounds


def energy_words(campaign: Path, trial: str, exchanges: Sequence[Mapping[str, Any]]) -> str | None:
    """Of the exchange if it is one alone, else of the trial; None without a radio, or without its packets."""
    import polars as pl

    from wirelab.metrics.dataset import TRIAL_TABLE
    from wirelab.metrics.energy_names import MESSAGE, RADIO, TRIAL
    from wirelab.metrics.radio import ENERGY
    from wirelab.metrics.tables import read_table
    from wirelab.stats.energy import labelled

    path = campaign / ENERGY
    if not path.exists():
        return None
    what = RADIO if len(exchanges) == 1 else TRIAL
    if what == RADIO:
        row = exchanges[0]
    else:
        row = next(read_table(campaign / TRIAL_TABLE).filter(pl.col("trial") == trial).iter_rows(named=True), {})
    joules = _joules(row, what)
    if joules is None:
        return None
    document = json.loads(path.read_text(encoding="utf-8"))
    of = "" if what == RADIO else " of the whole trial"
    words = f"radio energy{of} {joules} by {labelled(document['radio']['name'], document['radio'])}, tail included"
    whole = _joules(row, MESSAGE)
    if whole is None:
        return words
    return f"{words}; with the processor of {labelled(document['device']['name'], document['device'])} {whole}"


def _joules(row: Mapping[str, Any], what: str) -> str | None:
    """`2 mJ [1 mJ, 4 mJ]`; None where it is not known."""
    from wirelab.metrics.energy import METRICS
    from wirelab.metrics.energy_names import BOUNDS

    names = {f"{what}{ending}": bound for bound, ending in BOUNDS.items()}
    columns = {names[metric.name]: metric.column for metric in METRICS if metric.name in names}
    typical, low, high = (row.get(columns[bound]) for bound in ("typical", "low", "high"))
    if typical is None or low is None or high is None:
        return None
    return with_bounds(*(format_energy(each) for each in (typical, low, high)))
