"""What the operator of a network decides."""

from __future__ import annotations

from dataclasses import replace

from wirelab.answer.choose.candidates import Candidate
from wirelab.answer.choose.network import Nat, Network
from wirelab.experiment.library import Profile, profiles
from wirelab.metrics.energy_settings import Equipment
from wirelab_energy.radio import load_radio

NB_IOT = profiles()["nb-iot-psm"]
RADIO = Equipment(load_radio("nrf9160-nbiot"))
KEPT = Candidate("coaps", "udp", "psk", "persistent", None, 24, {})
FRESH = replace(KEPT, connection="new")


def test_settings_are_those_of_the_links_profile_and_of_the_radio() -> None:
    found = Network.of(NB_IOT, RADIO)
    assert found.links == ("nb-iot-psm", "nb-iot-edrx", "nb-iot")
    assert [nat.words for nat in found.nats] == [
        "UDP 120 s, TCP 20 min", "UDP 30 s, TCP 150 s", "UDP 180 s, TCP 20 min"
    ]  # fmt: skip
    assert [(axis["levels"][0], axis["runs"]) for axis in found.axes] == [
        ("nb-iot-psm", "always"), ("UDP 120 s, TCP 20 min", "always"), ("10 s", "never"), ("60 s", "never"),
        ("off", "never"),
    ]  # fmt: skip
    assert all(axis["source"] for axis in found.axes)
    assert (found.forgets.udp, found.forgets.tcp) == ((120 * 10**9, 30 * 10**9), (1200 * 10**9, 150 * 10**9))


def test_every_combination_is_a_place_and_the_typical_one_comes_first() -> None:
    found = list(Network.of(NB_IOT, RADIO).places())
    assert len(found) == 3 * 3 * 3 * 2 * 2
    assert found[0].levels == ("nb-iot-psm", "UDP 120 s, TCP 20 min", "10 s", "60 s", "off")
    assert len({place.levels for place in found}) == len(found)


def test_the_profiles_order_of_levels_changes_no_setting_that_a_run_needs() -> None:
    """Without a radio and without a NAT there is nothing to vary."""
    plain = Network.of(Profile("mine", "", "", {"rtt": "20 ms"}, {}), None)
    assert (plain.axes, plain.nats, len(list(plain.places()))) == ((), (), 1)
    assert (plain.forgets.udp, plain.nats_of(KEPT)) == (None, (None,))


def test_a_connection_for_each_message_is_run_with_one_nat() -> None:
    network = Network.of(NB_IOT, RADIO)
    assert network.nats_of(FRESH) == network.nats[:1]
    assert all(network.run_at(FRESH, nat) == network.nats[0] for nat in network.nats)


def test_what_a_transport_does_not_see_is_not_run_twice() -> None:
    network = Network.of(NB_IOT, RADIO)
    assert network.nats_of(KEPT) == network.nats
    over_tcp = replace(KEPT, protocol="https1", transport="tcp")
    assert network.nats_of(over_tcp) == network.nats[:2]
    assert network.run_at(over_tcp, network.nats[2]) == network.nats[0]
    assert network.run_at(KEPT, network.nats[2]) == network.nats[2]


def test_other_settings_of_a_radio_are_applied_to_it() -> None:
    network = Network.of(NB_IOT, RADIO)
    variants = network.variants(RADIO)
    assert len(variants) == 12
    inputs = {name: each.radio.inputs["rai"].value for name, each in variants.items()}
    assert set(inputs.values()) == {"on", "off"}
    assert {each.radio.inputs["inactivity"].written for each in variants.values()} == {"10 s", "5 s", "20 s"}


def test_a_link_with_other_timers_of_its_own_keeps_them() -> None:
    network = Network.of(NB_IOT, RADIO)
    never = replace(RADIO, radio=RADIO.radio.with_inputs({"active": "never"}))
    assert {each.radio.inputs["active"].written for each in network.variants(never).values()} == {"never"}


def test_a_radio_without_such_an_input_is_left_as_it_is() -> None:
    network = Network.of(NB_IOT, RADIO)
    plain = Equipment(load_radio("cc2538-802154"))
    assert {id(each.radio) for each in network.variants(plain).values()} == {id(plain.radio)}


def test_without_the_kernel_only_what_changes_no_packet_is_left() -> None:
    found = Network.of(NB_IOT, RADIO).without_runs()
    assert (found.links, len(found.nats), [axis["runs"] for axis in found.axes]) == (("nb-iot-psm",), 1, ["never"] * 3)
    assert len(list(found.places())) == 12


def test_a_nat_of_one_transport_has_one_time() -> None:
    assert Nat("30 s", None).words == "UDP 30 s"
    assert Nat(None, "5 min").table() == {"tcp": "5 min"}
