"""The metrics of a radio model."""

from __future__ import annotations

from wirelab.metrics.energy import METRICS
from wirelab.metrics.energy_names import BOUNDS, column, metric_column
from wirelab.metrics.registry import ENERGIES, EXCHANGE_METRICS, TRIAL_METRICS


def test_each_energy_has_its_range_next_to_it() -> None:
    for what in ("radio-energy", "interval-energy", "setup-energy", "day-energy", "trial-radio-energy"):
        assert {f"{what}{ending}" for ending in BOUNDS.values()} <= ENERGIES
    assert {metric.name for metric in METRICS} == ENERGIES


def test_claims_can_name_energies_of_exchanges_and_not_of_trials() -> None:
    exchange = {metric.name for metric in EXCHANGE_METRICS}
    assert "radio-energy" in exchange
    assert "trial-radio-energy" not in exchange
    assert {"interval-energy", "setup-energy"} <= exchange
    parts = {"trial-radio-energy", "trial-setup-energy", "trial-messages-energy", "trial-closing-energy"}
    assert parts <= {metric.name for metric in TRIAL_METRICS}


def test_columns_of_the_energy_model_are_not_in_the_dataset() -> None:
    made = {column(what, bound) for what in ("radio-energy", "day-energy", "trial-radio-energy") for bound in BOUNDS}
    assert not made & {metric.column for metric in METRICS}


def test_a_column_of_a_metric_is_found_by_its_name() -> None:
    names = {metric.name: metric.column for metric in METRICS}
    for what in ("radio-energy", "interval-energy", "trial-closing-energy"):
        for bound, ending in BOUNDS.items():
            assert names[f"{what}{ending}"] == metric_column(what, bound)
