"""Which packets a timer of the network's moves, and the link that has that timer."""

from __future__ import annotations

from typing import Any

import pytest

from wirelab.answer.choose.timers import SENDING_S, Rest, Silence, retimed, silences, waking_s
from wirelab.experiment.library import profiles
from wirelab.units import duration_ns
from wirelab_energy.radio import load_radio

RADIO = load_radio("nrf9160-nbiot")
PSM, NB = profiles()["nb-iot-psm"].link, profiles()["nb-iot"].link


def rest(**inputs: str) -> Rest:
    return Rest.of(RADIO.with_inputs(inputs))


def afters(radio: dict[str, Any]) -> list[float]:
    return [duration_ns(sleep["after"]) / 1e9 for sleep in radio["sleeps"]]


def up(*seconds: float) -> list[Silence]:
    return [Silence(each, up=True) for each in seconds]


def down(*seconds: float) -> list[Silence]:
    return [Silence(each, up=False) for each in seconds]


@pytest.mark.parametrize(
    ("inputs", "starts"),
    [
        ({}, {"listen": 0, "drx": 0.2, "idle": 10, "psm": 70}),
        ({"active": "8 s"}, {"listen": 0, "drx": 0.2, "idle": 10, "psm": 18}),
        ({"inactivity": "5 s"}, {"listen": 0, "drx": 0.2, "idle": 5, "psm": 65}),
        ({"active": "never"}, {"listen": 0, "drx": 0.2, "idle": 10}),
        # Released at once, but only where nothing follows within 10 s.
        ({"rai": "on"}, {"listen": 0, "drx": 0.2, "idle": 10, "psm": 60}),
    ],
)
def test_states_begin_where_the_timers_say(inputs: dict[str, str], starts: dict[str, float]) -> None:
    assert rest(**inputs).starts == pytest.approx(starts)


def test_a_packet_moves_if_it_finds_another_state() -> None:
    usual, sooner = rest(), rest(active="8 s")
    assert not usual.moves(sooner, up(0.5, 5, 17.9, 72.1, 600), 0)
    assert usual.moves(sooner, up(18.1), 0)
    assert usual.moves(sooner, up(69.9), 0)
    assert not usual.moves(usual, [*up(1, 20, 100), *down(1, 20, 100)], 3)
    assert not usual.moves(sooner, [], 3)


def test_a_silence_of_a_log_may_be_longer_than_the_radios_by_what_waking_took() -> None:
    usual, sooner = rest(), rest(active="8 s")
    assert usual.moves(sooner, up(71), 2.7)
    assert usual.moves(sooner, up(70 + 2.6 + SENDING_S), 2.7)
    assert not usual.moves(sooner, up(70 + 2.8 + SENDING_S), 2.7)


def test_release_assistance_moves_what_comes_between_the_two_starts_of_psm() -> None:
    usual, assisted = rest(), rest(rai="on")
    assert usual.moves(assisted, up(65), 0)
    assert not usual.moves(assisted, up(0.5, 5, 9, 20, 59, 72.1), 0)


def test_a_packet_of_the_server_moves_with_the_beginning_of_the_sleep_that_it_meets() -> None:
    """The radio listens every cycle from there on."""
    usual, sooner = rest(), rest(inactivity="5 s")
    assert usual.moves(sooner, down(30), 0)
    assert not usual.moves(sooner, up(30), 0)
    assert not usual.moves(sooner, down(4.9), 0)


def test_without_psm_only_the_inactivity_timer_moves() -> None:
    usual, sooner = rest(active="never"), rest(active="never", inactivity="5 s")
    assert usual.moves(sooner, up(7), 0)
    assert not usual.moves(sooner, up(4, 12.1, 1000), 0)


def test_silences_are_before_packets() -> None:
    packets = [(0, True), (200_000_000, False), (60_200_400_000, True)]
    assert silences(packets) == {Silence(0.2, up=False), Silence(60.0, up=True)}
    assert silences(packets[:1]) == set()


def test_a_link_gets_the_timers_of_the_radio() -> None:
    found = retimed(PSM, rest(), rest(inactivity="5 s", active="8 s"))
    assert found is not None
    assert afters(found) == [0.2, 5, 13]
    assert [sleep.get("cycle") for sleep in found["sleeps"]] == ["2.048 s", "1.28 s", None]
    assert [sleep["wake"] for sleep in found["sleeps"]] == ["0 ms", "1 s", "2.7 s"]
    assert found["buffer"] == PSM["radio"]["buffer"]


def test_a_link_whose_sleeps_are_not_the_radios_has_none() -> None:
    other = {**PSM["radio"], "sleeps": [{"after": "3 s", "wake": "1 s"}]}
    assert retimed({"radio": other}, rest(), rest(active="8 s")) is None
    assert retimed({}, rest(), rest(active="8 s")) is None


def test_a_sleep_that_the_other_radio_never_enters_is_left_out() -> None:
    without_psm = retimed(PSM, rest(), rest(active="never"))
    # Released after 10 s of silence, it is in PSM at once.
    released = retimed(PSM, rest(), rest(active="8 s", rai="on"))
    for found, waking in ((without_psm, "1 s"), (released, "2.7 s")):
        assert found is not None
        assert afters(found) == [0.2, 10]
        assert [sleep["wake"] for sleep in found["sleeps"]] == ["0 ms", waking]


@pytest.mark.parametrize(("rai", "expected"), [("off", [0.2, 10, 18]), ("on", [0.2, 10])])
def test_a_sleep_that_the_link_does_not_know_is_added_if_the_radio_hears_nothing_in_it(
    rai: str, expected: list[float]
) -> None:
    found = retimed(NB, rest(active="never"), rest(active="8 s", rai=rai))
    assert found is not None
    assert afters(found) == expected
    assert duration_ns(found["sleeps"][-1]["wake"]) == 2.7e9
    assert "cycle" not in found["sleeps"][-1]


def test_a_sleep_in_which_the_radio_listens_is_not_made_up() -> None:
    """Nobody knows how often a link without it would."""
    light = {"radio": {**NB["radio"], "sleeps": NB["radio"]["sleeps"][:1]}}
    assert retimed(light, rest(active="never"), rest(active="never", inactivity="20 s")) is None
    assert retimed(light, rest(active="never"), rest(active="never")) is not None


@pytest.mark.parametrize("active", ["55 s", "60 s", "595 s", "3600 s"])
def test_a_link_sleeps_exactly_when_the_model_does(active: str) -> None:
    found = retimed(PSM, rest(), rest(active=active))
    assert found is not None
    assert afters(found)[-1] == rest(active=active).starts["psm"]


def test_a_link_without_psm_fits_the_radio_without_it() -> None:
    found = retimed(NB, rest(active="never"), rest(active="never", inactivity="20 s"))
    assert found is not None
    assert afters(found) == [0.2, 20]


def test_the_longest_waking_counts() -> None:
    assert waking_s(PSM) == 2.7
    assert waking_s(NB) == 1.0
    assert waking_s({}) == 0.0
