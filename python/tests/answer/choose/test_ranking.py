"""Which choice is first, by trials that differ and a radio that nobody knows exactly."""

from __future__ import annotations

import pytest

from tests.answer.choose.drawn import World
from wirelab.answer.choose.ranking import Parts, exactly, first_of, is_settled, ranked
from wirelab.schema.bounds import Bounds

DRAWS_OF_TRUTH = 200


def of(*values: float) -> list[Parts]:
    return [exactly(value) for value in values]


def test_the_lowest_is_first_if_trials_hardly_differ() -> None:
    found = ranked({"a": of(1.0, 1.001, 0.999, 1.0), "b": of(1.1, 1.101, 1.1, 1.099)}, seed=1)
    assert (found.first, found.alike, found.rank("b")) == ("a", ("a",), 2)
    assert found.gap is not None
    assert found.gap.point == pytest.approx(1.1, rel=1e-3)


def test_none_is_first_if_trials_differ_by_more_than_the_gap() -> None:
    found = ranked({"a": of(1.0, 1.4, 0.7, 1.1), "b": of(1.2, 0.8, 1.3, 1.0)}, seed=1)
    assert found.first is None
    assert set(found.alike) == {"a", "b"}
    assert found.rank("a") == found.rank("b") == 1


def test_a_difference_below_one_percent_is_none() -> None:
    found = ranked({"a": of(1, 1, 1, 1), "b": of(1.005, 1.005, 1.005, 1.005), "c": of(2, 2, 2, 2)}, seed=1)
    assert (found.first, set(found.alike), found.rank("c")) == (None, {"a", "b"}, 3)
    assert is_settled(found)


def test_a_tie_with_the_second_does_not_settle_what_is_open_of_a_third() -> None:
    noisy = of(1.0, 1.4, 0.9, 1.2)
    found = ranked({"a": of(1, 1, 1, 1), "b": of(1.005, 1.005, 1.005, 1.005), "c": noisy}, seed=1)
    assert (found.first, set(found.alike), found.unsettled) == (None, {"a", "b", "c"}, ("c",))
    assert not is_settled(found)


def test_what_the_radio_alone_leaves_open_is_settled() -> None:
    """More trials would say nothing of its constants."""
    wide: Parts = {"transmit": {"low": 0.2, "typical": 1.0, "high": 3.0}}
    found = ranked({"sends": [wide] * 4, "waits": of(1.1, 1.1, 1.1, 1.1)}, seed=1)
    assert (found.first, found.unsettled) == (None, ())
    assert is_settled(found)


def test_one_trial_decides_nothing() -> None:
    found = ranked({"a": of(1.0), "b": of(9.0)}, seed=1)
    assert found.first is None
    assert found.gap is not None
    assert (found.gap.low, found.gap.n) == (None, 1)


def test_a_constant_of_the_radio_that_could_turn_the_order_leaves_it_open() -> None:
    sends: Parts = {"transmit": {"low": 0.2, "typical": 1.0, "high": 3.0}, "tail": {"low": 2, "typical": 2, "high": 2}}
    waits: Parts = {"transmit": {"low": 0.1, "typical": 0.5, "high": 1.5}, "tail": {"low": 3, "typical": 3, "high": 3}}
    assert ranked({"sends": [sends] * 4, "waits": [waits] * 4}, seed=1).first is None


def test_a_constant_that_moves_both_alike_does_not_matter() -> None:
    small: Parts = {"transmit": {"low": 0.5, "typical": 1.0, "high": 4.0}}
    large: Parts = {"transmit": {"low": 0.6, "typical": 1.2, "high": 4.8}}
    assert ranked({"small": [small] * 4, "large": [large] * 4}, seed=1).first == "small"


def test_what_is_above_the_best_by_itself_and_not_together_with_another_is_alike() -> None:
    """Each rival is lower in 4 % of the draws, but for another constant: one of them is in 8 %."""

    def exact(value: float) -> Bounds:
        return {"low": value, "typical": value, "high": value}

    def rival(state: str) -> Parts:
        return {"base": exact(9.5), state: {"low": 0.4565, "typical": 1.0, "high": 2.0}}

    best: Parts = {"base": exact(10.0)}
    trials = {"best": [best] * 5, "one": [rival("sleep")] * 5, "other": [rival("wake")] * 5, "far": of(*[30.0] * 5)}
    found = ranked(trials, seed=1)
    assert (found.first, found.alike[0], len(found.alike), found.rank("far")) == (None, "best", 2, 4)
    del trials["one"]
    assert ranked(trials, seed=1).first == "best"


def test_an_only_choice_is_first() -> None:
    found = ranked({"a": of(1.0, 2.0)}, seed=1)
    assert (found.first, found.gap) == ("a", None)


def test_choices_need_as_many_trials() -> None:
    with pytest.raises(ValueError, match="as many trials"):
        ranked({"a": of(1.0), "b": of(1.0, 2.0)}, seed=1)
    with pytest.raises(ValueError, match="as many trials"):
        ranked({}, seed=1)


def test_first_of_names_all_that_are_within_a_percent() -> None:
    assert first_of({"a": 1.0, "b": 1.009, "c": 1.011}) == ("a", "b")
    assert first_of({}) == ()


@pytest.mark.parametrize("gap", [0.0, 0.05, 0.1, 0.2])
def test_by_simulation_it_names_a_first_that_is_right_and_none_without_a_gap(gap: float) -> None:
    """Worlds whose lowest choice is `gap` below the next. One looks after 5, 8 and 12 trials, as `choose` does."""
    named = right = 0
    for seed in range(DRAWS_OF_TRUTH):
        world = World(seed, gap)
        found = world.decided()
        named += found is not None
        right += found == world.best
    share = named / DRAWS_OF_TRUTH
    if gap == 0:
        assert share <= 0.05
    else:
        assert right >= 0.95 * named
    if gap >= 0.1:
        assert share >= 0.8
