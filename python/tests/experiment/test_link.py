from typing import Any

import pytest

from wirelab.experiment.link import LinkConflictError, LinkTable, check_conflicts, link_spec, merge
from wirelab.schema import (
    Delay,
    GilbertElliott,
    GilbertElliottTime,
    LinkSpec,
    Loss,
    MediumSpec,
    NormalJitter,
    Rate,
    UniformJitter,
)

GE = {"p": "1 %", "r": "10 %", "1-h": "70 %", "1-k": "0.1 %"}
LOSS = Loss(probability=0.1)


def spec(*layers: dict[str, Any]) -> LinkSpec:
    return link_spec(LinkTable.model_validate(merge(layers)))


def test_a_round_trip_is_split_equally() -> None:
    half = (Delay(delay_ns=10_000_000),)
    assert spec({"rtt": "20 ms"}) == LinkSpec(uplink=half, downlink=half)


def test_a_link_without_values_does_nothing() -> None:
    assert spec({}) == LinkSpec(uplink=(), downlink=())


def test_a_delay_is_each_ways() -> None:
    assert spec({"delay": "20 ms"}).downlink == (Delay(delay_ns=20_000_000),)


def test_one_way_may_have_no_delay_at_all() -> None:
    link = spec({"rtt": "20 ms"}, {"uplink": {"delay": "0 ms"}})
    assert link == LinkSpec(uplink=(), downlink=(Delay(delay_ns=10_000_000),))


def test_the_chain_is_rate_then_loss_then_delay() -> None:
    link = spec({"delay": "1 ms", "loss": "10 %", "rate": "1 Mbit/s", "queue": "64 kB", "overhead": "14 B"})
    rate = Rate(rate_bps=1_000_000, queue_bytes=64_000, overhead_bytes=14)
    assert link.uplink == (rate, LOSS, Delay(delay_ns=1_000_000))


def test_gilbert_elliott_takes_netems_four_parameters() -> None:
    assert spec({"gilbert-elliott": GE}).uplink == (GilbertElliott(p=0.01, r=0.1, bad_loss=0.7, good_loss=0.001),)


def test_gilbert_elliott_in_time_takes_mean_sojourns() -> None:
    table = {"good": "1.42 s", "bad": "70 ms", "bad-loss": "30 %"}
    expected = GilbertElliottTime(good_ns=1_420_000_000, bad_ns=70_000_000, bad_loss=0.3, good_loss=0)
    assert spec({"gilbert-elliott-time": table}).uplink == (expected,)


@pytest.mark.parametrize(
    ("written", "jitter"),
    [
        ("normal 5 ms", NormalJitter(sigma_ns=5_000_000)),
        ("uniform 5ms", UniformJitter(half_width_ns=5_000_000)),
        ({"distribution": "normal", "sigma": "5 ms"}, NormalJitter(sigma_ns=5_000_000)),
        ({"distribution": "uniform", "half-width": "5 ms"}, UniformJitter(half_width_ns=5_000_000)),
    ],
)
def test_jitter_is_a_distribution_and_its_spread(written: object, jitter: NormalJitter | UniformJitter) -> None:
    assert spec({"delay": "10 ms", "jitter": written}).uplink == (Delay(delay_ns=10_000_000, jitter=jitter),)


def test_jitter_none_removes_that_of_an_earlier_layer() -> None:
    assert spec({"delay": "1 ms", "jitter": "normal 5 ms"}, {"jitter": "none"}).uplink == (Delay(delay_ns=1_000_000),)


@pytest.mark.parametrize(("direction", "lossy"), [("both", "ud"), ("uplink", "u"), ("downlink", "d")])
def test_direction_says_which_way_loss_acts(direction: str, lossy: str) -> None:
    link = spec({"loss": "10 %", "direction": direction})
    assert (link.uplink == (LOSS,), link.downlink == (LOSS,)) == ("u" in lossy, "d" in lossy)


def test_direction_leaves_delay_and_rate_alone() -> None:
    link = spec({"rtt": "2 ms", "rate": "1 Mbit/s", "queue": "1 kB", "loss": "10 %", "direction": "uplink"})
    assert [stage.kind for stage in link.downlink] == ["rate", "delay"]


def test_a_directions_own_values_override_the_links() -> None:
    link = spec({"delay": "10 ms", "loss": "10 %", "downlink": {"delay": "30 ms", "loss": "0 %"}})
    assert link.uplink == (LOSS, Delay(delay_ns=10_000_000))
    assert link.downlink == (Delay(delay_ns=30_000_000),)


def test_a_directions_delay_of_zero_overrides_the_links() -> None:
    assert spec({"delay": "10 ms", "downlink": {"delay": "0 ms"}}).downlink == ()


def test_a_medium_is_shared_by_both_directions() -> None:
    link = spec({"medium": {"rate": "250 kbit/s", "queue": "2 kB"}})
    assert link.medium == MediumSpec(rate_bps=250_000, queue_bytes=2000)


def test_no_loss_is_no_stage() -> None:
    assert spec({"loss": "0 %"}) == spec({})


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
    ],
)
def test_keys_that_contradict_one_another_are_refused(table: dict[str, Any], key: str) -> None:
    with pytest.raises(LinkConflictError) as error:
        check_conflicts(table)
    assert error.value.key == key


@pytest.mark.parametrize(("table", "key"), [({"rate": "1 kbit/s"}, "rate"), ({"queue": "1 kB"}, "queue")])
def test_a_rate_and_a_queue_need_one_another(table: dict[str, Any], key: str) -> None:
    with pytest.raises(LinkConflictError) as error:
        spec(table)
    assert error.value.key == key
