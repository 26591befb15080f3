import itertools

import pytest

from wirelab.experiment.link.signal import Step, frame_error, resolve, signal_maps
from wirelab.units import UnitError, rate_bps, share

MAPS = sorted(signal_maps())


def steps(technology: str) -> tuple[Step, ...]:
    return signal_maps()[technology].steps


@pytest.mark.parametrize("technology", MAPS)
def test_at_the_sensitivity_the_standards_share_of_frames_is_lost(technology: str) -> None:
    known = signal_maps()[technology]
    for step in known.steps:
        found = resolve(technology, step.sensitivity_dbm)
        assert found == {"rate": step.rate, "ack": step.ack, "frame-error": "10 %"}
        assert frame_error(known, step, 0) == pytest.approx(known.frame_error)


@pytest.mark.parametrize("technology", MAPS)
def test_a_rate_holds_until_the_next_ones_sensitivity(technology: str) -> None:
    for lower, higher in itertools.pairwise(steps(technology)):
        assert resolve(technology, higher.sensitivity_dbm - 0.01)["rate"] == lower.rate


@pytest.mark.parametrize("technology", MAPS)
def test_a_stronger_signal_loses_fewer_frames_of_the_same_rate(technology: str) -> None:
    known = signal_maps()[technology]
    for step in known.steps:
        errors = [frame_error(known, step, margin / 4) for margin in range(13)]
        assert errors == sorted(errors, reverse=True)
        assert errors[0] > 10 * errors[-1]


@pytest.mark.parametrize("technology", MAPS)
def test_faster_rates_need_stronger_signals(technology: str) -> None:
    levels = [(rate_bps(step.rate), step.sensitivity_dbm) for step in steps(technology)]
    assert levels == sorted(levels)
    assert len({level for _, level in levels}) == len(levels)


@pytest.mark.parametrize("technology", MAPS)
def test_an_ack_takes_its_symbols_at_a_mandatory_rate_below_that_of_the_frame(technology: str) -> None:
    for step in steps(technology):
        mandatory = max(rate for rate in (6, 12, 24) if rate * 10**6 <= rate_bps(step.rate))
        symbols = -(-(14 * 8 + 16 + 6) // (4 * mandatory))
        assert step.ack == f"{20 + 4 * symbols + 6} us"


def test_the_good_signal_of_londono2016_is_the_highest_rate_without_errors() -> None:
    assert resolve("802.11n", -27) == {"rate": "65 Mbit/s", "ack": "34 us", "frame-error": "0 %"}
    assert resolve("802.11g", -27) == {"rate": "54 Mbit/s", "ack": "34 us", "frame-error": "0 %"}


def test_a_signal_between_two_rates_loses_some_frames() -> None:
    found = resolve("802.11g", -81.5)
    assert found["rate"] == "6 Mbit/s"
    assert 0 < share(found["frame-error"]) < 0.1


def test_a_signal_below_every_sensitivity_is_refused_with_a_hint() -> None:
    with pytest.raises(
        UnitError, match=r"-85 dBm is below the minimum sensitivity of 802.11n receivers \(-82 dBm\)"
    ) as error:
        resolve("802.11n", -85)
    assert error.value.hint is not None
    assert "wifi-poor" in error.value.hint


def test_an_unknown_technology_is_refused_by_name() -> None:
    with pytest.raises(UnitError, match=r"unknown technology") as error:
        resolve("802.11z", -50)
    assert error.value.hint == "did you mean '802.11n'? (known: 802.11g, 802.11n)"
