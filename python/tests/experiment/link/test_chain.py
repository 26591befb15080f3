from pathlib import Path
from typing import Any

import pytest

from tests.asked import ask, single_link
from wirelab.experiment.link import LinkConflictError, LinkTable, link_spec, merge
from wirelab.experiment.link.files import Files
from wirelab.schema import (
    AddressFamily,
    Corrupt,
    Delay,
    DeliveryTrace,
    Dependence,
    DropTail,
    Duplicate,
    DutyCycle,
    GilbertElliott,
    GilbertElliottTime,
    LinkSpec,
    Loss,
    NatSpec,
    NormalJitter,
    Outage,
    RadioSpec,
    Rate,
    Reorder,
    Schedule,
    SchedulePoint,
    Serialiser,
    SleepSpec,
    TokenBucket,
    Unmapped,
    canonical_json,
)

GE = {"p": "1 %", "r": "10 %", "1-h": "70 %", "1-k": "0.1 %"}
LOSS = Loss(probability=0.1)


def spec(*layers: dict[str, Any]) -> LinkSpec:
    return link_spec(LinkTable.model_validate(merge(layers)), ask)


def test_a_round_trip_is_split_equally() -> None:
    half = (Delay(delay_ns=10_000_000),)
    assert spec({"rtt": "20 ms"}) == LinkSpec(uplink=half, downlink=half)


def test_a_link_without_values_does_nothing() -> None:
    assert spec({}) == LinkSpec(uplink=(), downlink=())


def test_a_delay_applies_to_each_direction() -> None:
    assert spec({"delay": "20 ms"}).downlink == (Delay(delay_ns=20_000_000),)


def test_one_direction_may_have_no_delay() -> None:
    link = spec({"rtt": "20 ms"}, {"uplink": {"delay": "0 ms"}})
    assert link == LinkSpec(uplink=(), downlink=(Delay(delay_ns=10_000_000),))


def test_the_chain_is_rate_then_loss_then_delay() -> None:
    link = spec({"delay": "1 ms", "loss": "10 %", "rate": "1 Mbit/s", "queue": "64 kB", "overhead": "14 B"})
    rate = Rate(rate_bps=1_000_000, queue=DropTail(bytes=64_000), overhead_bytes=14)
    assert link.uplink == (rate, LOSS, Delay(delay_ns=1_000_000))


def test_gilbert_elliott_takes_netems_four_parameters() -> None:
    assert spec({"gilbert-elliott": GE}).uplink == (GilbertElliott(p=0.01, r=0.1, bad_loss=0.7, good_loss=0.001),)


def test_gilbert_elliott_in_time_takes_mean_sojourns() -> None:
    table = {"good": "1.42 s", "bad": "70 ms", "bad-loss": "30 %"}
    expected = GilbertElliottTime(good_ns=1_420_000_000, bad_ns=70_000_000, bad_loss=0.3, good_loss=0)
    assert spec({"gilbert-elliott-time": table}).uplink == (expected,)


@pytest.mark.parametrize(("direction", "lossy"), [("both", "ud"), ("uplink", "u"), ("downlink", "d")])
def test_direction_limits_loss_to_one_direction(direction: str, lossy: str) -> None:
    link = spec({"loss": "10 %", "direction": direction})
    assert (link.uplink == (LOSS,), link.downlink == (LOSS,)) == ("u" in lossy, "d" in lossy)


def test_direction_does_not_change_delay_and_rate() -> None:
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
    assert link.medium == Serialiser(rate_bps=250_000, queue_bytes=2000)


