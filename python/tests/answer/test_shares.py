"""Shares of causes, next to those by hand."""

from __future__ import annotations

import pytest

from wirelab.answer.shares import Subset, shapley, subsets


def test_causes_that_add_up_have_what_they_add() -> None:
    made = {"loss": 3.0, "rate": 0.5, "handshake": 0.0}
    found = shapley([*made], lambda those: 7 + sum(made[each] for each in those))
    assert found == {each: pytest.approx(value) for each, value in made.items()}


def test_what_two_causes_make_only_together_is_halved() -> None:
    def value(those: Subset) -> float:
        return 1.0 if {"loss", "handshake"} <= those else 0.0

    assert shapley(["loss", "rate", "handshake"], value) == {
        "loss": pytest.approx(0.5), "rate": pytest.approx(0), "handshake": pytest.approx(0.5),
    }  # fmt: skip


def test_shares_sum_to_what_all_make_whatever_the_values() -> None:
    causes = ["a", "b", "c", "d"]
    values = {each: float(sum(2 ** causes.index(one) for one in each) ** 3 % 97) for each in subsets(causes)}
    found = shapley(causes, values.__getitem__)
    assert sum(found.values()) == pytest.approx(values[frozenset(causes)] - values[frozenset()])


def test_one_cause_has_everything() -> None:
    assert shapley(["rtt"], lambda those: 20.0 if those else 5.0) == {"rtt": pytest.approx(15.0)}
