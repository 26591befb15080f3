"""Throughput of background traffic in each scenario: protocols are under the same load only if it is similar."""

from __future__ import annotations

from wirelab.schema.estimates import EstimateRecord
from wirelab.stats.dataset import Dataset
from wirelab.stats.estimate.descriptive import mean_and_sd
from wirelab.stats.estimate.sample import Sample
from wirelab.stats.link.report import kept_trials


def background(dataset: Dataset) -> dict[str, EstimateRecord]:
    """For each scenario with background traffic the mean over trials that count, each of which has one value; `n` is of
    trials whose traffic reported.
    """
    trials = kept_trials(dataset).drop_nulls("background_bps")
    found = {}
    for scenario in dataset.scenarios:
        if scenario.traffic:
            rates = trials.filter(trials["scenario"] == scenario.key)["background_bps"]
            mean, _ = mean_and_sd(Sample.of([rate] for rate in rates), dataset.rng(scenario.key, "background"))
            found[scenario.key] = mean.record()
    return found
