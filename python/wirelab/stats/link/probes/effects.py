"""Lines for effects on single packets: duplicated, corrupted, reordered."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from wirelab.schema.probe import ProbeKind
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.link.certificate import Check
from wirelab.stats.link.effects import has_fair_queues, may_reorder
from wirelab.stats.link.grade import LIMITED_SHARE
from wirelab.stats.link.probes.estimates import ratio, share
from wirelab.stats.link.probes.loss import LOSS_FLOOR
from wirelab.stats.link.probes.way import NO_LOG, Way, is_random, lone_delay_s

WORDS = {"duplicated": "duplicated", "corrupted": "corrupted", "held_back": "held back"}


def shares(way: Way) -> Iterator[Check]:
    """Packets that a stage duplicates, corrupts or delays for reordering."""
    originals = way.packets.only(~way.packets.copy)
    stages = way.direction.stages
    for stage, name in product(stages, WORDS):
        chance, words = getattr(stage, name), WORDS[name]
        if chance is None:
            continue
        if way.netem and name == "corrupted":
            why = f"{NO_LOG}, and corrupted packets do not arrive"
            yield Check(words, way.name, "share", chance.probability, None, None, why)
            continue
        several = sum(getattr(each, name) is not None for each in stages) > 1
        if chance.correlated or several or (name == "held_back" and _blurred(way)):
            yield Check(
                words, way.name, "share", chance.share, None, None, f"it cannot be measured by itself; {way.otherwise}"
            )
            continue
        passed = originals.only(originals.delivered)
        if name == "duplicated":
            hits = np.isin(passed.sequence, way.packets.sequence[way.packets.copy])
        elif name == "corrupted":
            hits = passed.corrupted
        else:
            by_s = chance.by_ns / 1e9
            least = (lone_delay_s(stages, (), 0) or 0.0) - chance.share * by_s
            passed = passed.only(passed.flow == ProbeKind.DELAY.port(uplink=way.uplink))
            hits = passed.delay_s > least + 0.5 * by_s
        tolerance = max(LIMITED_SHARE * chance.share, LOSS_FLOOR)
        yield Check(words, way.name, "share", chance.share, tolerance, share(int(hits.sum()), len(hits)))


def order(way: Way) -> Check:
    """Share of packets that others overtook (RFC 4737)."""
    passed = way.packets.only(way.packets.delivered & ~way.packets.copy)
    reordered = passed.departure < np.maximum.accumulate(passed.departure) if len(passed) else np.zeros(0, np.bool_)
    found = Estimate(ratio(reordered.sum(), len(passed)), None, None, 1.0, len(passed), "count")
    if may_reorder(way.direction):
        fair = "fair queues let flows overtake each other"
        why = fair if has_fair_queues(way.direction) else "how many depends on when packets are sent"
        return Check("reordered", way.name, "share", None, None, lambda _: found, why)
    return Check("reordered", way.name, "share", 0.0, 0.0, lambda _: found, exact=True, unusable=True)


def _blurred(way: Way) -> bool:
    """Other delays hide which packets were delayed for reordering."""
    others = [stage for stage in way.direction.stages if stage.held_back is None]
    return is_random(others, way.shared) or any(stage.queue is not None for stage in others)
