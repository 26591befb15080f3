"""Levels of scenarios as columns of a table."""

from __future__ import annotations

import polars as pl
import pytest

from tests.asked import load_experiment
from wirelab.metrics.levels import level_columns, levels_of, with_levels
from wirelab.plan import make_plan
from wirelab.schema.plan import Scenario


@pytest.fixture(scope="module")
def scenarios() -> tuple[Scenario, ...]:
    sets = ("protocol=coap,h2", "link.rtt=20 ms,50 ms", "protocols.h2.tls=1.2,1.3", "workload.exchanges=1,2")
    return make_plan(load_experiment("quickstart", sets)).scenarios


def test_each_scenario_has_its_protocol_and_levels(scenarios: tuple[Scenario, ...]) -> None:
    found = levels_of(scenarios)
    assert found.columns == ["scenario", *level_columns(scenarios)]
    for scenario, row in zip(scenarios, found.iter_rows(named=True), strict=True):
        assert (row["scenario"], row["protocol"]) == (scenario.key, scenario.protocol)
        assert row["link.rtt"] == scenario.levels["link.rtt"]
        assert row["protocols.h2.tls"] == scenario.levels.get("protocols.h2.tls")
    assert set(found["protocols.h2.tls"]) == {None, "1.2", "1.3"}


def test_numbers_stay_numbers_and_quantities_are_text(scenarios: tuple[Scenario, ...]) -> None:
    found = levels_of(scenarios)
    assert found.schema["workload.exchanges"] == pl.Int64
    assert found.schema["link.rtt"] == pl.String


def test_a_table_gets_them_behind_its_scenario_once(scenarios: tuple[Scenario, ...]) -> None:
    table = pl.DataFrame({"trial": ["b", "a"], "scenario": [scenarios[1].key, scenarios[0].key], "client": [0, 1]})
    once = with_levels(table, scenarios)
    assert once.columns == ["trial", "scenario", *level_columns(scenarios), "client"]
    assert once["trial"].to_list() == ["b", "a"]
    assert with_levels(once, scenarios).equals(once)
