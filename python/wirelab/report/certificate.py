"""A link's calibration record in words, for the terminal and for the report. Computes no statistic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from wirelab.report.numbers import plain
from wirelab.schema.estimates import CertificateLine

HEAD = ("direction", "property", "configured", "measured [interval]", "tolerance", "verdict", "")
VERDICTS = {"in": "in tolerance", "out": "OUT", "open": "consistent", "unjudged": "not judged"}


def summary(lines: Iterable[CertificateLine]) -> str:
    """How many lines have which verdict."""
    counts: Counter[str] = Counter(line["verdict"] for line in lines)
    return ", ".join(f"{counts[verdict]} {words}" for verdict, words in VERDICTS.items() if counts[verdict])


def rows(lines: Iterable[CertificateLine]) -> list[tuple[str, ...]]:
    """A header, and a row for each line."""
    return [HEAD, *(row(line) for line in lines)]


def row(line: CertificateLine) -> tuple[str, ...]:
    """One line's cells."""
    configured, tolerance = line["configured"], line["tolerance"]
    grade = f" ({line['grade']})" if line["verdict"] == "out" else ""
    return (
        line["direction"],
        line["name"],
        "–" if configured is None else _shown(configured, line["unit"]),
        _measured(line),
        "–" if tolerance is None else "exact" if tolerance == 0 else f"± {_shown(tolerance, line['unit'])}",
        VERDICTS[line["verdict"]] + grade,
        line["why"] or "",
    )


def _measured(line: CertificateLine) -> str:
    """A point and its interval, all in one unit."""
    measured = line["measured"]
    if measured is None or measured["point"] is None:
        return "–"
    point = _shown(measured["point"], line["unit"])
    if measured["low"] is None or measured["high"] is None:
        return point
    scale, _ = _scale(measured["point"], line["unit"])
    low, high = (_digits(end * scale, line["unit"]) for end in (measured["low"], measured["high"]))
    return f"{point} [{low}, {high}]"


def _shown(value: float, unit: str) -> str:
    scale, symbol = _scale(value, unit)
    return f"{_digits(value * scale, unit)} {symbol}".rstrip()


def _scale(value: float, unit: str) -> tuple[float, str]:
    """The factor and the unit in which a value of this size is shown."""
    match unit:
        case "s":
            return (1.0, "s") if abs(value) >= 10 else (1e3, "ms")
        case "bit/s":
            return (1e-6, "Mbit/s") if value >= 1e6 else (1e-3, "kbit/s") if value >= 1e3 else (1.0, "bit/s")
        case "share":
            return 1e2, "%"
    return 1.0, ""


def _digits(value: float, unit: str) -> str:
    return f"{value:.5g}" if unit in {"s", "bit/s"} else plain(value)
