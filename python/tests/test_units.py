import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab import units
from wirelab.units import UnitError


def test_shares_become_fractions() -> None:
    assert units.share("10 %") == 0.1
    assert units.share("0.1%") == 0.001


def test_frequencies_become_hertz() -> None:
    assert units.frequency_hz("10 /s") == 10
    assert units.frequency_hz("6 /min") == 0.1
    assert units.frequency_hz("2 Hz") == 2


def test_more_than_100_percent_is_refused() -> None:
    with pytest.raises(UnitError, match="is more than 100 %"):
        units.share("100.1 %")


def test_offsets_and_signal_levels_may_be_negative() -> None:
    assert units.offset_ns("-1.5 ms") == -1_500_000
    assert units.offset_ns("2 us") == 2000
    assert units.level_dbm("-85 dBm") == -85
    with pytest.raises(UnitError, match="is too much"):
        units.offset_ns("-1e12 s")
    with pytest.raises(UnitError, match="is not a signal that a radio receives"):
        units.level_dbm("85000 dBm")


def test_a_signal_without_its_minus_is_refused_with_the_corrected_value() -> None:
    assert units.level_dbm("0 dBm") == 0
    with pytest.raises(UnitError) as error:
        units.level_dbm("70.5 dBm")
    assert error.value.hint == 'did you mean "-70.5 dBm"?'


def test_a_share_without_a_unit_is_refused_since_it_may_be_a_fraction() -> None:
    for value in (0.1, "0.1"):
        with pytest.raises(UnitError) as error:
            units.share(value)
        assert error.value.hint == 'write "10 %" or "0.1 %"'


def test_packets_are_counted_whole() -> None:
    assert units.packet_count("100 packets") == 100
    assert units.packet_count("1 packet") == 1
    with pytest.raises(UnitError, match=r"is not a whole number of packets: 1.5"):
        units.packet_count("1.5 packets")


@given(st.text(max_size=12))
def test_any_text_is_a_quantity_or_a_unit_error(text: str) -> None:
    for read in (units.share, units.frequency_hz, units.packet_count):
        try:
            assert read(text) >= 0
        except UnitError as error:
            assert str(error)
    for read in (units.offset_ns, units.level_dbm):
        try:
            read(text)
        except UnitError as error:
            assert str(error)


def test_rates_and_shares_are_shown_in_the_largest_fitting_unit() -> None:
    assert units.format_rate(250_000) == "250 kbit/s"
    assert units.format_share(0.064545) == "6.45 %"


def test_a_limit_is_bytes_or_packets_by_its_unit_and_a_wrong_unit_names_both() -> None:
    assert [units.size_or_packets(text) for text in ("64 kB", "100 packets", "1 packet ")] == [
        (64_000, None),
        (None, 100),
        (None, 1),
    ]
    with pytest.raises(UnitError) as caught:
        units.size_or_packets("12 pakets")
    assert caught.value.hint == "known: B, kB, MB, GB, KiB, MiB, GiB, packets, packet"
    with pytest.raises(UnitError, match="whole number of packets"):
        units.size_or_packets("1.5 packets")
