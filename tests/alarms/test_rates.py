"""How many comparisons may find a change."""

from __future__ import annotations

from tests.alarms.rates import Alarm, faults, rate


def alarms(kind: str, found: int, runs: int) -> list[Alarm]:
    return [Alarm(kind, "slower" if number < found else "unchanged") for number in range(runs)]


def test_a_rate_has_its_interval() -> None:
    assert rate(alarms("equal", 4, 200)) == "4 of 200 found a change, 2.0 % [0.5, 5.0]"
    assert rate([]) == "no run"


def test_too_many_false_alarms_are_a_fault_and_some_are_none() -> None:
    assert faults(alarms("equal", 12, 200)) == []
    [fault] = faults(alarms("equal", 30, 200))
    assert fault.startswith("more than 6% of equal sides differ: 30 of 200")


def test_each_longer_side_must_be_found_slower() -> None:
    assert faults(alarms("longer", 20, 20)) == []
    assert faults(alarms("longer", 19, 20)) == ["1 of 20 sides that take longer were not found slower"]
    assert faults([Alarm("longer", "changed")]) == ["1 of 1 sides that take longer were not found slower"]
