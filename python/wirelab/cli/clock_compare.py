"""`wirelab clock compare`: whether a campaign under the virtual clock agrees with the same one in real time."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wirelab.stats.compare.clocks import Agreement, Cell
    from wirelab.stats.compare.equivalence import Measure

NONE = "–"


@click.command("compare", short_help="Compare a run under the virtual clock with one in real time.")
@click.argument("live", type=click.Path(path_type=Path))
@click.argument("virtual", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(live: Path, virtual: Path, *, as_json: bool) -> int:
    """Compare LIVE with VIRTUAL, two runs of one experiment: in real time and under the virtual clock.

    Both are folders or names under results/. Each scenario agrees if its intervals lie within limits. The offset is
    live minus virtual in the lossless scenario of the same protocol; it is added to the virtual delays. Exits with 1 if
    a scenario differs.
    """
    from wirelab.cli.campaigns import existing
    from wirelab.stats.compare.clocks import agreement
    from wirelab.stats.compare.equivalence import Verdict
    from wirelab.stats.dataset import Dataset

    found = agreement(*(Dataset.read(existing(folder)) for folder in (live, virtual)))
    if as_json:
        click.echo(json.dumps(_record(found), ensure_ascii=False, allow_nan=False))
    else:
        click.echo("\n".join(_lines(found)))
        for note in found.notes:
            click.echo(note, err=True)
    return 1 if any(cell.verdict is Verdict.DIFFERS for cell in found.cells) else 0


def _record(found: Agreement) -> dict[str, Any]:
    cells = [{**asdict(cell), "verdict": cell.verdict} for cell in found.cells]
    return {"metric": found.metric, "cells": cells, "notes": list(found.notes)}


def _lines(found: Agreement) -> Iterator[str]:
    from wirelab.cli.text import columns

    yield f"Medians of {found.metric} in ms, live and virtual, the virtual ones with the offset"
    head = ["scenario", "exchanges", "offset", "live", "virtual", "difference", "limit", "verdict", "live quality"]
    yield columns([head, *(_medians(cell) for cell in found.cells)], right=range(1, 5))
    tails = [cell for cell in found.cells if _measure(cell, "distance") is not None]
    if tails:
        yield ""
        yield "P(delay > 1 s), p95 and distribution, live and virtual with the offset"
        head = [
            "scenario",
            "points",
            "within 2",
            "ratio of p95",
            "within 1.25",
            "distance",
            "at most 0.08",
            "live scatter",
        ]
        yield columns([head, *(_tails(cell) for cell in tails)])
    yield ""
    verdicts = [cell.verdict or "reference" for cell in found.cells]
    counts = {each: verdicts.count(each) for each in dict.fromkeys(verdicts)}
    yield f"{len(verdicts)} scenarios: {', '.join(f'{count} {each}' for each, count in counts.items())}"


def _medians(cell: Cell) -> list[str]:
    offset = cell.offset_s or 0.0
    virtual_s = None if cell.virtual.median_s is None else cell.virtual.median_s + offset
    sizes = dict.fromkeys(str(side.exchanges) for side in (cell.live, cell.virtual))
    row = [cell.name, " / ".join(sizes), _ms(cell.offset_s), _ms(cell.live.median_s), _ms(virtual_s)]
    median = _measure(cell, "median")
    if median is None:
        return [*row, NONE, NONE, "reference" if cell.is_reference else NONE, cell.quality]
    return [*row, _interval(median, _ms), _ms(median.most), median.verdict, cell.quality]


def _tails(cell: Cell) -> list[str]:
    row = [cell.name]
    for name, words in (("late-share", _points), ("p95", _ratio), ("distance", _ratio)):
        measure = _measure(cell, name)
        row += [NONE, NONE] if measure is None else [_interval(measure, words), measure.verdict]
    distance = _measure(cell, "distance")
    return [*row, NONE if distance is None else _ratio(distance.scatter)]


def _measure(cell: Cell, name: str) -> Measure | None:
    return next((each for each in cell.measures if each.name == name), None)


def _interval(measure: Measure, words: Callable[[float | None], str]) -> str:
    return f"{words(measure.point)} [{words(measure.low)}, {words(measure.high)}]"


def _ms(seconds: float | None) -> str:
    return NONE if seconds is None else f"{seconds * 1e3:.2f}"


def _points(fraction: float | None) -> str:
    return NONE if fraction is None else f"{fraction * 100:.1f}"


def _ratio(number: float | None) -> str:
    # Not -0.000, which rounding leaves.
    return NONE if number is None else f"{round(number, 3) + 0.0:.3f}"
