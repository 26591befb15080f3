"""A campaign's own copies of the files that its radio and device are described in."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirelab.errors import WirelabError
from wirelab.metrics.energy_settings import with_kept_files
from wirelab.schema.plan import EnergyRecord


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
