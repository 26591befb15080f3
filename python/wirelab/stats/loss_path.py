"""Which packets of a direction reached its loss stage, by the counts of a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirelab.stats.loss_model import long_run

Json = Mapping[str, Any]

RATES = frozenset({"rate", "token-bucket", "delivery-trace", "schedule", "duty-cycle"})
AQM = frozenset({"codel", "fq-codel"})
HOLDERS = RATES | {"delay", "reorder", "outage", "radio", "buffer", "medium"}
"""Stages inside which packets may be when the trial ends."""


@dataclass(frozen=True, slots=True)
class LossPath:
    """Columns of packets that certainly left the path before its first loss stage, and of those that may have;
    `more` are columns of packets that joined it there.
    """

    before: frozenset[str]
    unsure: frozenset[str]
    more: frozenset[str]

    @classmethod
    def of(cls, link: Json, direction: str) -> LossPath:
        """That of one direction of a `LinkSpec`; without a loss stage every packet counts."""
        stages = list(_stages(link, direction))
        first = next((index for index, stage in enumerate(stages) if long_run(stage) is not None), None)
        if first is None:
            return cls(frozenset(), frozenset(), frozenset())
        own = _leaves([stages[first]])  # a schedule's packets are lost behind its queue
        ahead, behind = _leaves(stages[:first]) | own, _leaves(stages[first + 1 :]) | (own & {"held"})
        made = {"duplicated" for stage in stages[:first] if stage["kind"] == "duplicate"}
        return cls(ahead - behind, ahead & behind, frozenset(made))

    def reached(self, counts: Mapping[str, int]) -> tuple[int, int]:
        """How many packets reached the loss stage at least, and how many more may have."""
        unsure = sum(counts.get(name, 0) for name in self.unsure)
        gone = sum(counts.get(name, 0) for name in self.before) + unsure
        joined = sum(counts.get(name, 0) for name in self.more)
        return max(counts["received"] + joined - gone, counts["lost"]), unsure


def _stages(link: Json, direction: str) -> Sequence[Json]:
    """In the order in which packets pass them: the network's buffer for a sleeping radio drops, the radio waits."""
    chain = list(link[direction])
    radio = [{"kind": "radio"}] if link.get("radio") else []
    buffer = [{"kind": "buffer"}] if link.get("radio") else []
    medium = [{**link["medium"], "kind": "medium"}] if link.get("medium") else []
    nat = [{"kind": "nat"}] if link.get("nat") else []
    if direction == "uplink":
        return [*radio, *chain, *medium, *nat]
    return [*nat, *chain, *medium, *buffer]


def _leaves(stages: Sequence[Json]) -> frozenset[str]:
    """Columns in which packets that these stages keep are counted."""
    found: set[str] = set()
    for stage in stages:
        kind = stage["kind"]
        if kind in HOLDERS:
            found.add("held")
        if kind in RATES or kind == "buffer":
            found.add("queue_full")
        if kind in RATES and stage.get("queue", {}).get("discipline") in AQM:
            found.add("aqm")
        if kind == "outage":
            found |= {"outage", "queue_full"} if stage.get("hold_bytes") is not None else {"outage"}
        if kind == "medium":
            found |= {"queue_full", "retries"}
        if kind == "nat":
            found.add("nat")
    return frozenset(found)
