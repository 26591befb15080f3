"""Duplication, corruption and reordering as configured, and as the trials' own logs have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from wirelab.schema import DirectionFacts
from wirelab.schema.estimates import Grade
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.link.grade import LOSS_LEVEL, UNUSABLE_SHARE, Configured, Counts, measured_loss

if TYPE_CHECKING:
    import polars as pl

EffectName = Literal["duplicated", "corrupted", "reordered"]
NAMES: tuple[EffectName, ...] = ("duplicated", "corrupted", "reordered")


class Effect(NamedTuple):
    """Shares of the packets that were delivered. `configured` is None where it depends on when packets are sent,
    or where draws are correlated.
    """

    name: EffectName
    configured: float | None
    counts: tuple[Counts, ...]

    def measured(self, level: float) -> Estimate:
        """Clopper-Pearson on the size that packets of shared seeds are worth."""
        return measured_loss(Configured(0.0, self.configured, None, 1.0), self.counts, level)

    def grade(self) -> tuple[Grade, str] | None:
        """A flag with its reason, if the measured share cannot be what was configured."""
        measured = self.measured(LOSS_LEVEL)
        if self.configured is None or measured.point is None or measured.low is None or measured.high is None:
            return None
        if measured.low <= self.configured <= measured.high:
            return None
        far = abs(measured.point - self.configured) > UNUSABLE_SHARE * self.configured
        words = f"configured {self.configured:.4%} {self.name}, measured {measured.point:.4%}"
        return ("unusable" if far else "limited"), f"{words} [{measured.low:.4%}, {measured.high:.4%}]"


def effects(direction: DirectionFacts, trials: pl.DataFrame, prefix: str) -> list[Effect]:
    """Each effect of one direction over trials whose log could be read; none if there is no such trial."""
    return [effect for effect in _effects(direction, trials, prefix) if effect.counts]


def may_reorder(direction: DirectionFacts) -> bool:
    """Whether a packet may overtake another on purpose."""
    return any(stage.overtakes for stage in direction.stages) or has_fair_queues(direction)


def has_fair_queues(direction: DirectionFacts) -> bool:
    """Whether flows may overtake each other."""
    return any(stage.queue is not None and stage.queue.fair for stage in direction.stages)


def _effects(direction: DirectionFacts, trials: pl.DataFrame, prefix: str) -> Iterator[Effect]:
    packets = f"{prefix}_log_packets"
    rows = list(trials.drop_nulls(packets).iter_rows(named=True))
    for name in NAMES:
        counts = (Counts(row[packets], row[f"{prefix}_log_{name}"], row["replicate"]) for row in rows)
        yield Effect(name, _configured(name, direction), tuple(count for count in counts if count.reached))


def _configured(name: EffectName, direction: DirectionFacts) -> float | None:
    if name == "reordered":
        return None if may_reorder(direction) else 0.0
    spared = 1.0
    for stage in direction.stages:
        chance = stage.duplicated if name == "duplicated" else stage.corrupted
        if chance is not None:
            if chance.correlated:
                return None
            spared *= 1 - chance.share
    return 1 - spared