def test_zero_loss_has_no_stage() -> None:
    assert spec({"loss": "0 %"}) == spec({})


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"queue": "1 kB"}, "queue"),
        ({"burst": "2 kB"}, "burst"),
        ({"duty-cycle": "1 %"}, "duty-cycle"),
        ({"uplink": {"burst": "2 kB"}}, "uplink.burst"),
        ({"rate": "1 kbit/s", "queue": "1 kB", "burst": "1499 B"}, "burst"),
        ({"rate": "1 kbit/s", "queue": "1 kB", "burst": "1500 B", "overhead": "14 B"}, "burst"),
        ({"schedule": {"points": [{"at": "0 s", "rate": "1 kbit/s"}]}}, "schedule"),
        ({"jitter-correlation": "25 %", "delay": "1 ms"}, "jitter-correlation"),
        ({"overtaking": True, "delay": "1 ms"}, "overtaking"),
        ({"loss-correlation": "25 %"}, "loss-correlation"),
        ({"loss": "1 %", "delay": "1 ms", "order": ["loss"]}, "order"),
        ({"loss": "1 %", "uplink": {"order": ["delay"]}}, "uplink.order"),
    ],
)
def test_a_key_that_needs_another_key_says_so(table: dict[str, Any], key: str) -> None:
    with pytest.raises(LinkConflictError) as error:
        spec(table)
    assert error.value.key == key
    assert error.value.hint


def test_every_stage_has_its_place() -> None:
    link = spec(
        {
            "outage": {"start": "10 s", "duration": "2 s", "every": "60 s", "hold": "16 kB"},
            "rate": "1 Mbit/s", "queue": "100 packets", "loss": "10 %", "loss-correlation": "25 %",
            "corrupt": "0.1 %", "duplicate": {"probability": "1 %", "correlation": "50 %"},
            "delay": "10 ms", "jitter": "normal 1 ms", "jitter-correlation": "25 %", "overtaking": True,
            "reorder": {"probability": "1 %", "by": "5 ms"},
        }
    )  # fmt: skip
    assert link.uplink == link.downlink
    assert link.uplink == (
        Outage(start_ns=10**10, duration_ns=2 * 10**9, every_ns=6 * 10**10, hold_bytes=16_000),
        Rate(rate_bps=1_000_000, queue=DropTail(packets=100)),
        Loss(probability=0.1, correlation=0.25),
        Corrupt(probability=0.001),
        Duplicate(probability=0.01, correlation=0.5),
        Delay(delay_ns=10_000_000, jitter=NormalJitter(sigma_ns=1_000_000), correlation=0.25, overtaking=True),
        Reorder(probability=0.01, by_ns=5_000_000),
    )


def test_stages_have_the_requested_order() -> None:
    table = {"rate": "1 Mbit/s", "queue": "1 kB", "loss": "10 %", "delay": "1 ms"}
    link = spec({**table, "order": ["loss", "rate", "delay"]})
    assert [stage.kind for stage in link.uplink] == ["loss", "rate", "delay"]


def test_an_order_may_name_stages_that_the_link_lacks() -> None:
    link = spec({"delay": "1 ms", "loss": "0 %", "order": ["loss", "delay", "outage"]})
    assert [stage.kind for stage in link.uplink] == ["delay"]


def test_one_direction_may_have_an_order_of_its_own() -> None:
    link = spec({"delay": "1 ms", "loss": "10 %", "downlink": {"order": ["delay", "loss"]}})
    assert [[stage.kind for stage in way] for way in (link.uplink, link.downlink)] == [
        ["loss", "delay"], ["delay", "loss"],
    ]  # fmt: skip


def test_a_burst_gives_a_token_bucket_and_a_duty_cycle_a_resting_sender() -> None:
    table = {"rate": "1 Mbit/s", "queue": "1 kB"}
    queue = DropTail(bytes=1000)
    assert spec({**table, "burst": "15 kB"}).uplink == (TokenBucket(rate_bps=10**6, burst_bytes=15_000, queue=queue),)
    assert spec({**table, "duty-cycle": "1 %"}).uplink == (DutyCycle(rate_bps=10**6, share=0.01, queue=queue),)


def test_a_small_mtu_allows_a_small_burst() -> None:
    link = spec({"rate": "1 Mbit/s", "queue": "1 kB", "burst": "600 B", "mtu": "600 B"})
    assert link.mtu == 600
    assert [stage.kind for stage in link.uplink] == ["token-bucket"]


