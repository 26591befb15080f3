from typing import Any

import pytest

from tests.asked import ask
from wirelab.experiment.link import LinkConflictError, LinkTable, check_conflicts, link_spec, merge
from wirelab.schema import Delay, DropTail, GilbertElliott, LinkSpec, Loss, Rate, TokenBucket, Wifi

GE = {"p": "1 %", "r": "10 %", "1-h": "70 %", "1-k": "0.1 %"}
LOSS = Loss(probability=0.1)
WIFI = {"kind": "wifi", "rate": "54 Mbit/s", "queue": "256 kB"}


def spec(*layers: dict[str, Any]) -> LinkSpec:
    return link_spec(LinkTable.model_validate(merge(layers)), ask)


def test_a_later_layers_round_trip_replaces_every_delay() -> None:
    below = {"delay": "1 ms", "uplink": {"delay": "5 ms", "loss": "10 %"}}
    assert spec(below, {"rtt": "20 ms"}).uplink == (LOSS, Delay(delay_ns=10_000_000))


def test_a_later_layers_loss_replaces_every_kind_of_loss() -> None:
    below = {"gilbert-elliott": GE, "downlink": {"loss": "50 %"}}
    link = spec(below, {"loss": "10 %"})
    assert (link.uplink, link.downlink) == ((LOSS,), (LOSS,))


def test_a_later_layer_can_change_one_parameter_of_a_table() -> None:
    stage = spec({"gilbert-elliott": GE}, {"gilbert-elliott": {"p": "2 %"}}).uplink[0]
    assert stage == GilbertElliott(p=0.02, r=0.1, bad_loss=0.7, good_loss=0.001)


def test_merging_changes_no_layer() -> None:
    below = {"uplink": {"loss": "10 %"}}
    merge([below, {"loss": "1 %", "uplink": {"delay": "1 ms"}}])
    assert below == {"uplink": {"loss": "10 %"}}


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"rtt": "1 ms", "delay": "1 ms"}, "delay"),
        ({"loss": "1 %", "gilbert-elliott": GE}, "gilbert-elliott"),
        ({"uplink": {"loss": "1 %", "gilbert-elliott": GE}}, "uplink.gilbert-elliott"),
        ({"rtt": "1 ms", "uplink": {"delay": "1 ms"}}, "rtt"),
        ({"direction": "uplink", "downlink": {"loss": "1 %"}}, "direction"),
        ({"rate": "1 kbit/s", "trace": "up.trace"}, "trace"),
        ({"uplink": {"trace": "up.trace", "schedule": {}}}, "uplink.schedule"),
        ({"rate": "1 kbit/s", "burst": "2 kB", "duty-cycle": "1 %"}, "duty-cycle"),
        ({"trace": "up.trace", "burst": "2 kB"}, "burst"),
        ({"markov": {}, "loss-correlation": "1 %"}, "loss-correlation"),
    ],
)
def test_keys_that_contradict_one_another_are_refused(table: dict[str, Any], key: str) -> None:
    with pytest.raises(LinkConflictError) as error:
        check_conflicts(table)
    assert error.value.key == key


def test_a_later_layers_rate_replaces_the_directions() -> None:
    below = {"uplink": {"rate": "1 Mbit/s", "queue": "1 kB"}, "downlink": {"rate": "9 Mbit/s", "queue": "9 kB"}}
    link = spec(below, {"rate": "5 Mbit/s"})
    assert [stage.to_json()["rate_bps"] for stage in (*link.uplink, *link.downlink)] == [5_000_000, 5_000_000]
    assert link.downlink == (Rate(rate_bps=5_000_000, queue=DropTail(bytes=9000)),)


def test_another_kind_of_rate_replaces_the_rate_with_its_burst() -> None:
    below = {"rate": "1 Mbit/s", "burst": "3 kB", "queue": "1 kB"}
    link = spec(below, {"schedule": {"points": [{"at": "0 s", "rate": "2 Mbit/s"}]}})
    assert [stage.kind for stage in link.uplink] == ["schedule"]


