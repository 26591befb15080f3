"""The metrics of a radio model."""

from __future__ import annotations

from wirelab.metrics.energy import METRICS
from wirelab.metrics.energy_names import BOUNDS, column
from wirelab.metrics.registry import ENERGIES, EXCHANGE_METRICS, TRIAL_METRICS


def test_each_energy_has_its_range_next_to_it() -> None:
    for what in ("radio-energy", "day-energy", "trial-radio-energy"):
        assert {f"{what}{ending}" for ending in BOUNDS.values()} <= ENERGIES
    assert {metric.name for metric in METRICS} == ENERGIES


def test_claims_can_name_energies_of_exchanges_and_not_of_trials() -> None:
    exchange = {metric.name for metric in EXCHANGE_METRICS}
    assert "radio-energy" in exchange
    assert "trial-radio-energy" not in exchange
    assert "trial-radio-energy" in {metric.name for metric in TRIAL_METRICS}


def test_columns_of_the_energy_model_are_not_in_the_dataset() -> None:
    made = {column(what, bound) for what in ("radio-energy", "day-energy", "trial-radio-energy") for bound in BOUNDS}
    assert not made & {metric.column for metric in METRICS}
