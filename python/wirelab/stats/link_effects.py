"""Duplication, corruption and reordering as told, and as the trials' own logs have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from wirelab.stats.estimate import Estimate
from wirelab.stats.link import INVALID_SHARE, LOSS_LEVEL, Counts, Told, measured_loss
from wirelab.stats.loss_model import share_below

if TYPE_CHECKING:
    import polars as pl

Json = Mapping[str, Any]

STAGES = {"duplicated": "duplicate", "corrupted": "corrupt", "reordered": "reorder"}


class Effect(NamedTuple):
    """Shares of the packets that were delivered. `told` is None where it depends on when packets are sent, or where
    draws are correlated.
    """

    name: str
    told: float | None
    counts: tuple[Counts, ...]

    def measured(self, level: float) -> Estimate:
        """Clopper-Pearson on the size that packets of shared seeds are worth."""
        return measured_loss(Told(0.0, self.told, None, 1.0), self.counts, level)

    def grade(self) -> tuple[str, str] | None:
        """A flag with its reason, if the measured share cannot be what was told."""
        measured = self.measured(LOSS_LEVEL)
        if self.told is None or measured.point is None or measured.low is None or measured.high is None:
            return None
        if measured.low <= self.told <= measured.high:
            return None
        far = abs(measured.point - self.told) > INVALID_SHARE * self.told
        words = f"told {self.told:.4%} {self.name}, measured {measured.point:.4%}"
        return ("invalid" if far else "teaching"), f"{words} [{measured.low:.4%}, {measured.high:.4%}]"


def effects(chain: Sequence[Json], trials: pl.DataFrame, prefix: str) -> list[Effect]:
    """Each effect of one direction over trials whose log could be read; none if there is no such trial."""
    return [effect for effect in _effects(chain, trials, prefix) if effect.counts]


def may_reorder(chain: Sequence[Json]) -> bool:
    """Whether a packet may overtake another on purpose."""
    return any(stage["kind"] == "reorder" or stage.get("overtaking") for stage in chain) or has_fair_queues(chain)


def has_fair_queues(chain: Sequence[Json]) -> bool:
    """Whether flows may overtake each other."""
    return any(stage.get("queue", {}).get("discipline") == "fq-codel" for stage in chain)


def _effects(chain: Sequence[Json], trials: pl.DataFrame, prefix: str) -> Iterator[Effect]:
    packets = f"{prefix}_log_packets"
    rows = list(trials.drop_nulls(packets).iter_rows(named=True))
    for name in STAGES:
        counts = (Counts(row[packets], row[f"{prefix}_log_{name}"], row["replicate"]) for row in rows)
        yield Effect(name, _told(name, chain), tuple(count for count in counts if count.reached))


def _told(name: str, chain: Sequence[Json]) -> float | None:
    if name == "reordered":
        return None if may_reorder(chain) else 0.0
    spared = 1.0
    for stage in chain:
        if stage["kind"] == STAGES[name]:
            if stage.get("correlation"):
                return None
            spared *= 1 - share_below(stage["probability"], 0.0)
    return 1 - spared
