"""Every number that a paper prints against ours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from wirelab.report import predictions
from wirelab.report.blocks import Block, Cell, Column, Figure, Grid, Legend, LegendEntry, Prose, Table
from wirelab.report.figures.replicated import Pair, scatter
from wirelab.report.numbers import COUNT, UNITS, Unit, plain
from wirelab.report.palette import Look, looks
from wirelab.report.protocols import title as protocol_title
from wirelab.report.replication import pictures, words
from wirelab.schema.printed import NullModel
from wirelab.schema.replication import ReplicatedNumber, Replication

OURS = (
    "Each coloured mark is a printed number and our estimate of it, and its line is the 95 % interval. "
    "A filled mark is predicted; a hollow one is fitted, since its interpretation was chosen by that number. "
)
NULLS = "A small grey cross is what the best null model predicts for the same number. "
LINES = (
    "On the grey line ours is the printed number; in the band it is within a factor of {factor:g} of it. "
    "What is more than ten times beyond the printed numbers is drawn at the edge."
)


def blocks(record: Replication) -> Iterator[Block]:
    """A scatter plot for each interpretation and unit."""
    if not record["printed"]:
        yield Prose(pictures.NO_NUMBERS)
        return
    if not record["numbers"]:
        yield Prose(f"Of {record['printed']} printed numbers none was measured in a named interpretation.")
        return
    protocols = list(dict.fromkeys(_protocol(each) for each in record["numbers"]))
    slots = dict(zip(protocols, looks([(name, "") for name in protocols]), strict=True))
    yield Legend(
        [
            LegendEntry(_protocol_words(name, record), f"var(--s{look.slot})", shape=look.shape)
            for name, look in slots.items()
            if name
        ]
    )
    nulls = any(_best_null(each["interpretation"], record) for each in record["numbers"])
    magnitudes = pictures.ratios(record)
    elsewhere = f" Ratios that the text prints are under Printed magnitudes, {len(magnitudes)} of them."
    yield Prose(f"{OURS}{NULLS * nulls}{LINES.format(factor=record['factor'])}{elsewhere * bool(magnitudes)}")
    figures: list[Figure] = []
    for name in dict.fromkeys(each["interpretation"] for each in record["numbers"]):
        mine, null = [each for each in record["numbers"] if each["interpretation"] == name], _best_null(name, record)
        for base in dict.fromkeys(record["units"][each["metric"]] for each in mine):
            unit = UNITS.get(base, COUNT)
            here = [each for each in mine if record["units"][each["metric"]] == base]
            pairs = [_pair(each, unit, slots[_protocol(each)], null) for each in here]
            anchor = f"scatter-{len(figures)}"
            drawn = scatter(anchor, "printed numbers against ours", pairs, record["factor"], unit.symbol or "1")
            if drawn is not None:
                fitted = sum(each["fitted"] for each in here)
                caption = f"{len(here)} numbers, {fitted} of them fitted (hollow)."
                caption += f"{_about_null(null)}{words.without_rule([record])}"
                metrics = dict.fromkeys(record["labels"].get(each["metric"], each["metric"]) for each in here)
                title = f"{words.interpretation(name, record)}: {', '.join(metrics)}"
                primary = " (primary)" if name == record["primary"] and name is not None else ""
                figures.append(
                    Figure(f"{title}{primary}", "scatter plot", caption, drawn,
                           [_numbers_table(here, unit, record)])
                )  # fmt: skip
    yield Grid("Every printed number against ours", figures)


def _protocol(number: ReplicatedNumber) -> str:
    return number["levels"].get("protocol", "")


def _protocol_words(name: str, record: Replication) -> str:
    return record["labels"].get(name) or protocol_title(name)


def _best_null(interpretation: str | None, record: Replication) -> NullModel | None:
    """The null model with the least error there; None if none was compared."""
    errors = [each["error"] for each in record["skill"] if each["interpretation"] == interpretation]
    found = [null for error in errors if error is not None for null in error["nulls"]]
    return min(found, key=lambda each: each["error"])["model"] if found else None


def _about_null(null: NullModel | None) -> str:
    return "" if null is None else f" Best null model: {predictions.NULLS[null]}."


def _pair(number: ReplicatedNumber, unit: Unit, look: Look, null: NullModel | None) -> Pair:
    ours, scale = number["ours"], unit.per_base
    point, low, high = (None if end is None else end * scale for end in (ours["point"], ours["low"], ours["high"]))
    assert point is not None
    at = ", ".join(number["levels"].values())
    tip = f"{number['statistic']} {number['metric']}, {at}: paper {plain(number['paper'] * scale)} {unit.symbol}"
    tip += f", ours {plain(point)} {unit.symbol}{', fitted' * number['fitted']}"
    predicted = None if null is None else number["nulls"].get(null)
    guess = None if predicted is None else predicted * scale
    return Pair(number["paper"] * scale, point, low, high, look.slot, look.shape, guess, tip, fitted=number["fitted"])


def _numbers_table(numbers: Sequence[ReplicatedNumber], unit: Unit, record: Replication) -> Table:
    symbol, scale = unit.symbol, unit.per_base
    columns = [Column("number", numeric=False), Column("paper", symbol), Column("ours", symbol), Column("ours / paper")]
    rows = []
    for each in numbers:
        at = ", ".join(record["labels"].get(level, level) for level in each["levels"].values())
        name = f"{each['statistic']} {record['labels'].get(each['metric'], each['metric'])}, {at}"
        point = each["ours"]["point"] or math.nan
        ratio = plain(point / each["paper"]) if each["paper"] else "–"
        fitted = " (fitted)" * each["fitted"]
        rows.append(
            [Cell(f"{name}{fitted}"), Cell(plain(each["paper"] * scale)), Cell(plain(point * scale)), Cell(ratio)]
        )
    return Table("Printed numbers and ours", columns, rows)
