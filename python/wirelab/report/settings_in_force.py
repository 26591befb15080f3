"""The experiment's settings: as configured, as announced on the wire, and as the other end used them."""

from __future__ import annotations

from collections.abc import Iterable

from wirelab.report.blocks import Block, Cell, Column, Group, Items, Prose, Table, dash
from wirelab.report.campaign import Campaign
from wirelab.report.model import Scenario
from wirelab.schema.estimates import SettingInForce

SOURCES = {"client": "the client", "server": "the server"}


def settings_in_force(campaign: Campaign) -> list[Block]:
    """The settings not in force, and a row for each setting and end; nothing without given settings."""
    rows = [(scenario, row) for scenario in campaign.scenarios for row in scenario.settings]
    if not rows:
        return []
    missed = [(scenario, row) for scenario, row in rows if row["in_force"] is False]
    blocks: list[Block] = []
    if missed:
        scenarios = len({scenario.key for scenario, _ in missed})
        was = "scenario is" if scenarios == 1 else "scenarios are"
        blocks += [
            Prose(f"Settings not in force: {scenarios} {was} not measured as configured, and in no chart."),
            Items([_words(scenario, row) for scenario, row in missed]),
        ]
    return [*blocks, Group("Every setting that was given: configured, announced, used", [_table(rows)])]


def _words(scenario: Scenario, row: SettingInForce) -> str:
    setting = f"{row['setting']} of the {row['end']}"
    return f"{scenario.name}: {setting}: configured {_shown(row['configured'], row)}, {row['why']}"


def _table(rows: Iterable[tuple[Scenario, SettingInForce]]) -> Table:
    columns = [
        Column("scenario", numeric=False), Column("setting", numeric=False), Column("of", numeric=False),
        Column("configured"), Column("announced"), Column("in force instead"), Column("most used by the other end"),
        Column("in force", numeric=False), Column("seen by", numeric=False), Column("connections"),
    ]  # fmt: skip
    cells = [
        [
            Cell(scenario.name),
            Cell(row["setting"]),
            dash("not known") if row["end"] is None else Cell(row["end"]),
            Cell(_shown(row["configured"], row)),
            _range(row, row["announced"], "none was"),
            _range(row, row["effective"], "nothing tells"),
            dash("nothing tells") if row["used"] is None else Cell(_shown(row["used"], row)),
            _in_force(row),
            dash("not known") if row["source"] is None else Cell(_sources(row["source"])),
            Cell(str(row["connections"])),
        ]
        for scenario, row in rows
    ]
    caption = (
        "Settings of the experiment. A setting is in force if exactly its value was announced and applied, and the "
        "other end never exceeded it"
    )
    return Table(caption, columns, cells, row_headers=2)


def _in_force(row: SettingInForce) -> Cell:
    if row["in_force"] is None:
        return Cell("not known", title=str(row["why"]), tone="unsure")
    return Cell(
        "yes" if row["in_force"] else "no", title=str(row["why"] or ""), tone=None if row["in_force"] else "bad"
    )


def _range(row: SettingInForce, bounds: list[int] | None, otherwise: str) -> Cell:
    if bounds is None:
        return dash(otherwise)
    low, high = bounds
    return Cell(_shown(low, row) if low == high else f"{low} to {_shown(high, row)}")


def _sources(names: str) -> str:
    return ", ".join(SOURCES.get(name, name) for name in names.split(", "))


def _shown(value: int, row: SettingInForce) -> str:
    """Exact numbers, for comparison with other tools."""
    unit = "B" if row["unit"] == "bytes" else row["unit"] or ""
    return f"{value} {unit}".strip()
