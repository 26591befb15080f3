"""The pictures of a choice: maps of which is first, and the specification curve over settings of the network."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.report.blocks import Block, Cell, Column, Figure, Legend, LegendEntry, Table, number
from wirelab.report.choose.maps import TITLES, crossings, quantity, tally
from wirelab.report.choose.settings import is_first, short, standings
from wirelab.report.figures.winners import SHADES, Axis, Combination, Curve, Hue, Spot, over_settings, winners
from wirelab.report.numbers import BYTES, DASH, MILLIJOULES
from wirelab.report.palette import looks
from wirelab.schema.choose import Chosen, MapCell, OperatorSetting, WinnerMap

BEST = 4
"""Choices of a curve, by their ranks; those that are first somewhere come with them."""
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CELLS = "A cell is a point that was run, and reaches halfway to its neighbours. White: several choices are alike."
COLUMNS = (
    "Each column is a combination of settings; the dashed line is the typical one. Filled: first there. "
    "Marks below say the levels, in colour and shape of the choice that is first. A stroke: several are alike."
)


def hues(record: Chosen) -> dict[str, Hue]:
    """How each choice is drawn that is first somewhere, or among the best."""
    firsts = {name for each in _points(record) for name in each["first"]}
    best = [choice["name"] for choice in record["choices"] if choice["rank"] is not None][:BEST]
    protocols = {choice["name"]: choice["protocol"] for choice in record["choices"]}
    protocols |= {name: name.partition(",")[0] for name in sorted(firsts - protocols.keys())}
    found: dict[str, Hue] = {}
    for name, look in zip(protocols, looks([(each, name) for name, each in protocols.items()]), strict=True):
        if name in firsts or name in best:
            same = sum(each.slot == look.slot for each in found.values())
            letter = LETTERS[len(found) % len(LETTERS)]
            found[name] = Hue(letter, look.slot, SHADES[min(same, len(SHADES) - 1)], look.shape)
    return found


def _points(record: Chosen) -> list[MapCell | OperatorSetting]:
    return [*(cell for each in record["maps"] for cell in each["cells"]), *record["settings"]]


def maps(record: Chosen) -> list[Block]:
    """A map and its data table for each that was asked for."""
    return [_map(f"map{at}", each, hues(record)) for at, each in enumerate(record["maps"]) if each["cells"]]


def _map(name: str, of: WinnerMap, drawn: dict[str, Hue]) -> Figure:
    places: list[list[float]] = [sorted({cell["x"] for cell in of["cells"]})]
    if len(of["axes"]) > 1:
        places.append(sorted({cell["y"] for cell in of["cells"] if cell["y"] is not None}))
    axes = [
        Axis(TITLES[axis], values, [quantity(value, unit) for value in values])
        for axis, unit, values in zip(of["axes"], of["units"], places, strict=True)
    ]
    spots = [Spot(cell["x"], cell["y"], cell["first"], _tip(of, cell)) for cell in of["cells"]]
    label = f"which choice is first, by {' and '.join(axis.title for axis in axes)}"
    caption = " ".join([*crossings(of), tally(of), CELLS])
    title = label[0].upper() + label[1:]
    return Figure(title, label, caption, winners(name, label, axes, spots, drawn), [_map_table(title, of)])


def _at(of: WinnerMap, cell: MapCell) -> list[str]:
    """The place of a point, in words."""
    values = [value for value in (cell["x"], cell["y"]) if value is not None]
    return [quantity(value, unit) for value, unit in zip(values, of["units"], strict=True)]


def _tip(of: WinnerMap, cell: MapCell) -> str:
    where = ", ".join(f"{TITLES[axis]} {words}" for axis, words in zip(of["axes"], _at(of, cell), strict=True))
    ratio = "" if cell["ratio"] is None else f"; the second takes {cell['ratio']:.3g} times as much"
    return f"{where}: {is_first(cell['first'])}{ratio}"


def _map_table(title: str, of: WinnerMap) -> Table:
    columns = [Column(TITLES[axis]) for axis in of["axes"]]
    rows = [
        [*map(Cell, _at(of, cell)), Cell(" = ".join(cell["first"]) or DASH), number(cell["ratio"], reason="no second")]
        for cell in of["cells"]
    ]
    last = [Column("first", numeric=False), Column("second over first")]
    return Table(title, [*columns, *last], rows, row_headers=len(columns))


def settings(record: Chosen) -> list[Block]:
    """The curve with its legend and data table; nothing with one combination alone."""
    if len(record["settings"]) < 2 or not any(each["first"] for each in record["settings"]):
        return []
    drawn = {name: hue for name, hue in hues(record).items() if _has_values(record, name)}
    unit = MILLIJOULES if record["criterion"] == "energy" else BYTES
    varied = _varied(record)
    columns = [
        Combination(
            {name: None if value is None else value * unit.per_base for name, value in each["values"].items()},
            each["first"],
            [_level(record, at, each["levels"][at]) for at in varied],
            _tip_of(record, each),
            typical=each is record["settings"][0],
        )
        for each in _ordered(record)
    ]
    rows = [
        _level(record, at, level)
        for at in varied
        for level in record["axes"][at]["levels"]
        if any(each["levels"][at] == level for each in record["settings"])
    ]
    what = "energy of a message by the settings of the network" if unit is MILLIJOULES else (
        "IP bytes of a message by the settings of the network"
    )  # fmt: skip
    title = "mJ a message, modelled" if unit is MILLIJOULES else "IP bytes a message"
    legend = Legend([LegendEntry(name, f"var(--s{hue.slot})", shape=hue.shape) for name, hue in drawn.items()])
    svg = over_settings("settings-curve", what, Curve(title, rows, columns), drawn)
    return [legend, Figure("", what, COLUMNS, svg, [_settings_table(record, what, [*drawn])])]


def _has_values(record: Chosen, name: str) -> bool:
    return any(each["values"].get(name) is not None for each in record["settings"])


def _varied(record: Chosen) -> list[int]:
    """The axes of which several levels were tried."""
    return [at for at in range(len(record["axes"])) if len({each["levels"][at] for each in record["settings"]}) > 1]


def _level(record: Chosen, at: int, level: str) -> str:
    return f"{short(record['axes'][at])}: {level}"


def _ordered(record: Chosen) -> list[OperatorSetting]:
    """By what is first, and then by its value."""
    order = [set(each.first) for each in standings(record)]

    def least(each: OperatorSetting) -> float:
        return min((value for value in each["values"].values() if value is not None), default=0.0)

    return sorted(record["settings"], key=lambda each: (order.index(set(each["first"])), least(each)))


def _tip_of(record: Chosen, each: OperatorSetting) -> str:
    where = ", ".join(_level(record, at, each["levels"][at]) for at in _varied(record))
    return f"{where}; {is_first(each['first'])}"


def _settings_table(record: Chosen, what: str, names: Sequence[str]) -> Table:
    unit = MILLIJOULES if record["criterion"] == "energy" else BYTES
    varied = _varied(record)
    columns = [
        *(Column(short(record["axes"][at]), numeric=False) for at in varied), Column("first", numeric=False),
        *(Column(name, unit.symbol) for name in names),
    ]  # fmt: skip
    rows = [
        [
            *(Cell(each["levels"][at]) for at in varied), Cell(" = ".join(each["first"]) or DASH),
            *(_value(each["values"].get(name), unit.per_base) for name in names),
        ]
        for each in record["settings"]
    ]  # fmt: skip
    return Table(what[0].upper() + what[1:], columns, rows, row_headers=max(len(varied), 1))


def _value(value: float | None, per_base: float) -> Cell:
    return number(None if value is None else value * per_base, reason="it is not ranked there")
