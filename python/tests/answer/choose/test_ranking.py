"""Which choice is first, by trials that differ and a radio that nobody knows exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wirelab.answer.choose.ranking import LOOKS, Parts, Ranking, exactly, first_of, is_settled, ranked
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
    """Made-up devices whose radio is anywhere within its bounds, with 2 to 8 choices of which the lowest is `gap` below
    the next. Trials differ by 0.1 to 2 %, and one looks after 5, 8 and 12 of them.
    """
    named = right = 0
    for seed in range(DRAWS_OF_TRUTH):
        world = _World(seed, gap)
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


class _World:
    """One device: what its choices really take, and trials of them. The radio's bounds are those that were published of
    radios here: a factor of up to 2 for what all choices have alike, and 1.2 for sending and receiving.
    """

    def __init__(self, seed: int, gap: float) -> None:
        self._rng = np.random.default_rng(seed)
        rng = self._rng
        count = int(rng.integers(2, 9))
        # What a message takes of the radio whatever the protocol, and what is the protocol's own.
        common, truth = rng.uniform(0.2, 5.0), {}
        levels = {"tail": rng.uniform(1.0, 2.0), "transmit": rng.uniform(1.0, 1.2), "receive": rng.uniform(1.0, 1.2)}
        at = {state: rng.random() for state in levels}
        real = {state: _at(1 / level, 1.0, level, at[state]) for state, level in levels.items()}
        own = [rng.uniform(0.3, 1.0) for _ in range(count)]
        for nth in range(count):
            parts = {"tail": common, "transmit": own[nth] * 0.7, "receive": own[nth] * 0.3}
            truth[f"choice {nth}"] = {state: parts[state] for state in parts}
        totals = {name: sum(parts[state] * real[state] for state in parts) for name, parts in truth.items()}
        # The two lowest are `gap` apart, and the others above both.
        order = sorted(totals, key=totals.__getitem__)
        self.best = order[0]
        for nth, name in enumerate(order[1:], 1):
            wanted = totals[order[0]] * (1 + gap) * (1 + 0.05 * (nth - 1))
            factor = wanted / totals[name] if nth == 1 or totals[name] < wanted else 1.0
            truth[name] = {state: value * factor for state, value in truth[name].items()}
        self._truth, self._levels, self._spread = truth, levels, rng.uniform(0.001, 0.02)

    def decided(self) -> str | None:
        """What is named, at the first look that names one."""
        trials: dict[str, list[Parts]] = {name: [] for name in self._truth}
        for number in range(1, LOOKS[-1] + 1):
            for name, parts in self._truth.items():
                factor = math.exp(self._rng.normal(0, self._spread))
                trials[name].append(
                    {
                        state: {
                            "low": value * factor / self._levels[state],
                            "typical": value * factor,
                            "high": value * factor * self._levels[state],
                        }
                        for state, value in parts.items()
                    }
                )
            if number in LOOKS:
                found: Ranking = ranked(trials, seed=1)
                if found.first is not None:
                    return found.first
                if is_settled(found):
                    return None
        return None


def _at(low: float, typical: float, high: float, share: float) -> float:
    return low + (typical - low) * 2 * share if share < 0.5 else typical + (high - typical) * (2 * share - 1)
