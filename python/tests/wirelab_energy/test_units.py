import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirelab_energy import units
from wirelab_energy.units import UnitError


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [("20 ms", 20_000_000), ("20ms", 20_000_000), (" 1.5 s ", 1_500_000_000), ("2min", 120_000_000_000),
     ("1 h", 3_600_000_000_000), ("3 us", 3000), ("3 µs", 3000), ("7 ns", 7), ("1e-3 s", 1_000_000),
     (".5 ms", 500_000), ("0 s", 0)],
)  # fmt: skip
def test_durations_become_nanoseconds(text: str, nanoseconds: int) -> None:
    assert units.duration_ns(text) == nanoseconds


@pytest.mark.parametrize(
    ("text", "size"),
    [("30 B", 30), ("3.5 kB", 3500), ("3.5 KiB", 3584), ("1 MB", 10**6), ("1 MiB", 2**20)],
)
def test_sizes_become_bytes(text: str, size: int) -> None:
    assert units.size_bytes(text) == size


def test_rates_become_bits_per_second() -> None:
    assert units.rate_bps("250 kbit/s") == 250_000
    assert units.rate_bps("1.5 Mbit/s") == 1_500_000


@pytest.mark.parametrize("unit", ["KB", "K", "k", "kb"])
def test_a_size_in_kb_is_refused_because_papers_mean_either(unit: str) -> None:
    with pytest.raises(UnitError) as error:
        units.size_bytes(f"3.5 {unit}")
    assert error.value.hint == "write 'kB' for 1000 bytes or 'KiB' for 1024"


@pytest.mark.parametrize("value", [20, 0.5, "20"])
def test_a_number_without_a_unit_is_refused_with_what_to_write(value: object) -> None:
    with pytest.raises(UnitError, match="has no unit") as error:
        units.duration_ns(value)
    assert error.value.hint is not None
    assert error.value.hint.startswith(f'write "{value} ms"')


@pytest.mark.parametrize("value", [True, None, [], {}, "fast", "", "ms", "nan s", "inf s"])
def test_a_text_that_is_not_a_quantity_is_refused(value: object) -> None:
    with pytest.raises(UnitError, match="is not a duration"):
        units.duration_ns(value)


def test_a_unit_of_another_kind_is_refused() -> None:
    with pytest.raises(UnitError, match="unknown unit 'B' of a duration"):
        units.duration_ns("20 B")


def test_a_negative_quantity_is_refused() -> None:
    with pytest.raises(UnitError, match="is negative") as caught:
        units.duration_ns("-20 ms")
    assert caught.value.hint == 'did you mean "20 ms"?'


@pytest.mark.parametrize("text", ["1e12 s", "9e999 h"])
def test_a_value_above_64_bits_is_refused(text: str) -> None:
    with pytest.raises(UnitError, match="is too much"):
        units.duration_ns(text)


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(UnitError, match="has too many digits"):
        units.duration_ns("9" * 5000 + " ms")


def test_a_part_of_a_byte_is_refused() -> None:
    with pytest.raises(UnitError, match="not a whole number of bytes"):
        units.size_bytes("0.5 B")


@given(st.integers(min_value=0, max_value=10**15))
def test_every_whole_number_of_nanoseconds_is_read_exactly(nanoseconds: int) -> None:
    assert units.duration_ns(f"{nanoseconds} ns") == nanoseconds


@given(st.floats(min_value=1, max_value=1e15))
def test_a_formatted_duration_is_read_back_to_three_digits(nanoseconds: float) -> None:
    assert units.duration_ns(units.format_duration(nanoseconds)) == pytest.approx(nanoseconds, rel=0.01, abs=1)


@given(st.text(max_size=12))
def test_any_text_is_a_quantity_or_a_unit_error(text: str) -> None:
    for read in (units.duration_ns, units.size_bytes, units.rate_bps, units.energy_j, units.charge_mah):
        try:
            assert read(text) >= 0
        except UnitError as error:
            assert str(error)


def test_quantities_are_shown_in_the_largest_fitting_unit() -> None:
    assert units.format_duration(90e9) == "1.5 min"
    assert units.format_duration(999) == "999 ns"
    assert units.format_size(3500) == "3.5 kB"


def test_a_value_rounded_up_to_the_next_unit_is_shown_in_that_unit() -> None:
    assert [units.format_energy(each) for each in (0.9999, 0.9994, 1e-6, 999.7e-6, 9.999e-7)] == [
        "1 J", "999 mJ", "1 uJ", "1 mJ", "1 uJ",
    ]  # fmt: skip
    assert [units.format_power(each) for each in (-0.99999, 1e-6, 1e-9)] == ["-1 W", "1 uW", "1 nW"]
    assert [units.format_duration(each) for each in (999_990, 59.99e9, 59.96 * 60e9, 0)] == [
        "1 ms", "1 min", "1 h", "0 ns",
    ]  # fmt: skip
    assert [units.format_size(each) for each in (999.9, 999_499)] == ["1 kB", "999 kB"]


def test_electrical_quantities_become_their_si_units() -> None:
    assert units.voltage_v("3700 mV") == 3.7
    assert units.current_a("6.4 mA") == 0.0064
    with pytest.raises(UnitError) as without:
        units.current_a("20", "uA")
    assert without.value.hint is not None and without.value.hint.startswith('write "20 uA"')
    assert units.current_a("2.7 uA") == 2.7e-6
    assert units.power_w("543 mW") == 0.543
    assert units.energy_j("105 mJ") == 0.105
    assert units.charge_mah("2.4 Ah") == 2400
    for read in (units.voltage_v, units.current_a, units.power_w, units.energy_j, units.charge_mah):
        with pytest.raises(UnitError, match="has no unit"):
            read("1")


def test_energies_and_powers_are_shown_in_the_largest_fitting_unit() -> None:
    assert [units.format_energy(each) for each in (34214, 1.5, 0.105, 5e-5, 0)] == [
        "34.2 kJ", "1.5 J", "105 mJ", "50 uJ", "0 uJ",
    ]  # fmt: skip
    assert [units.format_power(each) for each in (1.2, 0.543, 1e-5, 2e-9)] == ["1.2 W", "543 mW", "10 uW", "2 nW"]
