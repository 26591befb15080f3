"""The radio of a device on each link."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirelab.answer.choose.question import Asked
from wirelab.cli.choose.equipment import equipments
from wirelab.errors import WirelabError

LINKS = ("nb-iot-psm", "nb-iot-edrx", "nb-iot")


def asked(radio: str | None = None) -> Asked:
    return Asked(send_bytes=64, every_ns=600 * 10**9, link="nb-iot-psm", radio=radio)


def test_the_radio_of_a_link_is_that_of_the_shipped_experiment_with_its_timers() -> None:
    found = equipments(asked(), LINKS)
    assert {each.radio.name for each in found.values()} == {"nrf9160-nbiot"}
    active = {link: each.radio.inputs["active"].written for link, each in found.items()}
    assert active == {"nb-iot-psm": "60 s", "nb-iot-edrx": "never", "nb-iot": "never"}
    assert found["nb-iot-edrx"].radio.inputs["paging"].written == "81.92 s"


def test_a_link_without_a_known_radio_has_none() -> None:
    assert equipments(asked(), ("ethernet-100m",)) == {}
    assert {*equipments(asked(), ("ethernet-100m", "ble"))} == {"ble"}


def test_a_radio_that_is_named_is_on_every_link_with_the_timers_that_it_has() -> None:
    found = equipments(asked("nrf9160-ltem"), (*LINKS, "ethernet-100m"))
    assert {each.radio.name for each in found.values()} == {"nrf9160-ltem"}
    assert found["nb-iot-edrx"].radio.inputs["active"].written == "never"
    assert "set by the user" in found["nb-iot-edrx"].radio.inputs["paging"].source
    plain = equipments(asked("cc2538-802154"), LINKS)
    assert "active" not in plain["nb-iot"].radio.inputs


def test_a_radio_of_the_users_own_is_a_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'title = "Mine"\nmachine = "plain"\n[supply]\nvoltage = "3 V"\n'
        '[power]\ntransmit = "500 mW"\nawake = "50 mW"\nasleep = "10 uW"\n'
        '[rate]\nuplink = "20 kbit/s"\ndownlink = "20 kbit/s"\n[inputs]\nstays-awake = "10 s"\n',
        encoding="utf-8",
    )
    assert equipments(asked(str(mine)), ("ethernet-100m",))["ethernet-100m"].radio.title == "Mine"


@pytest.mark.parametrize(("radio", "hint"), [("nrf9160-nbiut", "did you mean 'nrf9160-nbiot'?"), ("./none.toml", None)])
def test_an_unknown_radio_is_refused_at_its_option(radio: str, hint: str | None) -> None:
    with pytest.raises(WirelabError) as caught:
        equipments(asked(radio), LINKS)
    assert caught.value.where
    assert hint is None or caught.value.hint == hint
