"""What options say of a radio."""

from __future__ import annotations

import pytest

from wirelab.cli.radio_options import energy_record
from wirelab.errors import WirelabError


def test_inputs_are_kept_as_written() -> None:
    record = energy_record("r", ("inactivity = 5s", "rai=on"), None, None, None, None)
    assert record.inputs == {"inactivity": "5s", "rai": "on"}
    assert (record.battery_mah, record.battery_v) == (None, None)


def test_a_voltage_without_a_battery_is_refused() -> None:
    with pytest.raises(WirelabError, match="--voltage: no battery of this voltage"):
        energy_record("r", (), None, None, None, 3.7)
