from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wirelab_energy.radios import NS, mine
from wirelab_energy import Packet, Radio, RadioEnergy, Range, load_radio, partition, radio_energy, radio_names
from wirelab_energy.errors import WirelabError
from wirelab_energy.model import steady_energy

RADIO = mine()
RADIOS = [load_radio(name) for name in radio_names()]
PACKETS = st.lists(
    st.builds(Packet, st.integers(0, 100 * NS), st.booleans(), st.integers(0, 1500)), max_size=12, unique_by=lambda p: p
)


def test_energy_is_power_times_time_over_the_states() -> None:
    # One second of sending at 2 to 5 W and two of idling at 1 W.
    energy = radio_energy(RADIO, [Packet(NS, True, 974)], 0, 3 * NS)
    assert energy.joules == Range(4, 5, 7)
    assert energy.states["transmit"].joules == Range(2, 3, 5)
    assert (energy.states["idle"].seconds, energy.airtime_up_s, energy.airtime_down_s) == (2, 1, 0)
    assert (energy.listening_s, energy.tail_s, energy.beyond_s) == (2, 0, 0)
    assert [(each.state, each.watts.typical) for each in energy.timeline] == [("idle", 1), ("transmit", 3), ("idle", 1)]


def test_a_message_is_paid_for_in_its_tail() -> None:
    radio = load_radio("generic-nbiot")
    energy = radio_energy(radio, [Packet(0, True, 100)], 0, NS)
    # 2.7 s out of PSM and 40 ms on the air, then 10 s connected and 60 s idle, most of it after the window's second.
    assert energy.tail_s == pytest.approx(70)
    assert energy.beyond_s == pytest.approx(70)
    assert energy.late_s == 0
    inside = radio_energy(radio, [Packet(0, True, 100)], 0, 10 * NS)
    assert inside.beyond_s == pytest.approx(2.7 + 0.04 + 70 - 10)
    assert radio_energy(radio, [Packet(0, True, 100)], 0, 100 * NS).beyond_s == 0
    joules = 2.7 * 0.09 + 0.04 * 0.543 + 0.2 * 0.09 + 9.8 * (5 * 0.09 + 2043 * 0.0024) / 2048 + 60 * 0.0024
    assert energy.joules.typical == pytest.approx(joules)


