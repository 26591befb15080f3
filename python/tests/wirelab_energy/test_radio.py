import re

import pytest

from tests.wirelab_energy.radios import WHERE, document, mine
from wirelab_energy import Radio, load_radio, radio_names
from wirelab_energy.constant import Choice
from wirelab_energy.errors import WirelabError
from wirelab_energy.radio import parse_radio

RADIOS = [load_radio(name) for name in radio_names()]
IDS = [radio.name for radio in RADIOS]


@pytest.mark.parametrize("radio", RADIOS, ids=IDS)
def test_no_number_lacks_a_citation(radio: Radio) -> None:
    uncited = [each.path for each in radio.cited() if not each.source]
    assert not uncited
    for each in radio.published:
        assert each.source
        assert each.packets or each.over_s


@pytest.mark.parametrize("radio", RADIOS, ids=IDS)
def test_what_is_read_elsewhere_or_assumed_says_so(radio: Radio) -> None:
    for each in radio.cited():
        mark = each.source.partition(":")[0]
        original = re.search(
            r"(specification|data sheet|RFC|IEEE Std|ESP-IDF|ns-3|h2window2017|the same|the supply of)", each.source
        )
        assert mark in {"second-hand", "assumed"} or original, f"{each.path}: {each.source}"


@pytest.mark.parametrize("radio", RADIOS, ids=IDS)
def test_every_choice_of_every_input_gives_numbers_that_are_no_less_than_0(radio: Radio) -> None:
    words = {name: each.words or (each.written,) for name, each in radio.inputs.items()}
    for name, choices in words.items():
        for word in choices:
            for bound in ("low", "typical", "high"):
                values = radio.with_inputs({name: word}).values(bound)
                states = radio.machine.states(values)
                assert all(state.watts >= 0 for state in states.values())
                assert all(0 <= state.transmits + state.receives + state.listens <= 1.0001 for state in states.values())


@pytest.mark.parametrize("radio", RADIOS, ids=IDS)
def test_a_radio_that_is_not_validated_says_so_in_its_label(radio: Radio) -> None:
    assert radio.label == radio.name + ("" if radio.validated else " (unvalidated)")


