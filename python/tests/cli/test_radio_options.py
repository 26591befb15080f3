"""What options say of a radio."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirelab.cli.radio_options import energy_record, kept
from wirelab.errors import WirelabError


def test_a_campaign_keeps_copies_of_ones_own_files_by_their_names(tmp_path: Path) -> None:
    own, campaign = tmp_path / "own", tmp_path / "campaign"
    own.mkdir()
    campaign.mkdir()
    (own / "mine.toml").write_text("a radio")
    record = energy_record(str(own / "mine.toml"), (), "nrf52840", None, None, None)
    named = kept(record, campaign)
    assert (named.radio, named.device) == ("mine.toml", "nrf52840")
    assert (campaign / "mine.toml").read_text() == "a radio"
    shipped = energy_record("nrf9160-nbiot", (), None, None, None, None)
    assert kept(shipped, campaign) == shipped


def test_a_radio_and_a_device_of_one_name_are_refused_before_one_is_written_over_the_other(tmp_path: Path) -> None:
    for folder in ("radio", "device", "campaign"):
        (tmp_path / folder).mkdir()
    names = [tmp_path / folder / "mine.toml" for folder in ("radio", "device")]
    for name in names:
        name.write_text(name.parent.name)
    record = energy_record(str(names[0]), (), str(names[1]), None, None, None)
    with pytest.raises(WirelabError, match=r"--device: radio and device are both named mine\.toml"):
        kept(record, tmp_path / "campaign")
    assert not list((tmp_path / "campaign").iterdir())


def test_inputs_are_kept_as_written() -> None:
    record = energy_record("r", ("inactivity = 5s", "rai=on"), None, None, None, None)
    assert record.inputs == {"inactivity": "5s", "rai": "on"}
    assert (record.battery_mah, record.battery_v) == (None, None)


def test_a_voltage_without_a_battery_is_refused() -> None:
    with pytest.raises(WirelabError, match="--voltage: no battery of this voltage"):
        energy_record("r", (), None, None, None, 3.7)
