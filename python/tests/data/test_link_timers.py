"""What makes packets wait on a link and what a radio pays for are the same timers and times on the air."""

from typing import Any

import pytest

from wirelab.experiment.library import profiles
from wirelab.units import duration_ns, rate_bps, size_bytes
from wirelab_energy import Radio, load_radio, radio_names
from wirelab_energy.machine.base import number
from wirelab_energy.machine.lorawan import FRAME_BYTES
from wirelab_energy.machine.wifi import BEACON_S

CELLULAR = [radio for radio in map(load_radio, radio_names()) if radio.machine.name == "cellular"]
OTHERS = [radio for radio in map(load_radio, radio_names()) if radio.link and radio.machine.name != "cellular"]


def seconds(value: str) -> float:
    return duration_ns(value) / 1e9


def of(radio: Radio, path: str) -> float:
    return number(radio.values("typical"), path)


def link_of(radio: Radio) -> dict[str, Any]:
    return dict(profiles()[str(radio.link)].link)


@pytest.mark.parametrize("radio", CELLULAR, ids=lambda radio: radio.name)
def test_a_modem_sleeps_when_its_link_does(radio: Radio) -> None:
    *connected, idle, psm = link_of(radio)["radio"]["sleeps"]
    assert of(radio, "inputs.inactivity") == seconds(idle["after"])
    assert of(radio, "inputs.paging") == seconds(idle["cycle"])
    assert of(radio, "time.setup") == seconds(idle["wake"])
    assert of(radio, "inputs.inactivity") + of(radio, "inputs.active") == seconds(psm["after"])
    assert of(radio, "time.resume") == seconds(psm["wake"])
    for drx in connected:
        assert of(radio, "inputs.drx-after") == seconds(drx["after"])
        assert of(radio, "inputs.drx-cycle") == seconds(drx["cycle"])


@pytest.mark.parametrize(
    ("name", "link", "inputs"),
    [("nrf9160-nbiot", "nb-iot-edrx", {"active": "never", "paging": "81.92 s"}),
     ("nrf9160-nbiot", "nb-iot", {"active": "never"}),
     ("nrf9160-ltem", "lte-m-edrx", {"active": "never", "paging": "81.92 s"}),
     ("nrf9160-ltem", "lte-m", {"active": "never"})],
)  # fmt: skip
def test_inputs_make_a_modem_that_of_the_other_profiles(name: str, link: str, inputs: dict[str, str]) -> None:
    radio = load_radio(name).with_inputs(inputs)
    idle = profiles()[link].link["radio"]["sleeps"][-1]
    assert (of(radio, "inputs.inactivity"), of(radio, "inputs.paging")) == (
        seconds(idle["after"]),
        seconds(idle["cycle"]),
    )
    *_, resting = (phase for phase in radio.machine.rest(radio.values("typical"), up=True, gap_s=float("inf")))
    assert (resting.state, resting.rests) == ("idle", True)


@pytest.mark.parametrize("radio", [r for r in CELLULAR if r.name != "nrf9160-ltem"], ids=lambda radio: radio.name)
def test_an_nb_iot_modem_sends_at_its_links_rates(radio: Radio) -> None:
    link = link_of(radio)
    assert of(radio, "rate.uplink") == rate_bps(link["uplink"]["rate"])
    assert of(radio, "rate.downlink") == rate_bps(link["downlink"]["rate"])


def test_a_wifi_client_sleeps_when_its_link_does_and_wakes_for_each_beacon() -> None:
    radio, link = load_radio("esp32-wifi-ps"), profiles()["wifi-n-ps"].link
    [doze] = link["radio"]["sleeps"]
    assert seconds(doze["after"]) == of(radio, "inputs.inactivity")
    assert seconds(doze["cycle"]) == pytest.approx(of(radio, "inputs.dtim") * BEACON_S)
    assert seconds(doze["wake"]) == 0
    assert link["medium"] == profiles()["wifi-n"].link["medium"]


@pytest.mark.parametrize("radio", OTHERS, ids=lambda radio: radio.name)
def test_other_radios_have_their_links_times_on_the_air(radio: Radio) -> None:
    link = link_of(radio)
    medium = link.get("medium", {})
    match radio.machine.name:
        case "ieee802154":
            assert of(radio, "size.compressed") == size_bytes(medium["compressed"])
            assert of(radio, "size.mac") == size_bytes(medium["mac"])
            assert of(radio, "count.min-be") == medium["min-be"]
        case "wifi":
            assert of(radio, "rate.data") == rate_bps(medium["rate"])
            assert of(radio, "size.overhead") == size_bytes(medium["overhead"])
            for name in ("preamble", "ack", "sifs", "difs"):
                assert of(radio, f"time.{name}") == seconds(medium[name])
        case "ble":
            assert of(radio, "inputs.interval") == 2 * seconds(link["delay"])
        case "lorawan":
            assert of(radio, "time.rx1") == seconds(link["downlink"]["delay"])
            assert size_bytes(link["overhead"]) == FRAME_BYTES
        case "ethernet":
            assert of(radio, "rate.line") == rate_bps(link["rate"])
        case other:
            raise AssertionError(f"nothing to compare of {other}")