# Each state's power, computed by hand from what the source has (mA x V, mW).
POWERS = {
    ("nrf52840-802154", "transmit"): 6.40 * 3, ("nrf52840-802154", "receive"): 6.53 * 3,
    ("nrf52840-802154", "listen"): 6.53 * 3, ("nrf52840-802154", "backoff"): 6.53 * 3, ("nrf52840-802154", "sleep"): 0,
    ("cc2420-802154", "transmit"): 17.4 * 3, ("cc2420-802154", "receive"): 18.8 * 3,
    ("cc2420-802154", "listen"): 18.8 * 3, ("cc2420-802154", "backoff"): 0.426 * 3,
    ("cc2420-802154", "sleep"): 0.02 * 3,
    ("cc2538-802154", "transmit"): 24 * 3, ("cc2538-802154", "receive"): 20 * 3, ("cc2538-802154", "listen"): 20 * 3,
    ("cc2538-802154", "backoff"): 20 * 3, ("cc2538-802154", "sleep"): 0.0013 * 3,
    ("nrf52840-ble", "transmit"): 6.40 * 3, ("nrf52840-ble", "receive"): 6.26 * 3,
    ("nrf52840-ble", "between"): 6.26 * 3,
    # 80 us each way and 150 us between, every 7.5 ms.
    ("nrf52840-ble", "connected"): 3 * (0.08 * 6.40 + 0.15 * 6.26 + 0.08 * 6.26) / 7.5, ("nrf52840-ble", "sleep"): 0,
    ("esp32-wifi", "transmit"): 180 * 3.3, ("esp32-wifi", "receive"): 97.5 * 3.3, ("esp32-wifi", "idle"): 97.5 * 3.3,
    # 3 ms of every 102.4 for a beacon.
    ("esp32-wifi", "doze"): 3.3 * (3 * 97.5 + 99.4 * 27) / 102.4,
    ("esp32-wifi-ps", "transmit"): 180 * 3.3, ("esp32-wifi-ps", "receive"): 97.5 * 3.3,
    ("esp32-wifi-ps", "idle"): 97.5 * 3.3, ("esp32-wifi-ps", "doze"): 3.3 * (3 * 97.5 + 99.4 * 27) / 102.4,
    ("esp32-wifi-light-sleep", "transmit"): 180 * 3.3, ("esp32-wifi-light-sleep", "receive"): 97.5 * 3.3,
    ("esp32-wifi-light-sleep", "idle"): 97.5 * 3.3,
    ("esp32-wifi-light-sleep", "doze"): 3.3 * (3 * 97.5 + 99.4 * 0.8) / 102.4,
    ("esp32s2-wifi", "transmit"): 135 * 3.3, ("esp32s2-wifi", "receive"): 63 * 3.3, ("esp32s2-wifi", "idle"): 63 * 3.3,
    ("esp32s2-wifi", "doze"): 3.3 * (3 * 63 + 99.4 * 17) / 102.4,
    ("esp32s2-wifi-ps", "transmit"): 135 * 3.3, ("esp32s2-wifi-ps", "receive"): 63 * 3.3,
    ("esp32s2-wifi-ps", "idle"): 63 * 3.3, ("esp32s2-wifi-ps", "doze"): 3.3 * (3 * 63 + 99.4 * 17) / 102.4,
    ("generic-wifi", "transmit"): 380 * 3, ("generic-wifi", "receive"): 313 * 3, ("generic-wifi", "idle"): 273 * 3,
    ("generic-wifi", "doze"): 3 * (3 * 313 + 99.4 * 33) / 102.4,
    ("powerpi-wifi", "transmit"): 942 + 64 + 4.813 * 65, ("powerpi-wifi", "receive"): 942 + 57 + 4.813 * 65,
    ("powerpi-wifi", "idle"): 942, ("powerpi-wifi", "doze"): 942 + 3 / 102.4 * (57 + 4.813 * 65),
    ("nrf9160-ltem", "setup"): 105 / 1.5, ("nrf9160-ltem", "transmit"): 107.5 * 3.7,
    ("nrf9160-ltem", "receive"): 45 * 3.7, ("nrf9160-ltem", "listen"): 45 * 3.7,
    ("nrf9160-ltem", "drx"): 3.7 * (10 * 45 + 310 * 0.0027) / 320,
    ("nrf9160-ltem", "idle"): 3.7 * (0.0027 + (0.018 - 0.0027) * 81.92 / 1.28), ("nrf9160-ltem", "psm"): 0.0027 * 3.7,
    ("nrf9160-nbiot", "setup"): 550 / 2.7, ("nrf9160-nbiot", "transmit"): 42.5 * 3.7,
    ("nrf9160-nbiot", "receive"): 37.5 * 3.7, ("nrf9160-nbiot", "listen"): 37.5 * 3.7,
    ("nrf9160-nbiot", "drx"): 3.7 * (5 * 37.5 + 2043 * 0.0027) / 2048,
    ("nrf9160-nbiot", "idle"): 3.7 * (0.0027 + (0.037 - 0.0027) * 81.92 / 1.28), ("nrf9160-nbiot", "psm"): 0.0027 * 3.7,
    ("bg96-nbiot", "setup"): 80, ("bg96-nbiot", "transmit"): 155 * 3.8, ("bg96-nbiot", "receive"): 80,
    ("bg96-nbiot", "listen"): 80, ("bg96-nbiot", "drx"): (5 * 80 + 2043 * 0.81 * 3.8) / 2048,
    ("bg96-nbiot", "idle"): 1.56 * 3.8, ("bg96-nbiot", "psm"): 0.0039 * 3.8,
    ("generic-nbiot", "setup"): 90, ("generic-nbiot", "transmit"): 543, ("generic-nbiot", "receive"): 90,
    ("generic-nbiot", "listen"): 90, ("generic-nbiot", "drx"): (5 * 90 + 2043 * 2.4) / 2048,
    ("generic-nbiot", "idle"): 2.4, ("generic-nbiot", "psm"): 0.015,
    ("mdot-lorawan", "transmit"): 83 * 3.6, ("mdot-lorawan", "receive"): 38 * 3.6, ("mdot-lorawan", "window"): 38 * 3.6,
    ("mdot-lorawan", "wait"): 27 * 3.6, ("mdot-lorawan", "sleep"): 0.045 * 3.6,
    ("mdot-lorawan", "prepare"): 3.6 * (168.2 * 22.1 + 83.8 * 13.3) / 252,
    ("mdot-lorawan", "close"): 3.6 * (147 * 13 + 268 * 21 + 38 * 13) / 453,
    ("sx1276-lorawan", "transmit"): 29 * 3.3, ("sx1276-lorawan", "receive"): 10.8 * 3.3,
    ("sx1276-lorawan", "window"): 10.8 * 3.3, ("sx1276-lorawan", "wait"): 0.0002 * 3.3,
    ("sx1276-lorawan", "prepare"): 1.6 * 3.3, ("sx1276-lorawan", "close"): 0.0002 * 3.3,
    ("sx1276-lorawan", "sleep"): 0.0002 * 3.3,
    ("powerpi-ethernet", "transmit"): 294, ("powerpi-ethernet", "receive"): 294, ("powerpi-ethernet", "idle"): 294,
    ("enc28j60-ethernet", "transmit"): 160 * 3.3, ("enc28j60-ethernet", "receive"): 120 * 3.3,
    ("enc28j60-ethernet", "idle"): 120 * 3.3,
}  # fmt: skip