def test_ipv4_is_left_out_so_that_scenarios_keep_their_keys() -> None:
    assert spec({"rtt": "20 ms", "family": "ipv6"}).family is AddressFamily.IPV6
    assert spec({"rtt": "20 ms", "family": "ipv4"}) == spec({"rtt": "20 ms"})
    assert "family" not in spec({"rtt": "20 ms"}).to_json()
    assert spec({"mtu": "1280 B", "family": "ipv6"}).mtu == 1280


def test_links_that_carry_ipv6_alone_come_with_it() -> None:
    for name in ("ieee802154", "ble"):
        assert single_link(name).family is AddressFamily.IPV6
        assert single_link(name, ["family=ipv4"]).family is None


def test_a_direction_may_have_another_kind_of_rate() -> None:
    points = [{"at": "0 s", "rate": "2 Mbit/s"}]
    link = spec({"rate": "1 Mbit/s", "burst": "2 kB", "queue": "1 kB", "downlink": {"schedule": {"points": points}}})
    assert [stage.kind for stage in link.uplink] == ["token-bucket"]
    assert link.downlink == (
        Schedule(points=(SchedulePoint(at_ns=0, rate_bps=2_000_000),), queue=DropTail(bytes=1000)),
    )


def test_a_schedule_without_rates_needs_no_queue() -> None:
    (stage,) = spec({"schedule": {"points": [{"at": "0 s", "delay": "20 ms"}], "repeat": "1 s"}}).uplink
    assert stage.to_json()["points"] == [{"at_ns": 0, "delay_ns": 20_000_000}]


def test_a_trace_is_the_files_opportunities(tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("0\n5\n5\n")
    table = LinkTable.model_validate({"trace": "up.trace", "queue": "1 kB"}, context=Files(tmp_path))
    assert link_spec(table, ask).uplink == (DeliveryTrace(opportunities_ms=(0, 5, 5), queue=DropTail(bytes=1000)),)


def test_radio_and_address_translation_belong_to_the_link() -> None:
    link = spec(
        {
            "radio": {
                "sleeps": [{"after": "1 s", "cycle": "1.28 s", "wake": "200 ms"}, {"after": "10 s", "wake": "2 s"}],
                "buffer": "16 kB",
            },
            "nat": {"udp": "30 s"},
        }
    )
    light = SleepSpec(after_ns=10**9, cycle_ns=1_280_000_000, wake_ns=200_000_000)
    deep = SleepSpec(after_ns=10**10, wake_ns=2 * 10**9)
    assert link.radio == RadioSpec(sleeps=(light, deep), buffer_bytes=16_000)
    assert link.nat == NatSpec(
        mapping=Dependence.ENDPOINT_INDEPENDENT,
        filtering=Dependence.ADDRESS_DEPENDENT,
        udp_timeout_ns=30 * 10**9,
        tcp_transitory_timeout_ns=240 * 10**9,
        tcp_established_timeout_ns=7440 * 10**9,
        inbound_refresh=True,
        keep_port=False,
        ports=(1024, 65_535),
        table_size=65_536,
        unmapped_segment=Unmapped.DROP,
    )


def test_an_effect_with_probability_0_has_no_stage() -> None:
    table = {"duplicate": "0 %", "corrupt": "0 %", "reorder": {"probability": "0 %", "by": "1 ms"}}
    assert spec({**table, "loss-pattern": {"pattern": "000"}}) == spec({})


def test_a_link_without_newer_keys_is_passed_unchanged() -> None:
    """Keys of scenarios are hashes of this text."""
    link = spec({"rtt": "20 ms", "loss": "10 %", "jitter": "normal 1 ms"})
    chain = (
        '[{"kind":"loss","probability":0.1},'
        '{"delay_ns":10000000,"jitter":{"distribution":"normal","sigma_ns":1000000},"kind":"delay"}]'
    )
    assert canonical_json(link.to_json()) == f'{{"downlink":{chain},"uplink":{chain}}}'
