"""Exact probabilities of long delays, which `wirelab exact` left in a campaign's folder, next to its sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wirelab.schema.estimates import EnumeratedRecord, EnumeratedShare
from wirelab.schema.exact import ENUMERATED, EXACT, ExactScenario, read_exact
from wirelab.stats.estimate.model import LEVEL
from wirelab.stats.estimate.proportion import Share
from wirelab.stats.estimate.sample import Sample

if TYPE_CHECKING:
    from wirelab.stats.dataset import Dataset


def enumerated(dataset: Dataset) -> dict[str, EnumeratedRecord]:
    """By the keys of scenarios whose losses were enumerated with the first seed."""
    path = dataset.folder / ENUMERATED / EXACT
    if not path.exists():
        return {}
    record = read_exact(path)
    keys = {scenario.identity: scenario.key for scenario in dataset.scenarios}
    found = {}
    for each in record["scenarios"]:
        for loss, identity in each["stands_for"].items() if each["seed"] == 1 else ():
            if identity in keys:
                key = keys[identity]
                found[key] = _next_to(_sample(dataset, key), each, loss, record["delays_s"])
    return found


def _next_to(sample: Sample, exact: ExactScenario, loss: str, delays_s: list[float]) -> EnumeratedRecord:
    [curve] = [each for each in exact["exceedances"] if each["loss"] == loss]
    shares = [
        EnumeratedShare(
            delay_s=each["delay_s"], low=each["bounds"]["low"], high=each["bounds"]["high"],
            sampled=Share.beyond(sample, each["delay_s"]).estimate(LEVEL).record(),
        )
        for each in exact["beyond"]
        if each["loss"] == loss
    ]  # fmt: skip
    return EnumeratedRecord(
        shares=shares, delays_s=delays_s, low=curve["low"], high=curve["high"],
        sampled=[Share.beyond(sample, delay).point for delay in delays_s] if sample.n else [],
    )  # fmt: skip


def _sample(dataset: Dataset, scenario: str) -> Sample:
    """From the start to the end of each exchange in seconds; what did not complete is longer than any delay."""
    import polars as pl

    rows = dataset.rows(scenario).with_columns(
        delay=pl.when(pl.col("outcome") == "completed").then((pl.col("end_ns") - pl.col("start_ns")) / 1e9)
    )
    trials = [part["delay"] for _, part in rows.group_by("trial", maintain_order=True)]
    values = tuple(np.asarray(trial.drop_nulls().to_numpy(), dtype=np.float64) for trial in trials)
    return Sample(values, tuple(trial.null_count() for trial in trials))
