"""What a message costs the client's radio and processor, and a day of them: means over exchanges of what
`energy.parquet` sums.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from wirelab.metrics.battery import battery_days
from wirelab.metrics.energy import BOUNDS, DAY, MESSAGE, METRICS, RADIO, column
from wirelab.metrics.radio import ENERGY, STATES
from wirelab.stats.dataset import Dataset

if TYPE_CHECKING:
    import polars as pl

Bounds = dict[str, float]


def radio_energies(dataset: Dataset) -> tuple[dict[str, Any] | None, dict[str, dict[str, Any]]]:
    """What `energy.json` says of the radio, None without one; and for each scenario with completed exchanges: how many
    `exchanges` in how many `trials`, of one of them the radio's `message_j`, `with_processor_j` (None where that is not
    known), and `states` with `seconds` and joules each, the processor among them where it is known; of a day `day_j`
    and `day_states`, and `battery_days`, both None where they are not known. Joules and days have their bounds by the
    model: `low`, `typical`, `high`.
    """
    import polars as pl

    path = dataset.folder / ENERGY
    if not path.exists():
        return None, {}
    radio: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    found = {}
    table = pl.read_parquet(dataset.folder / STATES).filter(pl.col("exchanges") > 0)
    for (scenario,), rows in table.group_by("scenario", maintain_order=True):
        trials = rows.unique("trial")
        exchanges, days = int(trials["exchanges"].sum()), int(trials["days"].sum())
        states = {str(state): part for (state,), part in rows.group_by("state", maintain_order=True)}
        measured = bool(radio.get("measured_on_device"))
        day = {state: _mean(part, DAY, days) for state, part in states.items()} if days else None
        of_one = dataset.exchanges.filter(pl.col("scenario") == scenario)
        day_j = _over(of_one, DAY)
        battery = radio["battery"]
        found[str(scenario)] = {
            "exchanges": exchanges,
            "trials": len(trials),
            "message_j": _over(of_one, RADIO),
            "with_processor_j": _over(of_one, MESSAGE) if measured else None,
            "states": _of_message(rows, measured=measured),
            "day_j": day_j,
            "day_states": day,
            "battery_days": None if day_j is None or battery is None else battery_days(day_j, **battery),
        }
    return radio, found


def modelled(radio: Mapping[str, Any]) -> str:
    """Whose model every energy is, and whether that was ever held against a measurement."""
    parts = [part for part in (radio["radio"], radio["device"]) if part is not None]
    named = [f"{part['name']}{'' if part['validated'] else ' (unvalidated)'}" for part in parts]
    work = " and of the client's CPU time" if radio.get("measured_on_device") else ""
    return f"Energy is not measured but modelled, of the packets that flowed{work}: {', '.join(named)}."


def _of_message(rows: pl.DataFrame, *, measured: bool) -> dict[str, dict[str, float]]:
    """A scenario's states; where the processor's work is known of some of its trials, over those."""
    what = RADIO
    if measured and len(known := rows.drop_nulls(column(MESSAGE, "typical"))):
        what, rows = MESSAGE, known
    exchanges = int(rows.unique("trial")["exchanges"].sum())
    return {
        str(state): {"seconds": float(part["seconds"].sum()) / exchanges, **_mean(part, what, exchanges)}
        for (state,), part in rows.group_by("state", maintain_order=True)
        if part["seconds"].sum() > 0
    }


def _mean(rows: pl.DataFrame, what: str, count: int) -> Bounds:
    return {bound: float(rows[column(what, bound)].sum()) / count for bound in BOUNDS}


def _over(exchanges: pl.DataFrame, what: str) -> Bounds | None:
    """The means of all that have a value. States' bounds do not add up to them: no constant is at both its ends."""
    names = {bound: f"{what}{ending}" for bound, ending in BOUNDS.items()}
    columns = {bound: metric.column for bound, name in names.items() for metric in METRICS if metric.name == name}
    known = exchanges.drop_nulls(list(columns.values()))
    return {bound: float(known[name].mean()) for bound, name in columns.items()} if len(known) else None  # type: ignore[arg-type]
