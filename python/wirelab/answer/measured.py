"""What a campaign measured of the scenarios that an explanation is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from wirelab.answer.explain import CPU, PHASES, Measured, Phases
from wirelab.metrics.ledger import PARTS
from wirelab.schema import Clock
from wirelab.stats.energy import radio_energies
from wirelab.stats.ledger import ledgers

if TYPE_CHECKING:
    from wirelab.stats.dataset import Dataset

_ROLES = ("client", "server")


def measured(dataset: Dataset, keys: Mapping[str, str]) -> Measured:
    """The phases of completed exchanges, a mean for each trial. `keys` are the plan's, by the digests of scenarios."""
    import polars as pl

    cpu = _cpu_s(dataset)
    means = (
        dataset.exchanges.filter(pl.col("outcome") == "completed")
        .with_columns(pl.col(name).fill_null(0) for name in PHASES)
        .group_by("scenario", "trial", "replicate")
        .agg(pl.len().alias("n"), *(pl.col(name).mean() / 1e9 for name in PHASES))
    )
    found: dict[str, dict[int, Phases]] = {key: {} for key in keys.values()}
    for row in means.iter_rows(named=True):
        each = {name: row[name] for name in PHASES}
        found[row["scenario"]][row["replicate"]] = {**each, CPU: cpu.get(row["trial"], 0.0) / row["n"]}
    return Measured({digest: found[key] for digest, key in keys.items()})


def _cpu_s(dataset: Dataset) -> dict[str, float]:
    """Seconds that client and server computed in each trial, or were held back by a limit on CPU time, beyond their
    start. Empty under the virtual clock, where computing takes no time.
    """
    import polars as pl

    if dataset.plan.clock is not Clock.LIVE:
        return {}
    parts = [
        part
        for role in _ROLES
        for part in (
            (pl.col(f"{role}_cpu_ns") - pl.col(f"{role}_cpu_idle_ns")).clip(lower_bound=0),
            pl.col(f"{role}_throttled_ns"),
        )
    ]
    sums = dataset.trials.select("trial", seconds=pl.sum_horizontal(parts) / 1e9)
    return {row["trial"]: row["seconds"] or 0.0 for row in sums.iter_rows(named=True)}


def spent(dataset: Dataset, key: str) -> dict[str, float] | None:
    """IP bytes of one exchange by what they were spent on; None without captures of every packet."""
    record = ledgers(dataset).get(key)
    if record is None:
        return None
    found = {part: float(record["up"][part] + record["down"][part]) for part in PARTS}  # type: ignore[literal-required]
    return {part: value for part, value in found.items() if value}


def energy(dataset: Dataset, key: str) -> dict[str, float] | None:
    """Joules of one exchange by state of the radio, as the model says; None without a radio."""
    record = radio_energies(dataset)[1].get(key)
    return None if record is None else {state: each["typical"] for state, each in record["states"].items()}
