"""How much the machines of a merged campaign differ. Each ran whole blocks, so that a block's scenarios are compared on
one machine.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from wirelab.schema.estimates import PartRecord
from wirelab.stats.dataset import Dataset, Measured
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.student import student

PART = "part"
"""Column of trials: the part of a merged campaign that ran it, from 1. Only campaigns in real time have it."""
METHOD = "Student's t over blocks, for all parts together"
Block = tuple[int, int]
"""A part and a replicate, of which a part has one block."""


def part_records(dataset: Dataset, measured: Iterable[tuple[str, Measured]]) -> list[PartRecord]:
    """Each part's ratio to the mean of all parts, of the scenarios by their keys with the metric that is compared.
    Empty of a campaign that was not merged.

    A block's value is the mean over scenarios of the logarithm of its trial's mean, less that of the scenario over
    parts. So scenarios of another size count alike, and what a block has in common is counted once (Student's t, with
    Bonferroni's correction for the number of parts).
    """
    if PART not in dataset.trials.columns:
        return []
    by_block = _blocks(dataset, measured)
    numbers = sorted(dataset.trials[PART].drop_nulls().unique())
    trials = dict(dataset.trials.group_by(PART).len().iter_rows())
    return [
        PartRecord(part=part, trials=int(trials[part]), ratio=_ratio(by_block, part, len(numbers)).record())
        for part in numbers
    ]  # fmt: skip


def part_notes(records: Sequence[PartRecord], metric: str) -> Iterator[str]:
    """That machines differ, if they surely do."""
    apart = [each for each in records if _is_apart(each)]
    if not apart:
        return
    most = max(apart, key=lambda each: abs(math.log(each["ratio"]["point"] or 1.0)))
    point, low, high = (most["ratio"][key] or 1.0 for key in ("point", "low", "high"))
    yield (
        f"Machines differ: the {metric.replace('-', ' ')} of part {most['part']} is "
        f"{point:.3g} [{low:.3g}, {high:.3g}] times the mean of {len(records)} parts. "
        "Intervals of one scenario treat all trials alike, so they are of these machines and of no other."
    )


def _is_apart(record: PartRecord) -> bool:
    low, high = record["ratio"]["low"], record["ratio"]["high"]
    return low is not None and high is not None and not low <= 1 <= high


def _blocks(dataset: Dataset, measured: Iterable[tuple[str, Measured]]) -> Mapping[Block, float]:
    """The value of each block."""
    parts = {(scenario, replicate): part for scenario, replicate, part in _places(dataset)}
    found = defaultdict[Block, list[float]](list)
    for scenario, one in measured:
        logs = {
            (part, replicate): math.log(mean)
            for replicate, trial in zip(one.replicates, one.sample.trials, strict=False)
            if (part := parts.get((scenario, replicate))) is not None
            and len(trial)
            and (mean := float(trial.mean())) > 0
        }
        by_part = defaultdict[int, list[float]](list)
        for (part, _), value in logs.items():
            by_part[part].append(value)
        if len(by_part) > 1:
            over_parts = fmean(map(fmean, by_part.values()))
            for block, value in logs.items():
                found[block].append(value - over_parts)
    return {block: fmean(values) for block, values in found.items()}


def _places(dataset: Dataset) -> Iterator[tuple[str, int, int]]:
    import polars as pl

    kept = dataset.trials.filter(~pl.col("excluded") & pl.col(PART).is_not_null())
    yield from kept.select("scenario", "replicate", PART).iter_rows()


def _ratio(by_block: Mapping[Block, float], part: int, parts: int) -> Estimate:
    values = [value for (number, _), value in by_block.items() if number == part]
    if not values:
        return Estimate(None, None, None, LEVEL, 0, "no value")
    found = student(values, 1 - (1 - LEVEL) / parts)
    point, low, high = (None if end is None else math.exp(end) for end in (found.point, found.low, found.high))
    method = METHOD if low is not None else "no interval: one block"
    return Estimate(point, low, high, LEVEL, len(values), method)
