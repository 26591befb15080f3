"""A link's certificate in words: for the terminal, and for the report. Computes no statistic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from wirelab.report.model import Json
from wirelab.report.numbers import plain

HEAD = ("direction", "property", "told", "measured [interval]", "tolerance", "verdict", "")
VERDICTS = {"in": "in tolerance", "out": "OUT", "open": "consistent", "unjudged": "not judged"}


def summary(certificate: Json) -> str:
    """How many lines are what."""
    counts = Counter(line["verdict"] for line in certificate["lines"])
    return ", ".join(f"{counts[verdict]} {words}" for verdict, words in VERDICTS.items() if counts[verdict])


def rows(certificate: Json) -> list[tuple[str, ...]]:
    """A head, and a row for each line."""
    return [HEAD, *(row(line) for line in certificate["lines"])]


def row(line: Json) -> tuple[str, ...]:
    """One line's cells."""
    show = _shown(line["unit"])
    told, tolerance = line["told"], line["tolerance"]
    grade = f" ({line['grade']})" if line["verdict"] == "out" else ""
    return (
        line["direction"],
        line["name"],
        "–" if told is None else show(told),
        _measured(line, show),
        "–" if tolerance is None else "exact" if tolerance == 0 else f"± {show(tolerance)}",
        VERDICTS[line["verdict"]] + grade,
        line["why"] or "",
    )


def _measured(line: Json, show: Callable[[float], str]) -> str:
    measured = line["measured"]
    if measured is None or measured["point"] is None:
        return "–"
    point = show(measured["point"])
    if measured["low"] is None or measured["high"] is None:
        return point
    return f"{point} [{show(measured['low'])}, {show(measured['high'])}]"


def _shown(unit: str) -> Callable[[float], str]:
    match unit:
        case "s":
            return lambda value: f"{value:.5g} s" if abs(value) >= 10 else f"{value * 1e3:.5g} ms"
        case "bit/s":
            return _rate
        case "share":
            return lambda value: f"{plain(value * 100)} %"
    return plain


def _rate(value: float) -> str:
    scale, unit = (1e6, "Mbit/s") if value >= 1e6 else (1e3, "kbit/s") if value >= 1e3 else (1.0, "bit/s")
    return f"{value / scale:.5g} {unit}"
