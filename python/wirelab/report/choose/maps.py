"""Maps of winners, in words: where the first changes, and how axes are read."""

from __future__ import annotations

from collections import Counter

from wirelab.report.choose.amounts import seconds
from wirelab.report.choose.settings import is_first, named
from wirelab.schema.choose import Crossing, WinnerMap
from wirelab.units import format_share, format_size

AT = {
    "interval": "a message every", "size": "messages of", "loss": "a loss of", "rtt": "a round trip of",
    "nat": "a NAT that forgets after",
}  # fmt: skip
"""A place on an axis of a map of winners, before its number."""
TITLES = {
    "interval": "time between messages", "size": "size of a message", "loss": "loss of the link",
    "rtt": "round trip of the link", "nat": "time after which the NAT forgets",
}  # fmt: skip


def crossings(of: WinnerMap) -> list[str]:
    """Where the first changes along one number; where nothing changes, between which points that is so."""
    if len(of["axes"]) > 1 or not of["cells"]:
        return []
    axis, unit = of["axes"][0], of["units"][0]
    if of["crossings"]:
        return [_crossing(axis, unit, each) for each in of["crossings"]]
    firsts = {(*cell["first"],) for cell in of["cells"]}
    if len(firsts) > 1:
        return []
    places = sorted(cell["x"] for cell in of["cells"])
    what = f"Crossover: none for {AT[axis]} {_range(places[0], places[-1], unit)}"
    return [f"{what}: {is_first(firsts.pop())} at each of {len(places)} points."]


def _crossing(axis: str, unit: str, each: Crossing) -> str:
    below, above = (" if more often", " if less often") if axis == "interval" else (" below", " above")
    what = f"Crossover at {AT[axis]} {_range(each['low'], each['high'], unit)}"
    return f"{what}: {named(each['below'])}{below}; {named(each['above'])}{above}."


def _range(low: float, high: float, unit: str) -> str:
    least, most = (quantity(value, unit) for value in (low, high))
    return least if least == most else f"{least} to {most}"


def quantity(value: float, unit: str) -> str:
    """A number of a map's axis: `10 min`, `30 B`, `2 %`."""
    return {"s": seconds, "B": format_size}.get(unit, format_share)(value)


def tally(of: WinnerMap) -> str:
    """At how many points of a map each choice is first, as a sentence."""
    counts = Counter(tuple(cell["first"]) for cell in of["cells"])
    found = "; ".join(f"{is_first(first)} at {count}" for first, count in counts.most_common())
    return f"Of {len(of['cells'])} points: {found}."
