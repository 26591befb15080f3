"""How much the parts of a merged campaign differ. A part is what one machine ran at one time: whole blocks, so that a
block's scenarios are compared on one machine.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, variance

from wirelab.schema.estimates import PartRecord
from wirelab.stats.dataset import Dataset, Measured
from wirelab.stats.estimate.model import LEVEL, Estimate

PART = "part"
"""Column of trials: the part of a merged campaign that ran it, from 1. Only merged campaigns in real time have it."""
METHOD = "Welch's t over blocks, for all parts together"
Block = tuple[int, int]
"""A part and a replicate, of which a part has one block."""


def part_records(dataset: Dataset, measured: Iterable[tuple[str, Measured]]) -> list[PartRecord]:
    """Each part's ratio to the mean of all parts, of the scenarios by their keys with the metric that is compared.
    Empty of a campaign that was not merged, or of one part.

    A block's value is the mean over scenarios of the logarithm of its trial's mean, less that of the scenario over
    parts. So scenarios of another size count alike, and what a block has in common is counted once. Only scenarios
    count of which every trial has a value; time-outs count at the horizon.
    """
    if PART not in dataset.trials.columns:
        return []
    numbers = sorted(dataset.trials[PART].drop_nulls().unique())
    if len(numbers) < 2:
        return []
    trials = dict(dataset.trials.group_by(PART).len().iter_rows())
    by_part = _values(_blocks(dataset, measured, len(numbers)), numbers)
    return [PartRecord(part=part, trials=int(trials[part]), ratio=_ratio(by_part, part).record()) for part in numbers]


def part_notes(records: Sequence[PartRecord], metric: str) -> Iterator[str]:
    """That parts differ, if they surely do."""
    ratios = [(each["part"], *_limits(each)) for each in records]
    apart = [each for each in ratios if not each[2] <= 1 <= each[3]]
    if not apart:
        return
    part, point, low, high = max(apart, key=lambda each: abs(math.log(each[1])))
    yield (
        f"Parts differ: the {metric.replace('-', ' ')} of part {part} is "
        f"{point:.3g} [{low:.3g}, {high:.3g}] times the mean of {len(records)} parts. "
        "Intervals of one scenario treat all trials alike, so they are of these machines, at these times."
    )


def _limits(record: PartRecord) -> tuple[float, float, float]:
    """Point and interval of a ratio; all ratios are possible where there is none."""
    point, low, high = (record["ratio"][key] for key in ("point", "low", "high"))
    return (1.0, 0.0, math.inf) if point is None or low is None or high is None else (point, low, high)


def _blocks(dataset: Dataset, measured: Iterable[tuple[str, Measured]], parts: int) -> Mapping[Block, float]:
    """The value of each block."""
    places = {(scenario, replicate): part for scenario, replicate, part in _places(dataset)}
    found = defaultdict[Block, list[float]](list)
    for scenario, one in measured:
        trials = one.sample.completed() if one.horizon_s is None else one.sample.restricted(one.horizon_s)
        if len(trials) != len(one.replicates):
            continue
        means = [float(trial.mean()) for trial in trials]
        blocks = [(places.get((scenario, replicate)), replicate) for replicate in one.replicates]
        logs = {
            (part, replicate): math.log(mean)
            for (part, replicate), mean in zip(blocks, means, strict=True)
            if part is not None and mean > 0
        }
        of_part = _values(logs, {part for part, _ in logs})
        if len(of_part) == parts and len(logs) == len(blocks):
            over_parts = fmean(map(fmean, of_part.values()))
            for block, value in logs.items():
                found[block].append(value - over_parts)
    return {block: fmean(values) for block, values in found.items()}


def _places(dataset: Dataset) -> Iterator[tuple[str, int, int]]:
    import polars as pl

    kept = dataset.trials.filter(~pl.col("excluded") & pl.col(PART).is_not_null())
    yield from kept.select("scenario", "replicate", PART).iter_rows()


def _values(by_block: Mapping[Block, float], parts: Iterable[int]) -> dict[int, list[float]]:
    return {part: [value for (number, _), value in by_block.items() if number == part] for part in parts}


def _ratio(by_part: Mapping[int, Sequence[float]], part: int) -> Estimate:
    """Of a part to the mean of all, whose blocks may scatter otherwise (Welch 1947; Satterthwaite 1946), with
    Bonferroni's correction for the number of parts.
    """
    from scipy.special import stdtrit

    n, count = len(by_part[part]), len(by_part)
    if not all(by_part.values()):
        return Estimate(None, None, None, LEVEL, n, "a part has no block with values")
    point = fmean(by_part[part]) - fmean(map(fmean, by_part.values()))
    if min(map(len, by_part.values())) < 2:
        return Estimate(math.exp(point), None, None, LEVEL, n, "no interval: a part has one block")
    weights = {each: (each == part) - 1 / count for each in by_part}
    shares = {each: weights[each] ** 2 * variance(values) / len(values) for each, values in by_part.items()}
    squared = math.fsum(shares.values())
    if squared == 0:
        return Estimate(math.exp(point), math.exp(point), math.exp(point), LEVEL, n, METHOD)
    freedom = squared**2 / math.fsum(share**2 / (len(by_part[each]) - 1) for each, share in shares.items())
    reach = float(-stdtrit(freedom, (1 - LEVEL) / 2 / count)) * math.sqrt(squared)
    return Estimate(math.exp(point), math.exp(point - reach), math.exp(point + reach), LEVEL, n, METHOD)
