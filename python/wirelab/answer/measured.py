"""What a campaign measured of the scenarios that an explanation is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from wirelab.answer.explain import NOT_SPLIT, PARTS, PHASES, TIMED_OUT, Measured, OfTrial
from wirelab.metrics.base import WAITED
from wirelab.metrics.ledger import PARTS as SPENT_ON
from wirelab.schema import Clock
from wirelab.schema.estimates import radio_of
from wirelab.stats.energy import labelled, radio_energies
from wirelab.stats.ledger import ledgers

if TYPE_CHECKING:
    from wirelab.stats.dataset import Dataset


def measured(dataset: Dataset, keys: Mapping[str, str]) -> Measured:
    """Parts of exchanges, a mean for each trial. `keys` are the plan's, by the digests of scenarios.

    An exchange that timed out counts as its time-out, which is where means of delays count it. One that failed has no
    time and is left out. What a client does not stamp is a part of its own.
    """
    import polars as pl

    cpu, done = _cpu_s(dataset), pl.col("outcome") == "completed"
    whole = (pl.col("end_ns") - pl.col("start_ns") + WAITED) / 1e9
    means = (
        dataset.exchanges.filter(pl.col("outcome").is_in(["completed", "timed-out"]))
        .with_columns(pl.when(done).then(pl.col(name).fill_null(0) / 1e9).otherwise(0.0) for name in PHASES)
        .with_columns(
            pl.when(done).then(whole - pl.sum_horizontal(*PHASES)).otherwise(0.0).alias(NOT_SPLIT),
            pl.when(done).then(0.0).otherwise(1.0).alias(TIMED_OUT),
        )
        .group_by("scenario", "trial", "replicate")
        .agg(pl.col(name).mean() for name in PARTS)
        .collect()
    )
    found: dict[str, dict[int, OfTrial]] = {key: {} for key in keys.values()}
    for row in means.iter_rows(named=True):
        parts = {name: row[name] for name in PARTS}
        parts[TIMED_OUT] *= dataset.horizon_s(row["scenario"])
        found[row["scenario"]][row["replicate"]] = OfTrial(parts, cpu.get(row["trial"], 0.0))
    return Measured({digest: found[key] for digest, key in keys.items()})


def _cpu_s(dataset: Dataset) -> dict[str, float]:
    """Seconds for each exchange of a trial that client and server computed beyond their start, or were held back by a
    limit on CPU time, start and end included: so at most. Without trials of which some part is not known, and empty
    under the virtual clock, where computing takes no time.
    """
    import polars as pl

    if dataset.plan.clock is not Clock.LIVE:
        return {}
    exchanges = dict(dataset.exchanges.group_by("trial").len().collect().iter_rows())
    used = (pl.col("client_cpu_ns") - pl.col("client_cpu_idle_ns")) + (
        pl.col("server_cpu_ns") - pl.col("server_cpu_idle_ns")
    )
    throttled = pl.col("client_throttled_ns").fill_null(0) + pl.col("server_throttled_ns").fill_null(0)
    sums = dataset.trials.select("trial", seconds=(used + throttled) / 1e9).drop_nulls()
    return {
        row["trial"]: max(0.0, row["seconds"]) / exchanges[row["trial"]]
        for row in sums.iter_rows(named=True)
        if row["trial"] in exchanges
    }


def spent(dataset: Dataset, key: str) -> dict[str, float] | None:
    """IP bytes of one exchange by what they were spent on; None without captures of every packet."""
    record = ledgers(dataset).get(key)
    if record is None:
        return None
    found = {part: float(record["up"][part] + record["down"][part]) for part in SPENT_ON}  # type: ignore[literal-required]
    return {part: value for part, value in found.items() if value}


def radio(dataset: Dataset, link: str) -> str | None:
    """The radio of a link's client as outputs name it; None without one."""
    model = radio_energies(dataset)[0]
    found = None if model is None else radio_of(model, link)
    return None if found is None else labelled(found["radio"]["name"], found["radio"])


def energy(dataset: Dataset, key: str) -> dict[str, float] | None:
    """Joules of one exchange by state of the radio, as the model says; None without a radio."""
    record = radio_energies(dataset)[1].get(key)
    return None if record is None else {state: each["typical"] for state, each in record["states"].items()}
