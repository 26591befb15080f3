"""Which scenarios A and B are."""

from __future__ import annotations

import pytest

from tests.asked import ask
from wirelab.answer.pair import pair_of
from wirelab.errors import WirelabError
from wirelab.experiment.experiment import Experiment, load_experiment


def experiment(*sets: str) -> Experiment:
    return load_experiment("message", ["protocol=h2, h3", *sets], ask)


@pytest.mark.parametrize("words", [("h2, 20 ms", "h3, 20 ms"), ("h2, 60 ms", "h2, 20 ms")])
def test_names_are_of_scenarios(words: tuple[str, str]) -> None:
    found = pair_of(experiment("link.rtt=20 ms, 60 ms"), *words)
    assert (found[0].name, found[1].name) == words


def test_a_level_that_one_scenario_has_names_it() -> None:
    found = pair_of(experiment("link.rtt=20 ms"), "h3", "h2")
    assert [each.protocol for each in found] == ["h3", "h2"]


@pytest.mark.parametrize(
    ("words", "sets", "said"),
    [
        (("h2", "h2"), (), "A and B are one scenario: h2"),
        (("h2", "h5"), (), "has no scenario h5"),
        (("h2", "h3"), ("link.rtt=20 ms, 60 ms",), "h2 may be 2 scenarios"),
        (("h2", "h3"), ("link.rtt=1 ms, 2 ms, 3 ms, 4 ms, 5 ms, 6 ms, 7 ms, 8 ms, 9 ms",), "and 1 more"),
    ],
)
def test_a_word_that_names_no_pair_is_refused(words: tuple[str, str], sets: tuple[str, ...], said: str) -> None:
    with pytest.raises(WirelabError) as caught:
        pair_of(experiment(*sets), *words)
    assert said in str(caught.value)
