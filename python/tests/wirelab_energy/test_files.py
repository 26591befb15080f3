from pathlib import Path

import pytest

from wirelab_energy import load_device, load_radio
from wirelab_energy.errors import WirelabError


def fails(name: str, text: str | None = None) -> str:
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    with pytest.raises(WirelabError) as error:
        load_radio(name)
    return str(error.value)


def test_an_unknown_radio_or_device_is_refused_with_the_nearest() -> None:
    assert fails("nrf9160-nbiott") == "error: unknown radio 'nrf9160-nbiott'\nhint: did you mean 'nrf9160-nbiot'?"
    with pytest.raises(WirelabError, match="unknown device 'esp33'"):
        load_device("esp33")


def test_a_users_own_file_is_read_or_refused_by_its_place(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.toml")
    assert fails(missing).startswith(f"{missing}: no such file")
    assert "is not TOML" in fails(str(tmp_path / "a.toml"), "[supply")
    assert "unknown key 'powr'" in fails(str(tmp_path / "b.toml"), "[powr]\n")
    assert "b2.toml: power: 'x' should be a table" in fails(str(tmp_path / "b2.toml"), 'power = "x"')
    assert "supply: has no 'voltage'" in fails(str(tmp_path / "c.toml"), 'machine = "wifi"\n[supply]\n')
