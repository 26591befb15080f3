"""A campaign's own copies of the files that its radio and device are described in."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirelab.errors import WirelabError
from wirelab.metrics.energy_settings import Settings, with_kept_files
from wirelab.schema.plan import EnergyRecord, LinkRadio


def test_a_campaign_keeps_copies_of_the_users_files_by_name(tmp_path: Path) -> None:
    own, campaign = tmp_path / "own", tmp_path / "campaign"
    own.mkdir()
    campaign.mkdir()
    (own / "mine.toml").write_text("a radio")
    chosen = EnergyRecord(radio=str(own / "mine.toml"), device="nrf52840")
    named = with_kept_files(chosen, campaign)
    assert (named.radio, named.device) == ("mine.toml", "nrf52840")
    assert (campaign / "mine.toml").read_text() == "a radio"
    shipped = EnergyRecord(radio="nrf9160-nbiot")
    assert with_kept_files(shipped, campaign) == shipped


def test_a_radio_and_a_device_of_one_name_are_refused_before_one_is_written_over_the_other(tmp_path: Path) -> None:
    for folder in ("radio", "device", "campaign"):
        (tmp_path / folder).mkdir()
    names = [tmp_path / folder / "mine.toml" for folder in ("radio", "device")]
    for name in names:
        name.write_text(name.parent.name)
    chosen = EnergyRecord(radio=str(names[0]), device=str(names[1]))
    with pytest.raises(WirelabError, match=r"--device: radio and device are both named mine\.toml"):
        with_kept_files(chosen, tmp_path / "campaign")
    assert not list((tmp_path / "campaign").iterdir())


def test_a_link_has_its_own_radio_or_the_one_of_all_links_or_none() -> None:
    own = LinkRadio(radio="nrf9160-nbiot", inputs={"inactivity": "5 s"}, device="nrf9160")
    some = Settings.of(EnergyRecord(radios={"far": own}))
    assert some.of_link("near") is None
    every = Settings.of(EnergyRecord(radio="enc28j60-ethernet", device="esp32", radios={"far": own}))
    near, far = every.of_link("near"), every.of_link("far")
    assert near is not None
    assert far is not None
    assert (near.radio.name, near.device and near.device.name, near.processor) == ("enc28j60-ethernet", "esp32", None)
    assert (far.radio.inputs["inactivity"].value, far.device and far.device.name) == (5, "nrf9160")
    measured = Settings.of(EnergyRecord(radio="enc28j60-ethernet", device="esp32", measured_on_device=True)).common
    assert measured is not None
    assert measured.processor is measured.device


def test_links_with_the_same_radio_are_one_entry_of_the_record() -> None:
    other = LinkRadio(radio="enc28j60-ethernet")
    settings = Settings.of(EnergyRecord(radio="nrf9160-nbiot", radios={"wired": other}))
    record = settings.as_record(["a", "wired", "b", "a"], {"key": "why"}, ["note"])
    assert [(each["links"], each["radio"]["name"]) for each in record["radios"]] == [
        (["a", "b"], "nrf9160-nbiot"), (["wired"], "enc28j60-ethernet"),
    ]  # fmt: skip
    assert (record["no_day"], record["notes"], record["battery"]) == ({"key": "why"}, ["note"], None)
