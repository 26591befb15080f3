from pathlib import Path

import pytest

from tests.described import BASE, load
from wirelab.errors import WirelabError
from wirelab.experiment.experiment import Experiment
from wirelab.experiment.grid.points import Factor, grid, grid_size, meet

ONE = [Factor("a", (1,), ("factors", "a"))]
CHOICES = [Factor("b", (2,), ("choices", "b")), Factor("c", (3, 4), ("choices", "c"))]
LAN = [Factor("b", (2,), ("interpretations", "lan", "b")), Factor("d", (5,), ("interpretations", "lan", "d"))]
INTERPRETATIONS = """
[interpretations.lan]
"link.rtt" = "2 ms"
"workload.connection" = "persistent"

[interpretations."HTTP/1 opens, HTTP/2 keeps"]
"protocols.http1.workload.connection" = "new"
"protocols.h2.workload.connection" = "persistent"
"""


def names(experiment: Experiment) -> list[str]:
    return [scenario.name for scenario in experiment.scenarios]


def test_the_grid_is_every_combination_in_order() -> None:
    factors = [Factor("a", (1, 2), ("factors", "a")), Factor("b", ("x", "y"), ("factors", "b"))]
    assert [tuple(point.values()) for point in grid(factors)] == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]


def test_choices_are_varied_one_at_a_time() -> None:
    assert grid([*ONE, *CHOICES]) == [{"a": 1}, {"a": 1, "b": 2}, {"a": 1, "c": 3}, {"a": 1, "c": 4}]
    assert grid_size([*ONE, *CHOICES]) == 4


def test_choices_can_be_varied_together_with_each_at_its_base_too() -> None:
    points = grid([*ONE, *CHOICES], "together")
    around = [{}, {"c": 3}, {"c": 4}, {"b": 2}, {"b": 2, "c": 3}, {"b": 2, "c": 4}]
    assert points == [{"a": 1, **levels} for levels in around]
    assert grid_size([*ONE, *CHOICES], "together") == len(points)


def test_a_choice_can_replace_the_only_level_of_a_factor() -> None:
    factors = [*ONE, Factor("a", (2, 3), ("choices", "a"))]
    for vary_choices in ("one-at-a-time", "together"):
        assert grid(factors, vary_choices) == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_an_interpretation_is_one_more_set_of_levels_around_the_factors() -> None:
    assert grid([*ONE, *CHOICES[:1], *LAN]) == [{"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2, "d": 5}]
    assert grid_size([*ONE, *CHOICES[:1], *LAN]) == 3


def test_two_factors_meet_if_a_point_can_have_both() -> None:
    other = Factor("b", (2,), ("interpretations", "wan", "b"))
    assert meet(ONE[0], LAN[0], "one-at-a-time")
    assert meet(*LAN, "one-at-a-time")
    assert not meet(LAN[1], other, "together")
    assert not meet(CHOICES[0], LAN[0], "together")
    assert [meet(*CHOICES, vary_choices) for vary_choices in ("one-at-a-time", "together")] == [False, True]


def test_an_interpretation_sets_several_levels_at_once_also_of_one_protocol(tmp_path: Path) -> None:
    experiment = load(tmp_path, BASE + INTERPRETATIONS)
    assert names(experiment) == [
        "http1", "h2",
        "http1, lan", "h2, lan",
        "h2, protocols.h2.workload.connection persistent",
    ]  # fmt: skip
    # HTTP/1 opens one for each in the base too.
    both = {"protocols.http1.workload.connection": "new", "protocols.h2.workload.connection": "persistent"}
    assert {"protocol": "http1", **both} in experiment.scenarios[0].points
    assert {"protocol": "h2", **both} in experiment.scenarios[-1].points
    policies = [scenario.workload.to_json()["connection"]["policy"] for scenario in experiment.scenarios]
    assert policies == ["new", "new", "persistent", "persistent", "persistent"]


def test_an_option_moves_the_base_under_an_interpretation(tmp_path: Path) -> None:
    experiment = load(tmp_path, BASE + INTERPRETATIONS, "link.rtt=50ms", "vary-choices=together")
    rtts = [scenario.levels["link.rtt"] for scenario in experiment.scenarios]
    assert rtts == ["50ms", "50ms", "2 ms", "2 ms", "50ms"]
    assert experiment.vary_choices == "together"


def test_a_whole_grid_of_choices_that_is_too_large_says_how_large_each_way_would_be(tmp_path: Path) -> None:
    levels = [f'"{path}" = {[f"{n} ms" for n in range(1, 120)]}\n' for path in ("link.rtt", "workload.message-time")]
    text = BASE + "[choices]\n" + "".join(levels)
    assert len(load(tmp_path, text).scenarios) == 2 * (1 + 2 * 119) - 2  # 20 ms is the base
    with pytest.raises(WirelabError) as error:
        load(tmp_path, f'vary-choices = "together"\n{text}')
    assert str(error.value).splitlines()[0].endswith(": choices: 28,800 combinations of levels")
    assert str(error.value).endswith('hint: at most 20,000; vary-choices = "one-at-a-time" makes 478')
