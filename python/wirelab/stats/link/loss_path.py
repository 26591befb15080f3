"""Which packets of a direction reached its loss stage, by the counts of a trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wirelab.schema import DirectionFacts
from wirelab.schema.link_facts import Step


@dataclass(frozen=True, slots=True)
class LossPath:
    """Columns of packets that certainly left the path before its first loss stage, and of those that may have;
    `more` are columns of packets that joined it there.
    """

    before: frozenset[str]
    unsure: frozenset[str]
    more: frozenset[str]

    @classmethod
    def of(cls, direction: DirectionFacts) -> LossPath:
        """That of one direction of a link; without a loss stage every packet counts."""
        steps = direction.path
        first = next((index for index, step in enumerate(steps) if step.loses), None)
        if first is None:
            return cls(frozenset(), frozenset(), frozenset())
        own = _kept([steps[first]])  # a schedule's packets are lost behind its queue
        ahead, behind = _kept(steps[:first]) | own, _kept(steps[first + 1 :]) | (own & {"held"})
        made = {"duplicated" for step in steps[:first] if step.copies}
        if "nat" in _kept(steps[:first]):
            made.add("originated")
        return cls(ahead - behind, ahead & behind, frozenset(made))

    def reached(self, counts: Mapping[str, int]) -> tuple[int, int]:
        """The number of packets that reached the loss stage, and of those that may have."""
        unsure = sum(counts.get(name, 0) for name in self.unsure)
        gone = sum(counts.get(name, 0) for name in self.before) + unsure
        joined = sum(counts.get(name, 0) for name in self.more)
        return max(counts["received"] + joined - gone, counts["lost"]), unsure


def _kept(steps: Iterable[Step]) -> frozenset[str]:
    """Columns in which packets that these steps keep are counted."""
    return frozenset(kept.value.replace("-", "_") for step in steps for kept in step.keeps)