@pytest.mark.parametrize("radio", RADIOS, ids=IDS)
def test_the_power_of_each_state_is_what_its_source_makes_it(radio: Radio) -> None:
    states = radio.machine.states(radio.values("typical"))
    assert {(radio.name, state) for state in states} == {key for key in POWERS if key[0] == radio.name}
    for state, found in states.items():
        assert found.watts * 1e3 == pytest.approx(POWERS[radio.name, state], rel=3e-3), state


def test_an_input_chooses_among_the_constants_and_is_marked_as_the_users() -> None:
    radio = load_radio("nrf9160-nbiot").with_inputs({"coverage": "CE2", "inactivity": "5 s"})
    assert radio.constant("rate.uplink").value.typical == 160
    assert radio.values("typical")["inputs.inactivity"] == 5
    assert {each.source for each in radio.cited() if each.path.startswith("inputs.co")} == {"set by the user"}
    assert load_radio("esp32-wifi-ps").with_inputs({"dtim": "3"}).inputs["dtim"].value == 3


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"inactivty": "5 s"}, "radio nrf9160-nbiot has no input 'inactivty'"),
        ({"inactivity": "5"}, "--set: inactivity: '5' has no unit"),
        ({"coverage": "CE1"}, "--set: coverage: unknown coverage 'CE1'"),
        ({"rai": True}, "--set: rai: unknown rai 'True'"),
        ({"tau": "0 s"}, "--set: tau: '0 s' is not more than 0"),
        ({"tau": "always"}, "--set: tau: 'always' reads as without a pause"),
    ],
)
def test_an_input_that_does_not_fit_is_refused_by_its_name(inputs: dict[str, object], message: str) -> None:
    with pytest.raises(WirelabError) as error:
        load_radio("nrf9160-nbiot").with_inputs(inputs)
    assert message in str(error.value)
    assert error.value.hint or "tau" in inputs


@pytest.mark.parametrize(
    ("radio", "inputs", "message"),
    [
        ("nrf52840-802154", {"stays-on": "never"}, "--set: stays-on: 'never' reads as no time at all"),
        ("nrf52840-ble", {"stays-connected": "never"}, "--set: stays-connected: 'never' reads as no time at all"),
        ("nrf52840-ble", {"latency": "²"}, "--set: latency: '²' is not a number"),
    ],
)
def test_an_input_that_reads_otherwise_than_it_counts_is_refused(
    radio: str, inputs: dict[str, object], message: str
) -> None:
    with pytest.raises(WirelabError) as error:
        load_radio(radio).with_inputs(inputs)
    assert message in str(error.value)


def test_a_radio_of_ones_own_may_lack_sources_but_no_number() -> None:
    radio = mine()
    assert [each.path for each in radio.cited() if not each.source][:2] == ["supply.voltage", "power.receive"]
    for change, message in (
        ({"rate": {}}, "has no 'rate.line'"),
        ({"power": {**document()["power"], "sleep": "1 W"}}, "unknown key 'power.sleep'"),
        ({"machine": "wlan"}, "unknown machine 'wlan'"),
        ({"inputs": {"tau": "1 h"}}, "unknown key 'tau'"),
        ({"published": [{"what": "x"}]}, "has no 'quantity'"),
    ):
        with pytest.raises(WirelabError, match=message):
            parse_radio("mine", document(**change), WHERE)


def test_alternatives_need_an_input_that_the_machine_has_and_words_that_it_knows() -> None:
    by_nothing = {"transmit": {"by": "mood", "good": "1 W"}, "receive": "1 W", "idle": "1 W"}
    with pytest.raises(WirelabError, match="unknown key 'mood'"):
        parse_radio("mine", document(power=by_nothing), WHERE)
    lora = {
        "machine": "lorawan", "supply": {"voltage": "1 V"},
        "power": dict.fromkeys(("transmit", "receive", "wait", "prepare", "close", "sleep"), "1 W"),
        "time": dict.fromkeys(("prepare", "close", "rx1", "rx2"), "1 s"),
        "count": {"preamble": 8, "window2": 8, "window1": {"by": "spreading", "SF6": 8}},
    }  # fmt: skip
    with pytest.raises(WirelabError, match="unknown key 'SF6'"):
        parse_radio("mine", lora, WHERE)


def test_choices_of_one_input_offer_what_all_of_its_constants_have() -> None:
    radio = load_radio("nrf9160-nbiot")
    choices = [each for each in radio.constants.values() if isinstance(each, Choice) and each.by == "coverage"]
    assert all(set(radio.inputs["coverage"].words) <= set(each.alternatives) for each in choices)
    assert len(choices) == 4
