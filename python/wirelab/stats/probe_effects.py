"""Lines of what befalls packets one by one: duplicated, corrupted, held back, overtaken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from wirelab.schema.probe import ProbeKind
from wirelab.stats.certificate import Check
from wirelab.stats.estimate import Estimate
from wirelab.stats.link import TEACHING_SHARE
from wirelab.stats.link_effects import has_fair_queues, may_reorder
from wirelab.stats.loss_model import share_below
from wirelab.stats.probe_estimates import ratio, share
from wirelab.stats.probe_loss import LOSS_FLOOR
from wirelab.stats.probe_way import NO_LOG, Way, is_random, lone_delay_s

RATES = {"rate", "token-bucket", "schedule", "delivery-trace", "duty-cycle"}
SHARES = {"reorder": "held back", "duplicate": "duplicated", "corrupt": "corrupted"}


def shares(way: Way) -> Iterator[Check]:
    """Packets that a stage duplicates, corrupts or holds back."""
    kinds = [stage["kind"] for stage in way.chain]
    originals = way.packets.only(~way.packets.copy)
    for stage in way.chain:
        words = SHARES.get(stage["kind"])
        if words is None:
            continue
        if way.netem and stage["kind"] == "corrupt":
            why = f"{NO_LOG}, and corrupted packets do not arrive"
            yield Check(words, way.name, "share", stage["probability"], None, None, why)
            continue
        correlation = stage.get("correlation", 0.0)
        expected = share_below(stage["probability"], correlation)
        if correlation or kinds.count(stage["kind"]) > 1 or (stage["kind"] == "reorder" and _blurred(way)):
            yield Check(words, way.name, "share", expected, None, None, f"not told apart; {way.otherwise}")
            continue
        passed = originals.only(originals.delivered)
        match stage["kind"]:
            case "duplicate":
                hits = np.isin(passed.sequence, way.packets.sequence[way.packets.copy])
            case "corrupt":
                hits = passed.corrupted
            case _:
                base = lone_delay_s(way.chain, None, 0) or 0.0
                least = base - expected * stage["by_ns"] / 1e9
                passed = passed.only(passed.flow == ProbeKind.DELAY.port(uplink=way.uplink))
                hits = passed.delay_s > least + 0.5 * stage["by_ns"] / 1e9
        tolerance = max(TEACHING_SHARE * expected, LOSS_FLOOR)
        yield Check(words, way.name, "share", expected, tolerance, share(int(hits.sum()), len(hits)))


def order(way: Way) -> Check:
    """Share of packets that others overtook (RFC 4737)."""
    passed = way.packets.only(way.packets.delivered & ~way.packets.copy)
    reordered = passed.departure < np.maximum.accumulate(passed.departure) if len(passed) else np.zeros(0, np.bool_)
    found = Estimate(ratio(reordered.sum(), len(passed)), None, None, 1.0, len(passed), "count")
    if may_reorder(way.chain):
        fair = "fair queues let flows overtake each other"
        why = fair if has_fair_queues(way.chain) else "how many depends on when packets are sent"
        return Check("reordered", way.name, "share", None, None, lambda _: found, why)
    return Check("reordered", way.name, "share", 0.0, 0.0, lambda _: found, exact=True, invalid=True)


def _blurred(way: Way) -> bool:
    """Other delays hide who was held back."""
    return is_random(_without_reorder(way)) or any(stage["kind"] in RATES for stage in way.chain)


def _without_reorder(way: Way) -> Way:
    return replace(way, chain=[stage for stage in way.chain if stage["kind"] != "reorder"])
