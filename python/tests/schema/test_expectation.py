"""A bound that a statistic of a scenario is to keep."""

from __future__ import annotations

import pytest

from wirelab.schema.expectation import Expectation, Sign


def expectation(sign: Sign = "<", **where: str) -> Expectation:
    return Expectation(
        statistic="p95", metric="end-to-end-delay", sign=sign, bound_in_unit=2, written="2 s", unit="s", where=where
    )


@pytest.mark.parametrize(
    ("sign", "kept"),
    [
        ("<", [True, False, False]),
        ("<=", [True, True, False]),
        (">", [False, False, True]),
        (">=", [False, True, True]),
    ],
)
def test_a_value_keeps_a_bound_by_its_sign(sign: Sign, kept: list[bool]) -> None:
    assert [expectation(sign).holds(value) for value in (1.0, 2.0, 3.0)] == kept


def test_it_is_about_a_scenario_with_all_its_levels_at_one_point() -> None:
    found = expectation(protocol="h2", exchanges="40")
    assert found.is_about([{"protocol": "h2", "exchanges": 10}, {"protocol": "h2", "exchanges": 40}])
    assert not found.is_about([{"protocol": "h2", "exchanges": 10}, {"protocol": "h3", "exchanges": 40}])
    assert expectation().is_about([{}])
    assert not expectation(exchanges="None").is_about([{}])


def test_a_switch_is_written_as_in_toml() -> None:
    assert expectation(nagle="true").is_about([{"nagle": True}])
    assert not expectation(nagle="true").is_about([{"nagle": False}])


def test_a_request_is_named_by_its_method_and_path() -> None:
    found = expectation(**{"workload.request": "GET /items"})
    for level in ({"path": "/items"}, '{"path": "/items"}'):
        assert found.is_about([{"workload.request": level}])
    assert not found.is_about([{"workload.request": {"path": "/items", "body": "item.json"}}])


def test_its_subject_is_what_a_file_says() -> None:
    assert (
        expectation(protocol="h2", link="clean").subject
        == "p95 of end-to-end-delay where protocol = h2 and link = clean"
    )
    assert expectation().model_copy(update={"statistic": "completed", "metric": None}).subject == "completed"
