"""Whether settings that an experiment gives were in force: configured, and what connections said and did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from wirelab.metrics.settings_seen import COLUMNS, SETTINGS_SEEN
from wirelab.metrics.tables import read_table
from wirelab.schema import IntegerValues, SettingDescription, registered
from wirelab.schema.estimates import SettingInForce
from wirelab.schema.plan import Scenario
from wirelab.stats.dataset import Dataset

if TYPE_CHECKING:
    import polars as pl

NOT_KNOWN = "neither end is an endpoint of Wirelab that recorded a connection"
NOT_SAID = "nothing on the wire tells of it"


def settings_in_force(dataset: Dataset) -> dict[str, list[SettingInForce]]:
    """For each scenario with a number other than a setting's default, a row for each end that has the setting:
    what was `configured` and `announced`, what was `effective`, the most that the other end `used`, whether it was
    `in_force` (None where nothing tells) and if not `why`, the `source`, and how many `trials` and `connections`.
    """
    import polars as pl

    path = dataset.folder / SETTINGS_SEEN
    seen = read_table(path, types=COLUMNS) if path.exists() else None
    found = {}
    for scenario in dataset.scenarios:
        mine = None if seen is None else seen.filter(pl.col("scenario") == scenario.key)
        rows = [row for setting, value in _given(scenario) for row in _rows(setting, value, mine)]
        if rows:
            found[scenario.key] = rows
    return found


def not_in_force(rows: Iterable[SettingInForce]) -> str | None:
    """The first of a scenario's rows that was not, in words; None if all were, as far as anything tells."""
    row = next((row for row in rows if row["in_force"] is False), None)
    return (
        None
        if row is None
        else f"{row['setting']} of the {row['end']} was configured as {row['configured']}, and {row['why']}"
    )


def _given(scenario: Scenario) -> Iterator[tuple[SettingDescription, int]]:
    protocol = registered().protocol(scenario.protocol)
    for setting in () if protocol is None else protocol.settings:
        value = scenario.settings.get(setting.name, setting.default)
        may_be_left = isinstance(setting.values, IntegerValues) and setting.values.words
        if may_be_left and isinstance(value, int):
            yield setting, value


def _rows(setting: SettingDescription, configured: int, seen: pl.DataFrame | None) -> Iterator[SettingInForce]:
    import polars as pl

    assert isinstance(setting.values, IntegerValues)
    name, unit = setting.name, setting.values.unit
    mine = None if seen is None else seen.filter(pl.col("setting") == setting.name)
    if mine is None or mine.is_empty():
        yield {
            "setting": name, "configured": configured, "unit": unit, "end": None, "announced": None, "effective": None,
            "used": None, "source": None, "trials": 0, "connections": 0,
            "in_force": None, "why": NOT_KNOWN if seen is None or seen.is_empty() else NOT_SAID,
        }  # fmt: skip
        return
    for (end,), rows in mine.group_by("end", maintain_order=True):
        unsaid = rows["announced_low"].null_count() > 0
        announced = None if unsaid else _bounds(rows, "announced")
        effective, used = _bounds(rows, "effective"), _number(rows["used"].max())
        why = _why_not(configured, announced, effective, used)
        yield {
            "setting": name, "configured": configured, "unit": unit,
            "end": "client" if end == "client" else "server",
            "announced": announced, "effective": effective, "used": used,
            "source": ", ".join(rows["source"].unique(maintain_order=True)),
            "trials": rows["trial"].n_unique(), "connections": int(rows["connections"].sum()),
            "in_force": why is None, "why": why,
        }  # fmt: skip


def _bounds(rows: pl.DataFrame, name: str) -> list[int] | None:
    low, high = _number(rows[f"{name}_low"].min()), _number(rows[f"{name}_high"].max())
    return None if low is None or high is None else [low, high]


def _number(value: object) -> int | None:
    """Of an aggregate over a column of integers."""
    return value if isinstance(value, int) else None


def _why_not(configured: int, announced: list[int] | None, effective: list[int] | None, used: int | None) -> str | None:
    if announced is None:
        return "it was not announced"
    if announced != [configured, configured]:
        return f"{_words(announced)} was announced"
    if effective is not None and effective != [configured, configured]:
        return f"{_words(effective)} held in its place"
    if used is not None and used > configured:
        return f"the other end used {used}"
    return None


def _words(bounds: list[int]) -> str:
    low, high = bounds
    return f"{low}" if low == high else f"{low} to {high}"
