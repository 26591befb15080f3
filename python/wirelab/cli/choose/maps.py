"""Where another choice is first: what `choose --flip` runs along one number of the question, or over two."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from statistics import fmean
from typing import TYPE_CHECKING

from wirelab.answer.choose.candidates import Candidate
from wirelab.answer.choose.delivery import not_comparable
from wirelab.answer.choose.experiments import Variant
from wirelab.answer.choose.measured import bounds_of
from wirelab.answer.choose.network import Nat
from wirelab.answer.choose.question import Flip
from wirelab.answer.choose.ranking import first_of
from wirelab.schema.choose import Crossing, MapCell, WinnerMap
from wirelab.units import format_duration

if TYPE_CHECKING:
    from wirelab.cli.choose.work import Work

REPLICATES = 2
MOST = 12
"""Choices that are run at each point, about: every connection policy of the protocols that are lowest."""
HALVINGS = 4
"""So often the place of a crossing is halved."""
STEPS: Mapping[Flip, Sequence[float]] = {
    "interval": (1 / 16, 1 / 4, 1, 4, 16),
    "size": (1 / 4, 1, 4, 16, 64),
    "loss": (0.0, 0.02, 0.05, 0.1),
    "rtt": (1 / 4, 1, 4, 16),
    "nat": (30.0, 60.0, 120.0, 300.0, 1200.0),
}
"""Multiples of what was asked; of loss and of the NAT's time-out the values."""
UNITS: Mapping[Flip, str] = {"interval": "s", "size": "B", "loss": "1", "rtt": "s", "nat": "s"}
LEAST_INTERVAL_NS = 10**9


@dataclass(frozen=True)
class _Axis:
    """Values of one number, in order, and how the question is changed by one."""

    flip: Flip
    values: tuple[float, ...]

    def at(self, variant: Variant, value: float) -> Variant:
        """The question with that value."""
        match self.flip:
            case "interval":
                return replace(variant, every_ns=round(value * 1e9))
            case "size":
                return replace(variant, send_bytes=round(value))
            case "loss":
                return replace(variant, loss=value)
            case "rtt":
                return replace(variant, rtt_ns=round(value * 1e9))
        return variant

    def between(self, low: float, high: float) -> float:
        """A value in the middle, of what has a decade or more by its logarithm."""
        middle = math.sqrt(low * high) if low > 0 else (low + high) / 2
        return float(round(middle)) if self.flip == "size" else middle


def maps(work: Work) -> list[WinnerMap]:
    """The map that was asked for; none without."""
    flips, evidence = work.asked.flips, work.evidence()
    order = evidence.order(evidence.typical)
    if not flips or not order or not work.virtual:
        return []
    members = _members(work.candidates, order)
    axes = [_axis(work, flip) for flip in flips]
    cells = list[MapCell]()
    for place in product(*(axis.values for axis in axes)):
        cell = _cell(work, members, axes, place)
        if cell is None:
            work.left_out("the whole map", work.lacking_trials)
            break
        cells.append(cell)
    crossings = _crossings(work, members, axes[0], cells) if len(axes) == 1 else []
    return [
        WinnerMap(
            axes=[*flips], units=[UNITS[flip] for flip in flips], cells=sorted(cells, key=_place), crossings=crossings
        )
    ]  # fmt: skip


def _members(known: Sequence[Candidate], order: Sequence[str]) -> list[Candidate]:
    """Those that do badly where the question stands may be first elsewhere, if their protocol is low."""
    by_name, found = {each.name: each for each in known}, list[Candidate]()
    for protocol in dict.fromkeys(by_name[name].protocol for name in order):
        if len(found) < MOST:
            found += [each for each in known if each.protocol == protocol]
    return found


def _place(cell: MapCell) -> tuple[float, float]:
    return cell["x"], cell["y"] or 0.0


def _axis(work: Work, flip: Flip) -> _Axis:
    asked = work.asked
    base: Mapping[Flip, Callable[[], float]] = {
        "interval": lambda: asked.contact_ns / 1e9,
        "size": lambda: float(asked.send_bytes),
        "rtt": lambda: work.rtt_ns / 1e9,
    }
    of = base[flip]() if flip in base else 1.0
    values = [step * of for step in STEPS[flip]]
    if flip == "interval":
        values = [max(value, LEAST_INTERVAL_NS / 1e9) for value in values]
    if flip == "size":
        values = [float(max(1, round(value))) for value in values]
    return _Axis(flip, tuple(dict.fromkeys(values)))


def _cell(work: Work, members: Sequence[Candidate], axes: Sequence[_Axis], place: Sequence[float]) -> MapCell | None:
    """Which is first at one point; None if the budget does not allow it."""
    variant, nat = Variant.of(work.asked), (work.network.nats or (None,))[0]
    for axis, value in zip(axes, place, strict=True):
        variant = axis.at(variant, value)
        if axis.flip == "nat":
            text = format_duration(value * 1e9)
            nat = Nat(text, text)
    # A keep-alive that no silence is long enough for makes the same choice twice.
    members = [each for each in members if each.keep_alive_ns is None or each.keep_alive_ns < variant.every_ns]
    name = "map-" + "-".join(f"{axis.flip}-{value:g}" for axis, value in zip(axes, place, strict=True))
    found = work.run(
        name, members, work.network.links[:1], {each.name: (nat,) for each in members}, REPLICATES, variant
    )
    if found is None or work.lacking:
        return None
    evidence, radio = work.evidence(), work.evidence().typical.radio
    values = dict[str, float]()
    for (choice, _, _), each in found.items():
        if not each.messages or not_comparable(each, found.values()) is not None:
            continue
        if evidence.criterion == "data" and each.data_bytes:
            values[choice] = fmean(each.data_bytes.values())
        elif each.energies.get(radio):
            values[choice] = bounds_of(each.energies[radio].values())["typical"]
    lowest = sorted(values.values())
    ratio = lowest[1] / lowest[0] if len(lowest) > 1 and lowest[0] > 0 else None
    return MapCell(x=place[0], y=place[1] if len(place) > 1 else None, first=[*first_of(values)], ratio=ratio)


def _crossings(work: Work, members: Sequence[Candidate], axis: _Axis, cells: list[MapCell]) -> list[Crossing]:
    """Where the first changes, closed in by halving; the points on the way are added to the map."""

    def between(below: MapCell, above: MapCell, halvings: int) -> list[Crossing]:
        if not below["first"] or not above["first"] or not set(below["first"]).isdisjoint(above["first"]):
            return []
        here = [Crossing(below=below["first"], above=above["first"], low=below["x"], high=above["x"])]
        middle = axis.between(below["x"], above["x"])
        if not halvings or middle in {below["x"], above["x"]}:
            return here
        if (cell := _cell(work, members, [axis], [middle])) is None:
            work.left_out("closing in on each crossover", work.lacking_trials)
            return here
        cells.append(cell)
        # Where both ends are first, and where nothing is, one comes no closer.
        return [*between(below, cell, halvings - 1), *between(cell, above, halvings - 1)] or here

    ends = pairwise(sorted(cells, key=_place))
    return [crossing for below, above in ends for crossing in between(below, above, HALVINGS)]
