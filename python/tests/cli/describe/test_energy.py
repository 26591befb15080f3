from pathlib import Path

import pytest

from tests.cli.test_main import run
from tests.snapshots import assert_golden
from wirelab_energy import Range, device_names, load_radio, radio_names
from wirelab_energy.published import quantity_words

OWN = (
    'machine = "ethernet"\n[supply]\nvoltage = "1 V"\n[power]\ntransmit = "3 W"\nreceive = "2 W"\nidle = "1 W"\n'
    '[rate]\nline = "8 kbit/s"\n[sources]\n"power.idle" = "my scale"\n'
)


def described(*words: str) -> str:
    code, out, err = run("describe", *words)
    assert (code, err) == (0, "")
    return out


@pytest.mark.parametrize("name", ["nrf9160-nbiot", "esp32-wifi-ps"])
def test_a_radio_is_described_with_the_source_of_each_number(name: str) -> None:
    assert_golden(f"describe-radio-{name}.txt", described("radio", name))


def test_a_device_is_described_with_what_its_cpu_time_is_worth() -> None:
    assert_golden("describe-device-esp32.txt", described("device", "esp32"))


def test_every_radio_and_device_can_be_described_by_its_name_alone() -> None:
    for kind, names in (("radio", radio_names()), ("device", device_names())):
        for name in names:
            assert described(name) == described(kind, name)


def test_what_is_unvalidated_says_so_in_every_listing() -> None:
    assert "\nunvalidated: " in described("radio", "cc2420-802154")
    for line in run("list", "radios")[1].splitlines():
        assert line.endswith("(unvalidated)") != load_radio(line.split()[0]).validated


def test_a_validated_radio_is_described_without_the_warning(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f"validated = true\n{OWN}")
    assert "unvalidated" not in described("radio", str(file))
    file.write_text(OWN)
    assert "unvalidated" in described("radio", str(file))


def test_a_radio_of_ones_own_shows_which_numbers_lack_a_source(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(OWN)
    out = described("radio", str(file))
    assert out.startswith("mine: mine\n")
    assert "  power.transmit  3 W            no source\n" in out
    assert "  power.idle      1 W       [1]\n" in out


def test_ranges_are_said_with_their_units() -> None:
    assert quantity_words(Range(1e-3, 2e-3, 4e-3), "energy") == "2 mJ [1 mJ, 4 mJ]"
    assert quantity_words(Range.exact(1.5), "mean-power") == "1.5 W"
    assert quantity_words(Range(1.5 - 1e-15, 1.5, 1.5 + 1e-15), "mean-power") == "1.5 W"
    assert quantity_words(Range.exact(6e-6), "mean-current") == "6 uA"
    assert quantity_words(Range.exact(0.046), "airtime") == "46 ms"
