"""Lines of a certificate in words."""

from __future__ import annotations

from typing import Any

import pytest

from wirelab.report.certificate import row


def line(unit: str, point: float, low: float, high: float) -> dict[str, Any]:
    measured = {"point": point, "low": low, "high": high, "level": 0.999, "n": 9, "method": "given"}
    return {
        "name": "rate", "direction": "uplink", "unit": unit, "configured": None, "measured": measured,
        "tolerance": None, "verdict": "in", "grade": "good", "why": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("unit", "values", "words"),
    [
        ("bit/s", (999_000.0, 0.0, 2_400_000.0), "999 kbit/s [0, 2400]"),
        ("bit/s", (1e6, 0.9e6, 1.1e6), "1 Mbit/s [0.9, 1.1]"),
        ("s", (9.99, 9.98, 10.01), "9990 ms [9980, 10010]"),
        ("s", (10.0, 9.9, 10.1), "10 s [9.9, 10.1]"),
        ("share", (0.05, 0.04, 0.06), "5.00 % [4.00, 6.00]"),
        ("packets", (3.0, 2.0, 4.0), "3.00 [2.00, 4.00]"),
    ],
)
def test_an_interval_has_one_unit(unit: str, values: tuple[float, float, float], words: str) -> None:
    assert row(line(unit, *values))[3] == words
