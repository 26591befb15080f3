"""A battery's life."""

from __future__ import annotations

import pytest

from wirelab.metrics.battery import battery_days


def test_a_battery_lasts_for_its_joules_over_those_of_a_day_and_less_the_more_a_day_takes() -> None:
    days = battery_days({"low": 5.0, "typical": 10.0, "high": 20.0}, 2400, 3.7)
    joules = 2.4 * 3600 * 3.7
    assert days == pytest.approx({"low": joules / 20, "typical": joules / 10, "high": joules / 5})
