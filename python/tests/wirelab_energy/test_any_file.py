"""Whatever a radio's file says, it is read or refused in words."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wirelab_energy.radios import NS, WHERE
from wirelab_energy import Packet, radio_energy
from wirelab_energy.errors import WirelabError
from wirelab_energy.files import read
from wirelab_energy.radio import FOLDER, SHAPE, parse_radio

NAMES = ("nrf9160-nbiot", "mdot-lorawan", "nrf52840-ble", "esp32-wifi-ps", "cc2538-802154", "enc28j60-ethernet")
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10**6), st.floats(), st.text(max_size=8),
    st.sampled_from(["0 s", "1 ms", "always", "on", "0 bit/s", "9 kbit/s", "0 B", "300 B", "1 W", "3 mA", "SF9"]),
    st.lists(st.sampled_from(["1 W", "2 W", 3]), max_size=4), st.just({}), st.just({"by": "tx-power"}),
    st.just({"by": "coverage", "CE0": "1 s"}),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(NAMES), data=st.data())
def test_a_file_with_anything_in_it_is_read_or_refused(name: str, data: st.DataObject) -> None:
    document = read(name, FOLDER, "radio", SHAPE)[1]
    table: dict[str, Any] = data.draw(st.sampled_from([each for each in document.values() if isinstance(each, dict)]))
    table[data.draw(st.sampled_from([*table, "other"]))] = data.draw(VALUES)
    try:
        radio = parse_radio("mine", document, WHERE)
    except WirelabError as error:
        assert error.where is not None
        return
    packets = [Packet(0, True, 200), Packet(NS, False, 50), Packet(NS, True, 20)]
    assert radio_energy(radio, packets, 0, 2 * NS).joules.low >= 0


@given(
    published=st.lists(
        st.one_of(
            VALUES,
            st.fixed_dictionaries(dict.fromkeys(("what", "quantity", "value", "packets", "source", "inputs"), VALUES)),
        ),
        max_size=2,
    )
)
@settings(max_examples=60, deadline=None)  # fmt: skip
def test_figures_with_anything_in_them_are_read_or_refused(published: list[Any]) -> None:
    document = read("enc28j60-ethernet", FOLDER, "radio", SHAPE)[1]
    try:
        parse_radio("mine", {**document, "published": published}, WHERE)
    except WirelabError as error:
        assert error.where is not None