def test_the_last_packet_waits_for_those_before_it_and_for_nothing_else() -> None:
    # A packet of 974 B takes a second, and 12 ms of gap behind its frame.
    def late(*packets: Packet) -> float:
        return radio_energy(RADIO, packets, packets[0].time_ns, packets[-1].time_ns).late_s

    assert late(Packet(0, True, 974), Packet(NS // 4, True, 974)) == pytest.approx(0.762)
    assert late(Packet(0, True, 974), Packet(3 * NS // 2, False, 974)) == pytest.approx(0.524)
    assert late(Packet(0, True, 974), Packet(0, True, 974), Packet(9 * NS, True, 974)) == 0
    assert late(Packet(0, False, 974)) == 0


def test_the_order_in_which_packets_are_given_does_not_matter() -> None:
    packets = [Packet(NS, True, 100), Packet(3 * NS, False, 40), Packet(2 * NS, True, 10)]
    assert radio_energy(RADIO, packets, 0, 9 * NS) == radio_energy(RADIO, sorted(packets, key=str), 0, 9 * NS)


@pytest.mark.parametrize("radio", RADIOS, ids=[radio.name for radio in RADIOS])
@settings(max_examples=20)
@given(packets=PACKETS, end_s=st.integers(0, 200))
def test_states_add_up_and_cover_the_time(radio: Radio, packets: list[Packet], end_s: int) -> None:
    energy = radio_energy(radio, packets, 0, end_s * NS)
    assert energy.joules.low <= energy.joules.typical <= energy.joules.high
    assert sum(each.joules.typical for each in energy.states.values()) == pytest.approx(energy.joules.typical)
    seconds = sum(each.seconds for each in energy.states.values())
    last = energy.timeline[-1].end_ns if energy.timeline else 0
    assert seconds == pytest.approx(last / NS)
    assert last >= max(end_s * NS, energy.settled_ns)
    assert energy.airtime_up_s + energy.airtime_down_s + energy.listening_s <= seconds * 1.001 + 1e-9


@pytest.mark.parametrize("radio", RADIOS, ids=[radio.name for radio in RADIOS])
def test_more_packets_cost_more_where_the_radio_sleeps_between_them(radio: Radio) -> None:
    # An 802.15.4 radio that always listens takes less while it sends.
    sleepy = radio.with_inputs({"stays-on": "100 ms"}) if "stays-on" in radio.inputs else radio
    one = radio_energy(sleepy, [Packet(NS, True, 500)], 0, 100 * NS)
    two = radio_energy(sleepy, [Packet(NS, True, 500), Packet(20 * NS, True, 500)], 0, 100 * NS)
    if radio.name == "powerpi-ethernet":  # its source has one power for every state
        assert two.joules.typical == pytest.approx(one.joules.typical)
    else:
        assert two.joules.typical > one.joules.typical


def test_in_a_steady_row_a_tail_ends_where_the_next_message_begins() -> None:
    radio = load_radio("generic-nbiot")
    message = radio_energy(radio, [Packet(0, True, 100)], 0, 0)
    # After 5 s the radio is still connected, so nothing is set up again.
    soon = steady_energy(radio, message, 5)
    assert soon.states.keys() == {"transmit", "listen", "drx"}
    assert sum(each.seconds for each in soon.states.values()) == pytest.approx(5)
    seldom = steady_energy(radio, message, 600)
    assert seldom.states["setup"].seconds == pytest.approx(2.7)
    assert seldom.states["psm"].seconds == pytest.approx(600 - 2.7 - 0.04 - 70)


@pytest.mark.parametrize("ways", [(True,), (False,), (False, True), (True, False)], ids=str)
@pytest.mark.parametrize("interval_s", [15, 120, 900])
@pytest.mark.parametrize("radio", RADIOS, ids=[radio.name for radio in RADIOS])
def test_an_interval_of_many_costs_what_one_message_more_does(
    radio: Radio, interval_s: int, ways: tuple[bool, ...]
) -> None:
    message = [Packet(at * NS, up, 100) for at, up in enumerate(ways)]

    def row(messages: int) -> float:
        packets = [
            Packet(each.time_ns + n * interval_s * NS, each.up, 100) for n in range(messages) for each in message
        ]
        return radio_energy(radio, packets, -1000 * NS, 0).joules.typical

    steady = steady_energy(radio, radio_energy(radio, message, 0, 0), interval_s)
    assert steady.joules.typical == pytest.approx(row(4) - row(3))
    assert sum(each.seconds for each in steady.states.values()) == pytest.approx(interval_s)


def test_a_downlink_packet_is_paid_for_with_its_wake_and_its_reception_in_every_interval() -> None:
    radio = load_radio("generic-nbiot")
    seldom = steady_energy(radio, radio_energy(radio, [Packet(0, False, 100)], 0, 0), 600)
    assert seldom.states["setup"].seconds == pytest.approx(2.7)
    assert seldom.airtime_down_s > 0


def test_an_interval_shorter_than_the_message_is_refused() -> None:
    message = radio_energy(RADIO, [Packet(0, True, 974), Packet(4 * NS, False, 974)], 0, 0)
    with pytest.raises(WirelabError, match="an interval of 2 s is shorter than the message, which takes 4"):
        steady_energy(RADIO, message, 2)
    with pytest.raises(WirelabError, match="an interval of 0 s"):
        steady_energy(RADIO, radio_energy(RADIO, [], 0, 0), 0)


def seconds_of(energy: RadioEnergy) -> int:
    return sum(each.end_ns - each.start_ns for each in energy.timeline)


@pytest.mark.parametrize("radio", RADIOS, ids=[radio.name for radio in RADIOS])
@settings(max_examples=20)
@given(packets=PACKETS, end_s=st.integers(0, 200), cuts=st.lists(st.integers(0, 250 * NS), max_size=8).map(sorted))
def test_a_partition_has_the_time_and_the_energy_of_the_whole(
    radio: Radio, packets: list[Packet], end_s: int, cuts: list[int]
) -> None:
    whole, parts = partition(radio, packets, 0, end_s * NS, cuts)
    assert whole == radio_energy(radio, packets, 0, end_s * NS)
    assert len(parts) == len(cuts) + 1
    assert sum(map(seconds_of, parts)) == seconds_of(whole)
    for bound, joules in whole.at_bounds.items():
        assert sum(each.at_bounds[bound] for each in parts) == pytest.approx(joules, rel=1e-9, abs=1e-12)
    assert sorted((each for part in parts for each in part.packets), key=str) == sorted(packets, key=str)
    joined = [each for part in parts for each in part.timeline]
    assert all(one.end_ns == other.start_ns for one, other in pairwise(joined))
    for part, start_ns, end_ns in zip(parts, [0, *cuts], cuts, strict=False):
        assert all(start_ns <= each.start_ns < each.end_ns <= end_ns for each in part.timeline)


def test_a_cut_in_the_middle_of_a_wake_or_a_tracking_area_update_splits_it() -> None:
    radio = load_radio("generic-nbiot")
    # A downlink packet's wake of 2.7 s lies before its time.
    _, [before, after] = partition(radio, [Packet(10 * NS, False, 100)], 0, 20 * NS, [8 * NS])
    assert before.states["setup"].seconds + after.states["setup"].seconds == pytest.approx(2.7)
    assert before.states["setup"].seconds > 0
    assert after.states["setup"].seconds > 0
    assert (before.airtime_down_s, after.airtime_down_s > 0) == (0, True)
    modem = load_radio("nrf9160-nbiot").with_inputs({"tau": "1 h"})
    [[update_ns, over_ns], *_] = [
        (each.start_ns, each.end_ns)
        for each in radio_energy(modem, [Packet(0, True, 100)], 0, 5000 * NS).timeline
        if each.state == "setup" and each.start_ns > 0
    ]
    _, halves = partition(modem, [Packet(0, True, 100)], 0, 5000 * NS, [(update_ns + over_ns) // 2])
    assert halves[0].timeline[-1].state == halves[1].timeline[0].state == "setup"
    late = halves[1].states["setup"].seconds
    assert late == pytest.approx((over_ns - update_ns) / 2 / NS, rel=1e-6)


def test_a_month_of_silence_pays_for_its_updates() -> None:
    radio, month_ns = load_radio("nrf9160-nbiot").with_inputs({"tau": "24 h"}), 30 * 86_400 * NS
    cuts = [day * 86_400 * NS for day in range(1, 30)]
    whole, days = partition(radio, [Packet(0, True, 100)], 0, month_ns, cuts)
    updates = [each for each in whole.timeline if each.state == "setup" and each.start_ns > 0]
    assert len(updates) == 29
    # What a day without a message takes beyond PSM is its update.
    psm_w = radio.machine.states(radio.values("typical"))["psm"].watts
    for each in days[1:]:
        assert each.joules.typical > 86_400 * psm_w
        assert each.states["setup"].seconds == pytest.approx(
            updates[0].end_ns / NS - updates[0].start_ns / NS, rel=1e-6
        )


def test_a_message_within_the_tail_of_the_one_before_has_no_wake() -> None:
    radio = load_radio("generic-nbiot")
    packets = [Packet(nth * 5 * NS, True, 100) for nth in range(4)]
    whole, [first, *others] = partition(radio, packets, 0, 20 * NS, [5 * NS, 10 * NS, 15 * NS])
    assert "setup" in first.states
    assert all("setup" not in each.states for each in others)
    # The tail of the last one goes on behind the end.
    assert others[-1].timeline[-1].end_ns == whole.timeline[-1].end_ns > 20 * NS


def test_a_partition_of_silence_is_rest() -> None:
    radio = load_radio("nrf9160-nbiot")
    whole, parts = partition(radio, [], 5, 10 * NS, [5, 7 * NS])
    assert [each.states.keys() for each in parts] == [set(), {"psm"}, {"psm"}]
    assert sum(each.joules.typical for each in parts) == pytest.approx(whole.joules.typical)