def test_another_rate_keeps_the_burst() -> None:
    below = {"rate": "1 Mbit/s", "burst": "3 kB", "queue": "1 kB"}
    bucket = TokenBucket(rate_bps=2_000_000, burst_bytes=3000, queue=DropTail(bytes=1000))
    assert spec(below, {"rate": "2 Mbit/s"}).uplink == (bucket,)


def test_a_duty_cycle_replaces_a_burst() -> None:
    below = {"rate": "1 Mbit/s", "burst": "3 kB", "queue": "1 kB"}
    assert [stage.kind for stage in spec(below, {"duty-cycle": "1 %"}).uplink] == ["duty-cycle"]


def test_another_kind_of_loss_removes_the_correlation() -> None:
    below = {"loss": "10 %", "loss-correlation": "25 %"}
    assert spec(below, {"gilbert-elliott": GE}).uplink == spec({"gilbert-elliott": GE}).uplink
    assert spec(below, {"loss": "20 %"}).uplink == (Loss(probability=0.2, correlation=0.25),)


def test_another_discipline_replaces_the_queue_and_the_same_one_changes_it() -> None:
    below = {"rate": "1 Mbit/s", "queue": {"discipline": "codel", "limit": "64 kB"}}
    (changed,) = spec(below, {"queue": {"target": "20 ms"}}).uplink
    assert changed.to_json()["queue"] == {
        "discipline": "codel", "target_ns": 20_000_000, "interval_ns": 100_000_000, "bytes": 64_000,
    }  # fmt: skip
    (other,) = spec(below, {"queue": {"discipline": "fq-codel"}}).uplink
    assert other.to_json()["queue"]["packets"] == 10_240


def test_another_source_of_a_pattern_replaces_the_pattern() -> None:
    below = {"loss-pattern": {"pattern": "0011", "repeat": False}}
    (stage,) = spec(below, {"loss-pattern": {"every": 3}}).uplink
    assert stage.to_json() == {"kind": "loss-pattern", "pattern": "001", "repeat": True}


def test_one_value_of_a_medium_can_be_changed() -> None:
    medium = spec({"medium": WIFI}, {"medium": {"frame-error": "5 %"}}).medium
    assert isinstance(medium, Wifi)
    assert (medium.rate_bps, medium.frame_error) == (54_000_000, 0.05)


@pytest.mark.parametrize("key", ["medium", "radio", "nat", "outage", "reorder"])
def test_none_removes_the_value_of_an_earlier_layer(key: str) -> None:
    tables: dict[str, dict[str, Any]] = {
        "medium": WIFI,
        "radio": {"sleeps": [{"after": "1 s", "wake": "1 ms"}], "buffer": "1 kB"},
        "nat": {},
        "outage": {"start": "1 s", "duration": "1 s"},
        "reorder": {"probability": "1 %", "by": "1 ms"},
    }
    assert spec({key: tables[key]}) != spec({})
    assert spec({key: tables[key]}, {key: "none"}) == spec({})


def test_a_signal_is_replaced_by_its_rate_and_frame_error() -> None:
    from wirelab.experiment.link.signal import resolve

    layers = ({"medium": WIFI, "technology": "802.11g"}, {"signal": "-70 dBm"})
    medium, found = spec(*layers).medium, resolve("802.11g", -70)
    assert isinstance(medium, Wifi)
    assert medium == spec({"medium": WIFI | dict(found)}).medium
    later = spec(*layers, {"medium": {"rate": "6 Mbit/s"}}).medium
    assert isinstance(later, Wifi)
    assert later.rate_bps == 6_000_000


@pytest.mark.parametrize(
    ("layers", "key"),
    [
        (({"medium": WIFI, "technology": "802.11z"}, {"signal": "-70 dBm"}), "signal"),
        (({"medium": WIFI, "signal": "-70 dBm"}, {"technology": "802.11z"}), "technology"),
        (({"medium": WIFI, "technology": "802.11g", "signal": "-99 dBm"},), "signal"),
        (({"technology": "802.11g", "signal": "-70 dBm"},), "signal"),
    ],
)
def test_an_invalid_signal_is_refused(layers: tuple[dict[str, Any], ...], key: str) -> None:
    with pytest.raises(LinkConflictError) as error:
        merge(layers)
    assert error.value.key == key
