"""What a message costs the client's radio and processor, and a day of them: means over exchanges of what
`energy.parquet` sums.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirelab.metrics.battery import battery_days
from wirelab.metrics.energy import METRICS
from wirelab.metrics.energy_names import BOUNDS, DAY, MESSAGE, RADIO, column
from wirelab.metrics.radio import ENERGY, STATES
from wirelab.metrics.tables import read_table
from wirelab.schema.estimates import (
    Battery,
    Bounds,
    Counted,
    DeviceRecord,
    EnergyModel,
    EnergyOfScenario,
    RadioRecord,
    StateEnergy,
    read_energy_model,
)
from wirelab.stats.dataset import Dataset

if TYPE_CHECKING:
    import polars as pl


def radio_energies(dataset: Dataset) -> tuple[EnergyModel | None, dict[str, EnergyOfScenario]]:
    """What `energy.json` says of the radio, None without one; and for each scenario with completed exchanges: how many
    `exchanges` in how many `trials`, and of how many of both the CPU time is known (`with_cpu_time`, None where it
    counts for nobody); of one of them `radio_j`, `message_j` of radio and processor, over those, and `states` with
    `seconds` and joules each, the processor among them and then over those; of a day `day_j` and `day_states`, over
    `days` of the exchanges, and `battery_days`. None of what is not known. Joules and days of a battery have their
    bounds by the model: `low`, `typical`, `high`.
    """
    import polars as pl

    path = dataset.folder / ENERGY
    if not path.exists():
        return None, {}
    radio = read_energy_model(path)
    found: dict[str, EnergyOfScenario] = {}
    table = read_table(dataset.folder / STATES).filter(pl.col("exchanges") > 0)
    for (scenario,), rows in table.group_by("scenario", maintain_order=True):
        known = rows.drop_nulls(column(MESSAGE, "typical")) if radio["measured_on_device"] else None
        days = int(rows.unique("trial")["days"].sum())
        states = {str(state): part for (state,), part in rows.group_by("state", maintain_order=True)}
        day = {state: _mean(part, DAY, days) for state, part in states.items()} if days else None
        of_one = dataset.exchanges.filter(pl.col("scenario") == scenario)
        day_j = _over(of_one, DAY)
        battery = radio["battery"]
        found[str(scenario)] = {
            "exchanges": _counts(rows)["exchanges"],
            "trials": _counts(rows)["trials"],
            "with_cpu_time": None if known is None else _counts(known),
            "radio_j": _over(of_one, RADIO),
            "message_j": None if known is None else _over(of_one, MESSAGE),
            "states": _of_message(rows, RADIO) if known is None or known.is_empty() else _of_message(known, MESSAGE),
            "days": days,
            "day_j": day_j,
            "day_states": day,
            "battery_days": None if day_j is None or battery is None else _battery_days(day_j, battery),
        }
    return radio, found


def modelled(radio: EnergyModel) -> str:
    """The model of the energies, and whether it was validated by a measurement."""
    parts = [part for part in (radio["radio"], radio["device"]) if part is not None]
    named = [labelled(part["name"], part) for part in parts]
    work = " and of the client's CPU time" if radio["measured_on_device"] else ""
    return f"Energy is not measured but modelled, of the packets that flowed{work}: {', '.join(named)}."


def labelled(words: str, of: RadioRecord | DeviceRecord) -> str:
    """The label of a radio or device of `energy.json`, and whether it is validated."""
    return words if of["validated"] else f"{words} (unvalidated)"


def _counts(rows: pl.DataFrame) -> Counted:
    trials = rows.unique("trial")
    return {"exchanges": int(trials["exchanges"].sum()), "trials": len(trials)}


def _of_message(rows: pl.DataFrame, what: str) -> dict[str, StateEnergy]:
    exchanges = _counts(rows)["exchanges"]
    return {
        str(state): {"seconds": float(part["seconds"].sum()) / exchanges, **_mean(part, what, exchanges)}
        for (state,), part in rows.group_by("state", maintain_order=True)
        if part["seconds"].sum() > 0
    }


def _mean(rows: pl.DataFrame, what: str, count: int) -> Bounds:
    low, typical, high = (float(rows[column(what, bound)].sum()) / count for bound in ("low", "typical", "high"))
    return {"low": low, "typical": typical, "high": high}


def _battery_days(day_j: Bounds, battery: Battery) -> Bounds:
    days = battery_days(
        {"low": day_j["low"], "typical": day_j["typical"], "high": day_j["high"]},
        battery["capacity_mah"], battery["voltage_v"],
    )  # fmt: skip
    return {"low": days["low"], "typical": days["typical"], "high": days["high"]}


def _over(exchanges: pl.DataFrame, what: str) -> Bounds | None:
    """The means of all that have a value. States' bounds do not add up to them: no constant is at both its ends."""
    import polars as pl

    names = {bound: f"{what}{ending}" for bound, ending in BOUNDS.items()}
    columns = {bound: metric.column for bound, name in names.items() for metric in METRICS if metric.name == name}
    known = exchanges.drop_nulls(list(columns.values()))
    if known.is_empty():
        return None
    means = {bound: float(known.select(pl.col(name).mean()).item()) for bound, name in columns.items()}
    return {"low": means["low"], "typical": means["typical"], "high": means["high"]}
