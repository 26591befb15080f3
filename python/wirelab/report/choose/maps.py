"""Maps of winners, in words: where the first changes, and how axes are read."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

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
    """Where the first changes along one number. Where nothing changes, between which points that is so; and where
    neighbours have a first in common, what is first at each.
    """
    if len(of["axes"]) > 1 or not of["cells"]:
        return []
    axis, unit = of["axes"][0], of["units"][0]
    if of["crossings"]:
        return [_crossing(axis, unit, each) for each in of["crossings"]]
    cells = sorted(of["cells"], key=lambda cell: cell["x"])
    runs = [(first, [*some]) for first, some in groupby(cells, lambda cell: tuple(cell["first"]))]
    what = f"Crossover: none for {AT[axis]} {_range(cells[0]['x'], cells[-1]['x'], unit)}"
    if len(runs) == 1:
        return [f"{what}: {is_first(runs[0][0])} at each of {len(cells)} points."]
    firsts = (f"at {_range(some[0]['x'], some[-1]['x'], unit)} {is_first(first)}" for first, some in runs)
    return [f"{what}: {'; '.join(firsts)}."]


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
