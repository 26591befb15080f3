"""A difference split by phase and cause, on numbers made up by a formula."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.asked import ask
from tests.explained import EXPLANATION
from wirelab.answer.explain import (
    CPU,
    LEFT,
    PARTS,
    PHASES,
    Measured,
    OfTrial,
    Side,
    Swapped,
    counted,
    mean,
    of_levels,
    shares,
    warnings,
    what_ifs,
    with_one_seed,
)
from wirelab.experiment.experiment import load_experiment
from wirelab.experiment.grid.scenario import Scenario
from wirelab.schema.explain import DifferenceShare
from wirelab.schema.plan import Trial

WHOLE = ("phase_connect_ns", "phase_handshake_ns", "phase_wait_ns")
"""Phases of a round trip each."""


def scenarios(*sets: str) -> tuple[Scenario, ...]:
    return load_experiment("message", ["protocol=https1", *sets], ask).scenarios


def phases(scenario: Scenario, replicate: int) -> dict[str, float]:
    """A round trip for each phase, two for TLS 1.2; a lost packet takes 0.2 s and a round trip."""
    kinds = {stage.kind: stage for stage in scenario.link.uplink}
    rtt = 2 * getattr(kinds.get("delay"), "delay_ns", 0) / 1e9
    trips = dict.fromkeys(WHOLE, 1.0)
    trips["phase_handshake_ns"] += scenario.settings.get("tls") == "1.2"
    found = {name: trips.get(name, 0.0) * rtt for name in PARTS}
    found["phase_wait_ns"] += 0.001 + (0.2 + rtt) * (0.1 + replicate / 100) * ("loss" in kinds)
    return found


def measure(*each: Scenario, cpu: float = 0.0, replicates: int = 3) -> Measured:
    return Measured(
        {one.digest(): {at: OfTrial(phases(one, at), cpu) for at in range(replicates)} for one in each}
    )  # fmt: skip


def split(first: Scenario, second: Scenario, cpu: float = 0.0) -> list[DifferenceShare]:
    sides = (Side.of(first, ask), Side.of(second, ask))
    everything = [each for side in sides for each in side.without.values()]
    measured = measure(*everything, cpu=cpu)
    difference, found = shares(*sides, measured, counted(sides, measured))
    assert sum(each["difference_s"]["point"] for each in found) == pytest.approx(difference["point"])
    return found


def test_a_longer_round_trip_is_all_propagation() -> None:
    first, second = scenarios("link.rtt=20 ms, 60 ms")
    found = split(first, second)
    assert {(each["phase"], each["cause"]) for each in found} == {
        *((PHASES[name], "propagation") for name in WHOLE), ("", LEFT),
    }  # fmt: skip
    for each in found[:-1]:
        assert each["difference_s"] == pytest.approx({"point": 0.04, "low": 0.04, "high": 0.04})
        assert each["evidence"] == "caused"
    assert found[-1]["difference_s"]["point"] == pytest.approx(0)
    assert (found[-1]["first_s"], found[-1]["evidence"]) == (pytest.approx(0.001), "unexplained")


def test_what_loss_and_round_trip_make_only_together_is_shared() -> None:
    first, second = scenarios("link.rtt=20 ms", "link.loss=0 %, 10 %")
    found = {(each["phase"], each["cause"]): each for each in split(first, second)}
    # 0.2 s and half a round trip of each of 11 % of the exchanges on average, and the other half.
    assert found[PHASES["phase_wait_ns"], "lost packets"]["difference_s"]["point"] == pytest.approx(0.11 * 0.21)
    assert found[PHASES["phase_wait_ns"], "propagation"]["difference_s"]["point"] == pytest.approx(0.11 * 0.01)


def test_cpu_time_is_a_share_of_what_no_link_makes() -> None:
    first, second = scenarios("link.rtt=20 ms, 60 ms")
    *_, cpu, left = split(first, second, cpu=0.0004)
    assert (cpu["cause"], cpu["evidence"], cpu["first_s"]) == (CPU, "measured", pytest.approx(0.0004))
    assert left["first_s"] == pytest.approx(0.0006)
    [*_, most] = split(first, second, cpu=5.0)
    assert (most["cause"], most["first_s"]) == (CPU, pytest.approx(0.001))


def test_each_factor_has_its_part_and_both_sum_to_the_difference() -> None:
    grid = scenarios("link.rtt=20 ms, 60 ms", "protocols.https1.tls=1.2, 1.3")
    first = next(each for each in grid if each.name == "https1, 20 ms, 1.2")
    second = next(each for each in grid if each.name == "https1, 60 ms, 1.3")
    swapped = Swapped.of(first, second, grid)
    found = {each["factor"]: each["difference_s"]["point"] for each in of_levels(swapped, measure(*grid))}
    assert found == pytest.approx({"link.rtt": 0.14, "protocols.https1.tls": -0.04})
    without = [each for each in grid if each.name != "https1, 60 ms, 1.2"]
    assert of_levels(Swapped.of(first, second, without), measure(*grid)) == []
    assert of_levels(swapped, measure(*without)) == []


def test_a_choice_is_swapped_against_the_base_which_does_not_have_it() -> None:
    base, choice = scenarios("link.rtt=20 ms, 60 ms")
    base = replace(base, points=({"protocol": "https1"},))
    choice = replace(choice, points=({"protocol": "https1", "link.rtt": "60 ms"},))
    for pair in ((base, choice), (choice, base)):
        swapped = Swapped.of(*pair, (base, choice))
        assert [*swapped.mixed.values()] == [*pair]
        [found] = of_levels(swapped, measure(base, choice))
        assert abs(found["difference_s"]["point"]) == pytest.approx(0.12)
        assert "as the base has it" in {found["first"], found["second"]}


def test_only_trials_that_every_scenario_has_count() -> None:
    first, second = scenarios("link.rtt=20 ms, 60 ms")
    sides = (Side.of(first, ask), Side.of(second, ask))
    measured = measure(*(each for side in sides for each in side.without.values()))
    few = dict(measured.trials)
    few[second.digest()] = {1: few[second.digest()][1]}
    assert counted(sides, Measured(few)) == [1]
    assert measured.mean(first, [1])["low"] is None


def test_what_programs_could_do_otherwise_is_next_to_what_they_do() -> None:
    side = Side.of(scenarios("link.rtt=20 ms", "protocols.https1.tls=1.2")[0], ask)
    found = what_ifs(side, measure(side.scenario, side.changed[next(iter(side.changed))]))
    assert [(each["change"], each["effect_s"]["point"]) for each in found] == [
        ("with TLS 1.3 instead of 1.2", pytest.approx(-0.02))
    ]


def test_scenarios_that_are_run_have_names_of_their_own() -> None:
    side = Side.of(scenarios("link.rtt=20 ms", "link.loss=1 %")[0], ask)
    names = [each.name for each in side.scenarios()]
    assert len(set(names)) == len(names)
    assert names[0] == side.scenario.name
    assert f"{side.scenario.name} without propagation, lost packets" in names


def test_time_outs_and_few_trials_are_said() -> None:
    side = {**EXPLANATION["first"], "timed_out": 5, "trials": 3}
    found = [*warnings([side, EXPLANATION["second"]])]  # type: ignore[list-item]
    assert found == [
        "h2: 5 of 1,000 exchanges timed out. Each counts as its time-out, so the mean is at least so large.",
        "h2: its intervals are of 3 trials only.",
    ]


def test_trials_have_the_random_numbers_of_one() -> None:
    trials = [
        Trial(trial=f"t{at}", scenario=f"s{at}", replicate=0, link_seed=at, endpoint_seed=at + 10) for at in (2, 1, 3)
    ]
    found = with_one_seed(trials)
    assert {(each.link_seed, each.endpoint_seed) for each in found} == {(1, 11)}
    assert [each.scenario for each in found] == ["s2", "s1", "s3"]


def test_a_mean_has_students_interval_and_none_of_one_trial() -> None:
    found = mean([1.0, 2.0, 3.0])
    assert found == pytest.approx({"point": 2.0, "low": 2 - 4.3026527 / 3**0.5, "high": 2 + 4.3026527 / 3**0.5})
    assert mean([1.0]) == {"point": 1.0, "low": None, "high": None}
    with pytest.raises(ValueError, match="a mean of no value"):
        mean([])
