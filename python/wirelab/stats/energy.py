"""What a message costs the client's radio and processor, and a day of them: means over exchanges and trials of what
`exchanges.parquet` and `trials.parquet` have, and `energy.parquet` by state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from wirelab.metrics.battery import battery_days
from wirelab.metrics.energy_names import (
    DAY,
    INTERVAL,
    MESSAGE,
    RADIO,
    SETUP,
    TRIAL,
    TRIAL_CLOSING,
    TRIAL_MESSAGES,
    TRIAL_SETUP,
    column,
    metric_column,
)
from wirelab.metrics.radio import ENERGY, STATES
from wirelab.metrics.tables import read_table
from wirelab.schema.bounds import Bounds
from wirelab.schema.estimates import (
    Battery,
    Counted,
    DeviceRecord,
    EnergyModel,
    EnergyOfScenario,
    EnergyParts,
    RadioRecord,
    StateEnergy,
    radio_of,
    read_energy_model,
)
from wirelab.schema.plan import Scenario
from wirelab.stats.dataset import Dataset

if TYPE_CHECKING:
    import polars as pl

_ENDS = ("low", "typical", "high")


def radio_energies(dataset: Dataset) -> tuple[EnergyModel | None, dict[str, EnergyOfScenario]]:
    """What `energy.json` says of the radios, None without one; and the energies of each scenario, as `EnergyOfScenario`
    has them. Joules and days of a battery have their bounds by the model.
    """
    import polars as pl

    path = dataset.folder / ENERGY
    if not path.exists():
        return None, {}
    model = read_energy_model(path)
    found: dict[str, EnergyOfScenario] = {}
    table = read_table(dataset.folder / STATES)
    of_trials = dataset.trials.filter(~pl.col("excluded"))
    for scenario in dataset.scenarios:
        if radio_of(model, scenario.link_name) is None:
            continue
        of_one = dataset.rows(scenario.key)
        rows = table.filter(pl.col("scenario") == scenario.key)
        trials = of_trials.filter(pl.col("scenario") == scenario.key)
        energy = _of_scenario(scenario, model, of_one, rows, trials)
        if energy is not None:
            found[scenario.key] = energy
    return model, found


def _of_scenario(
    scenario: Scenario, model: EnergyModel, exchanges: pl.DataFrame, rows: pl.DataFrame, trials: pl.DataFrame
) -> EnergyOfScenario | None:
    """None if no packet of it is known."""
    import polars as pl

    alone = rows.filter(pl.col("exchanges") > 0)
    parts = _parts(trials)
    if alone.is_empty() and parts is None:
        return None
    known = alone.drop_nulls(column(MESSAGE, "typical")) if model["measured_on_device"] else None
    days = int(rows.unique("trial")["days"].sum())
    states = {str(state): part for (state,), part in rows.group_by("state", maintain_order=True)}
    day_j, battery, gap_ns = _over(exchanges, DAY), model["battery"], scenario.workload.gap_ns
    return {
        "exchanges": _counts(alone)["exchanges"],
        "trials": _counts(alone)["trials"],
        "with_cpu_time": None if known is None else _counts(known),
        "radio_j": _over(exchanges, RADIO),
        "message_j": None if known is None else _over(exchanges, MESSAGE),
        "states": _of_message(alone, RADIO) if known is None or known.is_empty() else _of_message(known, MESSAGE),
        "interval_s": None if gap_ns is None else gap_ns / 1e9,
        "interval_j": _over(exchanges, INTERVAL),
        "setup_j": _over(exchanges, SETUP),
        "setups": len(exchanges.drop_nulls(metric_column(SETUP, "typical"))),
        "parts": parts,
        "days": days,
        "no_day": model["no_day"].get(scenario.key),
        "day_j": day_j,
        "day_states": {state: _mean(part, DAY, days) for state, part in states.items()} if days else None,
        "battery_days": None if day_j is None or battery is None else _battery_days(day_j, battery),
    }


def _parts(trials: pl.DataFrame) -> EnergyParts | None:
    """Means over the trials whose packets are known; None without any."""
    whats = (TRIAL, TRIAL_SETUP, TRIAL_MESSAGES, TRIAL_CLOSING)
    names = [metric_column(what, bound) for what in whats for bound in _ENDS]
    # A trial without set-ups has none of them to sum.
    known = trials.drop_nulls(metric_column(TRIAL, "typical")).select(names).fill_null(0.0)
    if known.is_empty():
        return None

    def mean(what: str) -> Bounds:
        low, typical, high = (float(known[metric_column(what, bound)].sum()) / len(known) for bound in _ENDS)
        return {"low": low, "typical": typical, "high": high}

    return {
        "setup_j": mean(TRIAL_SETUP), "messages_j": mean(TRIAL_MESSAGES), "closing_j": mean(TRIAL_CLOSING),
        "trial_j": mean(TRIAL),
    }  # fmt: skip


def modelled(model: EnergyModel) -> Iterator[str]:
    """The models of the energies, and whether they were validated by a measurement; nothing if no link has a radio."""
    if not model["radios"]:
        return
    parts = [part for each in model["radios"] for part in (each["radio"], each["device"]) if part is not None]
    named = dict.fromkeys(labelled(part["name"], part) for part in parts)
    work = " and of the client's CPU time" if model["measured_on_device"] else ""
    yield f"Energy is not measured but modelled, of the packets that flowed{work}: {', '.join(named)}."


def without_day(model: EnergyModel, scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Why scenarios have no day's energy and no battery life, each reason once."""
    whose: dict[str, list[str]] = {}
    for each in scenarios:
        if (why := model["no_day"].get(each.key)) is not None:
            whose.setdefault(why, []).append(each.name)
    for why, names in whose.items():
        all_of = len(names) == len(scenarios)
        whom = "" if all_of else f" of {names[0]}" if len(names) == 1 else f" of {len(names)} scenarios"
        yield f"No day's energy and no battery life{whom}: {why}."


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
    low, typical, high = (float(rows[column(what, bound)].sum()) / count for bound in _ENDS)
    return {"low": low, "typical": typical, "high": high}


def _battery_days(day_j: Bounds, battery: Battery) -> Bounds:
    days = battery_days(
        {"low": day_j["low"], "typical": day_j["typical"], "high": day_j["high"]},
        battery["capacity_mah"], battery["voltage_v"],
    )  # fmt: skip
    return {"low": days["low"], "typical": days["typical"], "high": days["high"]}


def _over(exchanges: pl.DataFrame, what: str) -> Bounds | None:
    """The means of all that have a value. States' bounds do not add up to them: no constant is at both its ends."""
    known = exchanges.drop_nulls([metric_column(what, bound) for bound in _ENDS])
    if known.is_empty():
        return None
    low, typical, high = (float(known[metric_column(what, bound)].sum()) / len(known) for bound in _ENDS)
    return {"low": low, "typical": typical, "high": high}
