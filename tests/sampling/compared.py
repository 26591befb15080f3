"""Bounds of an enumeration next to the interval of a sample: how narrow they are, and whether they are inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from wirelab.schema.exact import Exact
from wirelab.stats.estimate.proportion import clopper_pearson

LEVEL = 0.95
MOST_WIDTH = 1 / 3
"""Of the sample's interval."""
FAR = 3.0
"""Standard errors that the share of samples with the bounds inside may be below the level."""


@dataclass(frozen=True)
class Compared:
    """P(delay > x) of one protocol at one loss, by enumeration and by one sample."""

    what: str
    bounds: tuple[float, float]
    interval: tuple[float, float]
    exchanges: int

    @property
    def width(self) -> float:
        """That of the bounds, in widths of the interval."""
        return (self.bounds[1] - self.bounds[0]) / (self.interval[1] - self.interval[0])

    @property
    def inside(self) -> bool:
        """Whether the interval has both bounds."""
        return self.interval[0] <= self.bounds[0] and self.bounds[1] <= self.interval[1]


def compared(record: Exact, loss: str, protocol: str, exchanges: pl.DataFrame) -> Iterator[Compared]:
    """For each delay; exchanges of one protocol at one loss have an `outcome` and an `end_to_end_delay_ns`."""
    for scenario in record["scenarios"]:
        for each in scenario["beyond"]:
            if (scenario["protocol"], each["loss"]) != (protocol, loss):
                continue
            x_s, ends = each["delay_s"], each["sampled"] or each["bounds"]
            is_long = (pl.col("outcome") != "completed") | (pl.col("end_to_end_delay_ns") > x_s * 1e9)
            long = exchanges.select(is_long.sum()).item()
            interval = clopper_pearson(long, len(exchanges), LEVEL)
            what = f"{protocol}, {loss}, > {x_s:g} s"
            yield Compared(what, (ends["low"], ends["high"]), interval, len(exchanges))


def faults(found: Iterable[Compared]) -> list[str]:
    """What is against the numbers to reach: bounds that are too wide, or outside too often."""
    every = [*found]
    wide = [f"{each.what}: bounds are {each.width:.2f} of the interval" for each in every if each.width > MOST_WIDTH]
    share = sum(each.inside for each in every) / len(every)
    least = LEVEL - FAR * (LEVEL * (1 - LEVEL) / len(every)) ** 0.5
    rare = [f"bounds are inside {share:.1%} of {len(every)} intervals, and not {least:.1%}"] if share < least else []
    return wide + rare
