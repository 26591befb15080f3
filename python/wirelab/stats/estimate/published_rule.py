"""The rule of milosevic2021: values more than three scaled median absolute deviations from the median are removed.

It removes the effect of loss, and unequally between protocols. So its result is given together with the estimates and
with what it removed, and never replaces them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wirelab.schema.estimates import PublishedRuleRecord
from wirelab.stats.estimate.descriptive import mean_and_sd
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.sample import Floats, Sample

REACH = 3.0
NORMAL = 0.6744897501960817
"""The median absolute deviation of a standard normal variable."""


@dataclass(frozen=True, slots=True)
class PublishedRule:
    """The number of removed values, and mean and standard deviation of the others.

    `retransmission_hit` counts the exchanges in which a packet was retransmitted or lost, None if that was not
    recorded. `note` says so when the deviation is 0 and the rule removes everything that is not exactly the median.
    """

    removed: int
    removed_retransmission_hit: int | None
    retransmission_hit: int | None
    mean: Estimate
    sd: Estimate
    note: str | None

    def record(self) -> PublishedRuleRecord:
        """As `estimates.json` has it."""
        return {
            "removed": self.removed, "removed_retransmission_hit": self.removed_retransmission_hit,
            "retransmission_hit": self.retransmission_hit, "mean": self.mean.record(), "sd": self.sd.record(),
            "note": self.note,
        }  # fmt: skip


def keep(values: Floats) -> tuple[NDArray[np.bool_], float]:
    """Which values the rule keeps, those within three scaled deviations of the median, and the median deviation."""
    if len(values) == 0:
        return np.zeros(0, dtype=np.bool_), 0.0
    deviations = np.abs(values - np.median(values))
    median = float(np.median(deviations))
    kept: NDArray[np.bool_] = deviations <= REACH * (median / NORMAL)
    return kept, median


def filtered(sample: Sample) -> Sample:
    """The sample as the rule leaves it; the median is that of all completed values, censored ones are gone."""
    return _kept(sample, _by_trial(sample, keep(sample.values)[0]))


def _kept(sample: Sample, masks: Sequence[NDArray[np.bool_]]) -> Sample:
    trials = tuple(trial[mask] for trial, mask in zip(sample.trials, masks, strict=True))
    return Sample(trials, (0,) * len(trials))


def apply(
    sample: Sample, hit: Sequence[NDArray[np.bool_]] | None, rng: np.random.Generator, level: float = LEVEL
) -> PublishedRule:
    """The rule on one sample; `hit[i]` marks trial i's retransmission-hit values."""
    mask, deviation = keep(sample.values)
    kept = _by_trial(sample, mask)
    removed = sum(int((~mask).sum()) for mask in kept)
    hits = removed_hits = None
    if hit is not None:
        hits = sum(int(mask.sum()) for mask in hit)
        removed_hits = sum(int((marked & ~mask).sum()) for marked, mask in zip(hit, kept, strict=True))
    mean, sd = mean_and_sd(_kept(sample, kept), rng, level)
    constant = removed > 0 and deviation == 0
    note = (
        f"the deviation is 0: the rule removed all {removed} values that differ from the median" if constant else None
    )
    return PublishedRule(removed, removed_hits, hits, mean, sd, note)


def _by_trial(sample: Sample, mask: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    ends = np.cumsum([len(trial) for trial in sample.trials])
    return np.split(mask, ends[:-1]) if len(ends) else []
