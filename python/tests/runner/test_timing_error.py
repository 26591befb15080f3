"""When the link was too late."""

from tests.runner.fakes import link_report
from wirelab.runner.timing_error import LatePackets, late_packets, tolerance_ns
from wirelab.schema import Delay, LinkSpec, Loss


def link(delay_ns: int) -> LinkSpec:
    return LinkSpec(uplink=(Delay(delay_ns=delay_ns), Loss(probability=0.1)), downlink=(Delay(delay_ns=delay_ns),))


def test_the_tolerance_is_a_hundredth_of_the_round_trip_but_at_least_200_us() -> None:
    assert tolerance_ns(link(1_000_000)) == 200_000
    assert tolerance_ns(link(50_000_000)) == 1_000_000
    assert tolerance_ns(LinkSpec(uplink=(), downlink=())) == 200_000


def test_packets_in_buckets_above_the_tolerance_are_late() -> None:
    assert late_packets(link_report(packets=100, late=3), link(10_000_000)) == LatePackets(100, 3)
    assert late_packets(link_report(packets=100, late=3), link(500_000_000)) == LatePackets(100, 0)


def test_a_packet_later_than_the_plans_bound_is_a_stall_on_whatever_link() -> None:
    in_time, late = link_report(worst_ns=25_000_000), link_report(worst_ns=25_000_001)
    assert late_packets(in_time, link(10_000_000), 25_000_000).tolerable
    for stalled in (
        late_packets(late, link(10_000_000), 25_000_000),
        late_packets(in_time, link(10_000_000), 25_000_000, [late]),
    ):
        assert stalled == LatePackets(100, 0, 25_000_001)
        assert not stalled.tolerable
    assert late_packets(late, link(10_000_000)).tolerable


def test_one_late_packet_in_a_hundred_is_tolerable_and_two_are_not() -> None:
    assert LatePackets(100, 1).tolerable
    assert not LatePackets(100, 2).tolerable
    assert not (LatePackets(100, 0) + LatePackets(100, 3)).tolerable
    assert LatePackets(0, 0).tolerable
