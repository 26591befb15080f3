import math

import pytest

from wirelab_energy.constant import READERS, Sheet, flatten
from wirelab_energy.errors import Where, WirelabError
from wirelab_energy.range import Range
from wirelab_energy.units import UnitError

SHEET = Sheet(
    {"supply": {"voltage": "3 V"}, "sources": {"power.a": "a scale", "power": "a table"}}, Where("f"), ("voltage",)
)


def test_a_current_is_a_power_at_the_supplys_voltage() -> None:
    assert SHEET.constant("power.a", "6.4 mA", "power").value.typical == pytest.approx(19.2e-3)
    assert SHEET.constant("power.a", "15 uW", "power").value == Range.exact(15e-6)


def test_three_values_are_a_range_and_rates_cost_more_the_lower_they_are() -> None:
    power = SHEET.constant("power.a", ["1 W", "2 W", "4 W"], "power")
    assert [power.at(bound) for bound in ("low", "typical", "high")] == [1, 2, 4]
    assert power.written == "2 W (1 W to 4 W)"
    rate = SHEET.constant("rate.a", ["1 kbit/s", "2 kbit/s", "4 kbit/s"], "rate")
    assert [rate.at(bound) for bound in ("low", "typical", "high")] == [4000, 2000, 1000]


def test_a_value_has_its_own_source_or_that_of_its_table_or_none() -> None:
    assert SHEET.source("power.a") == "a scale"
    assert SHEET.source("power.b", "power") == "a table"
    assert SHEET.source("time.b") == ""


@pytest.mark.parametrize(
    ("value", "what"),
    [("6.4", "has no unit"), (6.4, "has no unit"), (["1 W", "2 W"], "has 2 values"),
     (["3 W", "2 W", "4 W"], "not in order"), ("6.4 V", "unknown unit"), (["1 W", 2, "3 W"], "has no unit")],
)  # fmt: skip
def test_what_is_no_power_is_refused_with_its_key(value: object, what: str) -> None:
    with pytest.raises(WirelabError, match=what) as error:
        SHEET.constant("power.a", value, "power")
    assert str(error.value.where) == "f: power.a"
    assert error.value.hint


def test_timers_may_never_run_out_but_cycles_are_never_empty() -> None:
    assert READERS["timer"]("always") == READERS["timer"]("never") == math.inf
    assert READERS["stay"]("always") == READERS["cycle"]("never") == math.inf
    assert READERS["timer"]("0 s") == 0
    for kind, value in (
        ("cycle", "0 s"),
        ("period", "0 ms"),
        ("rate", "0 bit/s"),
        ("multiple", 0),
        ("capacity", "0 B"),
    ):
        with pytest.raises(UnitError, match="not more than 0"):
            READERS[kind](value)
    for kind, value in (("exponent", 9), ("frame-header", "115 B")):
        with pytest.raises(UnitError, match="is more than"):
            READERS[kind](value)
    for value in (True, -1, "8", math.inf):
        with pytest.raises(UnitError, match="not a number"):
            READERS["count"](value)


def test_a_word_that_would_mean_the_opposite_of_what_it_says_is_refused() -> None:
    for kind, word, instead in (("stay", "never", "always"), ("cycle", "always", "never")):
        with pytest.raises(UnitError, match="reads as") as error:
            READERS[kind](word)
        assert instead in error.value.hint


def test_tables_become_dotted_paths_and_alternatives_stay_together() -> None:
    chosen = {"by": "coverage", "CE0": "1 s"}
    assert flatten({"time": {"setup": chosen, "on": "5 ms"}}) == {"time.setup": chosen, "time.on": "5 ms"}
