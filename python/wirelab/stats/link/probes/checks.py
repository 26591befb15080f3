"""The probes' results for each property of a link, as checks for its calibration record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from wirelab.schema import DirectionFacts, LinkFacts
from wirelab.schema.estimates import Way as Direction
from wirelab.schema.link_facts import SharedFacts
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.link.certificate import Check
from wirelab.stats.link.grade import LATENESS_FLOOR_S, LIMITED_SHARE
from wirelab.stats.link.over_time import mean_delay_ns
from wirelab.stats.link.probes.delay import delays
from wirelab.stats.link.probes.effects import order, shares
from wirelab.stats.link.probes.ends import seen_by_ends
from wirelab.stats.link.probes.estimates import ratio
from wirelab.stats.link.probes.loss import losses
from wirelab.stats.link.probes.packets import packets_of
from wirelab.stats.link.probes.rate import rate_check
from wirelab.stats.link.probes.way import NO_LOG, Way, lone_delay_s

if TYPE_CHECKING:
    from wirelab.metrics.probes import Probes


def checks(probes: Probes, facts: LinkFacts) -> list[Check]:
    """Each line of the link's certificate, still to be judged; of one that netem ran, by what its ends saw."""
    seen = seen_by_ends(probes) if probes.netem else probes.packets
    round_trip_s = sum(map(mean_delay_ns, (*facts.uplink.stages, *facts.downlink.stages))) / 1e9
    found = []
    sides: tuple[tuple[Direction, DirectionFacts], ...] = (("uplink", facts.uplink), ("downlink", facts.downlink))
    for name, own in sides:
        uplink = name == "uplink"
        packets, entered = packets_of(seen, uplink=uplink), packets_of(probes.packets, uplink=uplink)
        way = Way(
            name, uplink, own, facts.shared, probes.netem, packets, entered, probes.received, round_trip_s
        )  # fmt: skip
        found += [*delays(way), *losses(way), *shares(way), order(way)]
        found += [] if (rate := rate_check(way)) is None else [rate]
    return [*found, *_shared(probes, facts), _accounted(probes, facts), _replayed(probes)]


def _shared(probes: Probes, facts: LinkFacts) -> Iterator[Check]:
    """The properties that both directions share."""
    for stage in facts.shared:
        if stage.sleeps:
            yield _wake_up(probes, facts, stage)
        if stage.silence_ns is not None:
            seconds = stage.silence_ns / 1e9
            why = (
                f"mappings end after {seconds:g} s of silence, which probes do not wait for; the replay reproduces them"
            )
            yield Check(stage.silence_words or stage.key, "both", "s", seconds, None, None, why)


def _wake_up(probes: Probes, facts: LinkFacts, radio: SharedFacts) -> Check:
    """The first packet of the client finds the radio in its deepest sleep."""
    up = packets_of(probes.packets, uplink=True)
    deepest = radio.sleeps[-1].wake_ns / 1e9
    if not len(up) or not up.delivered[0]:
        return Check("wake-up", "uplink", "s", deepest, None, None, "the first probe was lost: another seed tells it")
    rest = lone_delay_s(facts.uplink.stages, facts.shared, int(up.size[0])) or 0.0
    took = Estimate(float(up.delay_s[0]) - rest, None, None, 1.0, 1, "the first packet")
    jitter_s = sum(stage.delay.reach_ns for stage in facts.uplink.stages if stage.delay is not None) / 1e9
    tolerance = max(10 * LATENESS_FLOOR_S, LIMITED_SHARE * deepest) + jitter_s
    return Check("wake-up", "uplink", "s", deepest, tolerance, lambda _: took, exact=True)


def _accounted(probes: Probes, facts: LinkFacts) -> Check:
    """Packets that were sent and never reached the link, or left it and were never received.

    Who left netem its counters know; packets that are no probes are among them.
    """
    packets = probes.packets
    arrived = packets.filter(~packets["copy"] & packets["client_port"].is_not_null())
    seen = dict.fromkeys(probes.sent, 0)
    for up, port, count in arrived.group_by("uplink", "client_port").len().iter_rows():
        seen[up, port] = count
    missing = sum(abs(probes.sent[key] - count) for key, count in seen.items())
    delivered = packets.filter((packets["fate"] == "delivered") & ~packets["corrupted"]).height
    damaged = packets.filter((packets["fate"] == "delivered") & packets["corrupted"]).height
    received = probes.received.height
    if probes.netem:
        delivered = sum(direction.delivered for direction in probes.result.link.directions)
        damaged = sum(stage.corrupted is not None for stage in (*facts.uplink.stages, *facts.downlink.stages))
        others = packets.height - arrived.height
        lacking = 0 if damaged else max(delivered - others - received, received - delivered, 0)
    else:
        lacking = max(delivered - received, received - delivered - damaged, 0)
    total = sum(probes.sent.values())
    share = Estimate(ratio(missing + lacking, max(total, 1)), None, None, 1.0, total, "count")
    why = f"{missing} of {total:,} sent never reached the link, {lacking} of {delivered:,} delivered never arrived"
    return Check(
        "unaccounted", "both", "share", 0.0, 0.0, lambda _: share, why if missing + lacking else None, exact=True,
        unusable=True,
    )  # fmt: skip


def _replayed(probes: Probes) -> Check:
    if probes.replay is None:
        return Check("replay mismatches", "both", "share", None, None, None, NO_LOG)
    total, mismatches = probes.replay.packets, probes.replay.mismatches
    share = Estimate(ratio(mismatches, max(total, 1)), None, None, 1.0, total, "count")
    why = f"{mismatches} of {total:,} packets are not reproduced" if mismatches else None
    return Check("replay mismatches", "both", "share", 0.0, 0.0, lambda _: share, why, exact=True, unusable=True)
