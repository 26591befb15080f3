import numpy as np
import pytest

from tests.fit import samples
from wirelab.fit import MeasurementError, observe_irtt

UP = [12_000_000, 15_000_000, 11_000_000, 13_000_000]
DOWN = [8_000_000, 8_100_000, 8_200_000, 8_000_000]


def result(lost: list[str] | None = None, **clocks: int) -> str:
    return samples.as_json(samples.irtt(UP, DOWN, lost or ["false"] * 4, **clocks))


def test_round_trips_and_the_interval_are_read() -> None:
    seen = observe_irtt(result())
    assert seen.round_trips_ns.tolist() == [20_000_000, 23_100_000, 19_200_000, 21_000_000]
    assert seen.interval_ns == 20_000_000


def test_losses_of_a_known_direction_count_for_that_direction() -> None:
    seen = observe_irtt(result(["false", "true_up", "true_down", "false"]))
    assert seen.lost is None
    assert seen.lost_by_way["uplink"].tolist() == [False, True, False, False]
    assert seen.lost_by_way["downlink"].tolist() == [False, True, False], "what was lost upwards was never sent down"


def test_with_one_loss_of_unknown_direction_all_losses_are_of_round_trips() -> None:
    seen = observe_irtt(result(["false", "true_up", "true", "false"]))
    assert seen.lost is not None
    assert seen.lost.tolist() == [False, True, True, False]
    assert not seen.lost_by_way
    assert "unknown direction" in seen.seen[0]


def test_losses_may_be_booleans_as_older_versions_write_them() -> None:
    value = samples.irtt(UP, DOWN, ["false"] * 4)
    value["round_trips"][1] |= {"lost": True, "delay": {}}
    value["round_trips"][2]["lost"] = False
    seen = observe_irtt(samples.as_json(value))
    assert seen.lost is not None
    assert seen.lost.tolist() == [False, True, False, False]


def test_a_constant_clock_offset_does_not_change_the_one_way_spreads() -> None:
    seen = observe_irtt(result(offset_ns=-50_000_000))
    assert np.diff(seen.one_way_ns["uplink"]).tolist() == np.diff(UP).tolist()
    assert not seen.clocks_agree


def test_with_drifting_clocks_one_way_delays_are_not_used() -> None:
    drifting = samples.irtt(UP * 50, DOWN * 50, ["false"] * 200, drift_ns=3_000_000)
    seen = observe_irtt(samples.as_json(drifting))
    assert not seen.one_way_ns
    assert "drifted apart by 3" in seen.seen[0] or "drifted apart by 2.9" in seen.seen[0]
    steady = samples.irtt(UP * 50, DOWN * 50, ["false"] * 200)
    assert observe_irtt(samples.as_json(steady)).one_way_ns


def test_synchronised_clocks_are_accepted_unless_a_delay_is_impossible() -> None:
    seen = observe_irtt(result(), clocks_agree=True)
    assert seen.one_way_ns["uplink"].tolist() == UP
    with pytest.raises(MeasurementError, match="the clocks disagree"):
        observe_irtt(result(offset_ns=-30_000_000), clocks_agree=True)


def test_synchronised_clocks_need_one_way_delays() -> None:
    value = samples.irtt(UP, DOWN, ["false"] * 4)
    for trip in value["round_trips"]:
        del trip["delay"]["send"]
    with pytest.raises(MeasurementError, match="has no one-way delays"):
        observe_irtt(samples.as_json(value), clocks_agree=True)
    assert not observe_irtt(samples.as_json(value)).one_way_ns


def test_late_replies_are_counted() -> None:
    value = samples.irtt(UP, DOWN, ["false"] * 4)
    value["round_trips"][2]["timestamps"]["late"] = True
    assert observe_irtt(samples.as_json(value)).seen == (
        "1 of 4 replies were reordered; the profile has no reordering.",
    )


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "is not JSON, or truncated"),
        (result()[:-40], "is not JSON, or truncated"),
        ("{}", "is not an irtt result: config"),
        (result().replace('"json_format": 1', '"json_format": 2'), "json_format 2, and 1 is understood"),
        (samples.as_json(samples.irtt([], [], [])), "has no round_trips"),
        (result(["true"] * 4), "has no round trip"),
        (result(["true", "false", "true", "true"]), "has one round trip"),
        (result().replace('"false"', '"maybe"'), r"round_trips\.0\.lost"),
    ],
)
def test_a_text_that_is_not_an_irtt_result_or_is_too_short_is_refused(text: str, what: str) -> None:
    with pytest.raises(MeasurementError, match=what):
        observe_irtt(text)
