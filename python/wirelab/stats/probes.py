"""What probes of a link say of each of its properties, as checks for its certificate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wirelab.metrics.probes import is_netem
from wirelab.schema.probe import ProbeKind
from wirelab.stats import probe_rate
from wirelab.stats.certificate import Check
from wirelab.stats.delay_model import mean_delay_ns
from wirelab.stats.estimate import Estimate
from wirelab.stats.link import LATENESS_FLOOR_S, TEACHING_SHARE, Counts, Told, measured_loss, told
from wirelab.stats.loss_model import design_effect_in_time, long_run, share_below
from wirelab.stats.loss_path import LossPath
from wirelab.stats.medium_model import service
from wirelab.stats.probe_ends import seen_by_ends
from wirelab.stats.probe_estimates import LEAST_DELAYS, Floats, batches, median, quantile, share_of
from wirelab.stats.probe_packets import Packets, packets_of
from wirelab.stats.run_lengths import run_test

if TYPE_CHECKING:
    import polars as pl

    from wirelab.metrics.probes import Probes

Json = Mapping[str, Any]

CAUSES = ("queue-full", "aqm", "outage", "retries", "nat", "held")
LOSS_FLOOR = 1e-4
"""A difference in loss that never counts: one packet in ten thousand."""
RATES = {"rate", "token-bucket", "schedule", "delivery-trace", "duty-cycle"}
SHARES = {"reorder": "held back", "duplicate": "duplicated", "corrupt": "corrupted"}
NO_LOG = "netem keeps no log"
INTO_NETEM = "into netem p99"
"""How late the link process passed packets on; what netem adds is in the delay."""
LATE = "the emulator was late: a quieter machine or real-time scheduling (`wirelab doctor`) is more exact"


@dataclass(frozen=True)
class _Direction:
    name: str
    uplink: bool
    chain: Sequence[Json]
    link: Json
    packets: Packets
    entered: Packets
    """By the log of the link process."""
    received: pl.DataFrame
    round_trip_s: float

    @property
    def netem(self) -> bool:
        """Whether `packets` are what the ends saw, for netem keeps no log."""
        return is_netem(self.link)

    @property
    def tolerance_s(self) -> float:
        return max(LATENESS_FLOOR_S, TEACHING_SHARE * self.round_trip_s)


def checks(probes: Probes) -> list[Check]:
    """Each line of the link's certificate, still to be judged; of one that netem ran, by what its ends saw."""
    link = probes.link
    seen = seen_by_ends(probes) if probes.netem else probes.packets
    round_trip_s = sum(map(mean_delay_ns, [*link["uplink"], *link["downlink"]])) / 1e9
    found = []
    for name, uplink in (("uplink", True), ("downlink", False)):
        packets, entered = packets_of(seen, uplink=uplink), packets_of(probes.packets, uplink=uplink)
        direction = _Direction(name, uplink, link[name], link, packets, entered, probes.received, round_trip_s)
        found += [*_delays(direction), *_losses(direction), *_shares(direction), _order(direction), *_rates(direction)]
    return [*found, *_shared(probes), _accounted(probes), _replayed(probes)]


def _delays(way: _Direction) -> Iterator[Check]:
    taken = way.packets.probes(ProbeKind.DELAY, uplink=way.uplink)
    alone = taken.only(taken.delivered & ~taken.copy & ~_asleep(way, taken))
    what = lone_delay_s(way.chain, way.link.get("medium"), int(taken.size[0])) if len(taken) else None
    why = _unsteady(way)
    if what is None or why is not None:
        reason = why or ("no probe was sent" if not len(taken) else "how long the medium takes for it is not known")
        yield Check("delay", way.name, "s", what, None, None, reason)
    else:
        # Mean lateness is one packet's, if the machine was busy with something else once; the line below is for that.
        late_s = float(np.median(alone.lateness_s)) if len(alone) else 0.0
        values = alone.told_delay_s + late_s
        few = f"{len(values)} probes are too few" if len(values) < LEAST_DELAYS else None
        # The path to the link and from it, and both ends' wake-ups.
        beyond = max(10 * LATENESS_FLOOR_S, way.tolerance_s)
        typical = batches if _is_random(way) else median
        tolerance = beyond if way.netem else way.tolerance_s
        yield Check("delay", way.name, "s", what, tolerance, typical(values), few, LATE)
        if not way.netem and not way.link.get("radio"):
            # Whom the radio kept waiting, the ends do not know.
            yield Check("end to end", way.name, "s", what, beyond, typical(_end_to_end_s(way)))
    late = quantile(way.entered.lateness_s if way.netem else alone.lateness_s, 0.99)
    name = INTO_NETEM if way.netem else "lateness p99"
    yield Check(name, way.name, "s", 0.0, way.tolerance_s, late, blame=LATE, at_most=True)


def _end_to_end_s(way: _Direction) -> Floats:
    """From the sender's call to the receiver's kernel, by the clocks of the ends: an account of its own."""
    port = ProbeKind.DELAY.port(uplink=way.uplink)
    mine = way.received.filter((way.received["client_port"] == port) & (way.received["uplink"] == way.uplink))
    first = mine.unique("number", keep="first", maintain_order=True)
    return np.asarray((first["received_ns"] - first["sent_ns"]).to_numpy() / 1e9)


def lone_delay_s(chain: Sequence[Json], medium: Json | None, size: int) -> float | None:
    """Mean delay of a packet that meets no other; None where it is not known."""
    total = sum(map(mean_delay_ns, chain)) / 1e9
    for stage in chain:
        match stage["kind"]:
            case "rate" | "duty-cycle":
                total += (size + stage.get("overhead_bytes", 0)) * 8 / stage["rate_bps"]
            case "schedule" | "delivery-trace":
                return None
    if medium is not None:
        shared = service(medium, size)
        if shared is None:
            return None
        total += shared.idle
    return total


def _unsteady(way: _Direction) -> str | None:
    """Why the delay has no one figure."""
    kinds = {stage["kind"] for stage in way.chain}
    if kinds & {"schedule", "delivery-trace"}:
        return "changes with time; the replay reproduces each packet's"
    if any(stage.get("hold_bytes") is not None for stage in way.chain):
        return "an outage holds packets back; the replay reproduces each packet's"
    return None


def _is_random(way: _Direction) -> bool:
    chancy = any(stage.get("jitter") is not None or stage["kind"] == "reorder" for stage in way.chain)
    medium = way.link.get("medium") or {"kind": "none"}
    # Frames of 802.11 on idle air are sent at once: only one that is sent again draws a back-off.
    return chancy or medium["kind"] == "ieee802154" or medium.get("frame_error", 0) > 0


def _asleep(way: _Direction, taken: Packets) -> NDArray[np.bool_]:
    """Probes that may have waited for the radio: the first, and what came long after the one before."""
    radio = way.link.get("radio")
    if not radio or not radio["sleeps"]:
        return np.zeros(len(taken), dtype=np.bool_)
    lightest = radio["sleeps"][0]["after_ns"]
    return np.asarray(taken.quiet_ns > 0.8 * lightest)


def _losses(way: _Direction) -> Iterator[Check]:
    stages = [stage for stage in way.chain if long_run(stage) is not None]
    packets = way.packets.only(~way.packets.copy)
    if way.netem:
        # Who does not arrive was lost, or found no room behind a train.
        packets = packets.only(packets.flow != ProbeKind.RATE.port(uplink=way.uplink))
    lost = packets.fate == "loss"
    if way.netem and any(stage["kind"] == "corrupt" for stage in way.chain):
        missing = share_of(int(lost.sum()), len(lost))
        yield Check("loss", way.name, "share", None, None, missing, "corrupted packets do not arrive either")
        return
    counts = {cause.replace("-", "_"): int((packets.fate == cause).sum()) for cause in CAUSES}
    counts |= {"received": len(packets), "lost": int(lost.sum()), "duplicated": int(way.packets.copy.sum())}
    reached, unsure = LossPath.of(way.link, way.name).reached(counts)
    trial = [Counts(reached, counts["lost"], 0, unsure)]
    what = told(way.chain).over(trial)
    if not stages:
        exact = Estimate(_ratio(lost.sum(), len(lost)), None, None, 1.0, len(lost), "count")
        why = "packets were lost, and nothing loses them on purpose" if lost.any() else None
        yield Check("loss", way.name, "share", 0.0, 0.0, lambda _: exact, why, exact=True, invalid=True)
        return
    if what.loss is None:
        measure = share_of(int(lost.sum()), reached)
        yield Check("loss", way.name, "share", None, None, measure, "depends on when packets are sent")
        return
    measure = _loss_measure(way, stages, packets, what, trial)
    yield Check("loss", way.name, "share", what.loss, max(TEACHING_SHARE * what.loss, LOSS_FLOOR), measure)
    yield _runs(way, stages, packets, unsure)


def _loss_measure(
    way: _Direction, stages: Sequence[Json], packets: Packets, what: Told, trial: Sequence[Counts]
) -> Callable[[float], Estimate]:
    """Its interval: by the model's design effect, by when packets met a state that lasts, or else by batches."""
    if what.bursty is not None:
        return lambda level: measured_loss(what, trial, level)
    lost = _reached_in_order(way, packets)
    if len(stages) == 1 and stages[0]["kind"] == "gilbert-elliott-time" and len(packets) == len(lost):
        worth = len(lost) / design_effect_in_time(stages[0], packets.arrival)
        return share_of(int(lost.sum()), len(lost), worth)
    return batches(lost)


def _runs(way: _Direction, stages: Sequence[Json], packets: Packets, unsure: int) -> Check:
    unjudged = _otherwise(way)
    if len(stages) > 1 or unsure or {"reorder", "duplicate"} & {stage["kind"] for stage in way.chain}:
        return Check("loss runs", way.name, "packets", None, None, None, f"several stages take part: {unjudged}")
    found = run_test(stages[0], _reached_in_order(way, packets))
    if found is None:
        return Check("loss runs", way.name, "packets", None, None, None, f"too few, or by no chain: {unjudged}")
    mean = Estimate(found.measured, None, None, 0.95, found.runs, f"chi-square over {found.cells} lengths")
    why = f"{found.runs:,} runs, p {found.p:.2g}"
    return Check("loss runs", way.name, "packets", found.told, None, lambda _: mean, why, p=found.p)


def _reached_in_order(way: _Direction, packets: Packets) -> NDArray[np.bool_]:
    """Fates at the loss stage: true is lost. Who was dropped before is not among them."""
    path = LossPath.of(way.link, way.name)
    gone = np.isin(packets.fate, [name.replace("_", "-") for name in path.before | path.unsure])
    return np.asarray(packets.fate[~gone] == "loss")


def _shares(way: _Direction) -> Iterator[Check]:
    """Packets that a stage duplicates, corrupts or holds back."""
    kinds = [stage["kind"] for stage in way.chain]
    originals = way.packets.only(~way.packets.copy)
    for stage in way.chain:
        words = SHARES.get(stage["kind"])
        if words is None:
            continue
        if way.netem and stage["kind"] == "corrupt":
            share = stage["probability"]
            yield Check(words, way.name, "share", share, None, None, f"{NO_LOG}, and corrupted packets do not arrive")
            continue
        correlation = stage.get("correlation", 0.0)
        share = share_below(stage["probability"], correlation)
        if correlation or kinds.count(stage["kind"]) > 1 or (stage["kind"] == "reorder" and _blurred(way)):
            yield Check(words, way.name, "share", share, None, None, f"not told apart; {_otherwise(way)}")
            continue
        passed = originals.only(originals.delivered)
        match stage["kind"]:
            case "duplicate":
                hits = np.isin(passed.sequence, way.packets.sequence[way.packets.copy])
            case "corrupt":
                hits = passed.corrupted
            case _:
                base = lone_delay_s(way.chain, None, 0) or 0.0
                least = base - share * stage["by_ns"] / 1e9
                passed = passed.only(passed.flow == ProbeKind.DELAY.port(uplink=way.uplink))
                hits = passed.delay_s > least + 0.5 * stage["by_ns"] / 1e9
        tolerance = max(TEACHING_SHARE * share, LOSS_FLOOR)
        yield Check(words, way.name, "share", share, tolerance, share_of(int(hits.sum()), len(hits)))


def _otherwise(way: _Direction) -> str:
    """What answers for each packet, where probes cannot tell."""
    return NO_LOG if way.netem else "the replay reproduces each packet's"


def _blurred(way: _Direction) -> bool:
    """Other delays hide who was held back."""
    return _is_random(_without_reorder(way)) or any(stage["kind"] in RATES for stage in way.chain)


def _without_reorder(way: _Direction) -> _Direction:
    return replace(way, chain=[stage for stage in way.chain if stage["kind"] != "reorder"])


def _order(way: _Direction) -> Check:
    """Share of packets that others overtook (RFC 4737)."""
    passed = way.packets.only(way.packets.delivered & ~way.packets.copy)
    reordered = passed.departure < np.maximum.accumulate(passed.departure) if len(passed) else np.zeros(0, np.bool_)
    share = Estimate(_ratio(reordered.sum(), len(passed)), None, None, 1.0, len(passed), "count")
    may = [stage for stage in way.chain if stage["kind"] == "reorder" or stage.get("overtaking")]
    fair = any(stage.get("queue", {}).get("discipline") == "fq-codel" for stage in way.chain)
    if may or fair:
        why = "how many depends on when packets are sent" if may else "fair queues let flows overtake each other"
        return Check("reordered", way.name, "share", None, None, lambda _: share, why)
    return Check("reordered", way.name, "share", 0.0, 0.0, lambda _: share, exact=True, invalid=True)


def _rates(way: _Direction) -> Iterator[Check]:
    found = probe_rate.rate_check(
        way.name, way.chain, way.link, way.packets, uplink=way.uplink, otherwise=_otherwise(way)
    )
    if found is not None:
        yield found


def _shared(probes: Probes) -> Iterator[Check]:
    """What both directions share."""
    link = probes.link
    radio = link.get("radio")
    if radio and radio["sleeps"]:
        yield _wake_up(probes, radio)
    if link.get("nat"):
        seconds = link["nat"]["udp_timeout_ns"] / 1e9
        why = f"mappings end after {seconds:g} s of silence, which probes do not wait for; the replay reproduces them"
        yield Check("NAT time-out", "both", "s", seconds, None, None, why)


def _wake_up(probes: Probes, radio: Json) -> Check:
    """The first packet of the client finds the radio in its deepest sleep."""
    up = packets_of(probes.packets, uplink=True)
    deepest = radio["sleeps"][-1]["wake_ns"] / 1e9
    if not len(up) or not up.delivered[0] or any(stage.get("jitter") for stage in probes.link["uplink"]):
        why = "jitter hides it; the replay reproduces it" if len(up) and up.delivered[0] else "the first probe was lost"
        return Check("wake-up", "uplink", "s", deepest, None, None, why)
    rest = lone_delay_s(probes.link["uplink"], probes.link.get("medium"), int(up.size[0])) or 0.0
    took = Estimate(float(up.delay_s[0]) - rest, None, None, 1.0, 1, "the first packet")
    tolerance = max(10 * LATENESS_FLOOR_S, TEACHING_SHARE * deepest)
    return Check("wake-up", "uplink", "s", deepest, tolerance, lambda _: took, exact=True)


def _accounted(probes: Probes) -> Check:
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
        delivered = sum(direction["delivered"] for direction in probes.result["link"]["directions"])
        damaged = sum(stage["kind"] == "corrupt" for stage in chain(probes.link["uplink"], probes.link["downlink"]))
        others = packets.height - arrived.height
        lacking = 0 if damaged else max(delivered - others - received, received - delivered, 0)
    else:
        lacking = max(delivered - received, received - delivered - damaged, 0)
    total = sum(probes.sent.values())
    share = Estimate(_ratio(missing + lacking, max(total, 1)), None, None, 1.0, total, "count")
    why = f"{missing} of {total:,} sent never reached the link, {lacking} of {delivered:,} delivered never arrived"
    return Check(
        "unaccounted", "both", "share", 0.0, 0.0, lambda _: share, why if missing + lacking else None, exact=True,
        invalid=True,
    )  # fmt: skip


def _replayed(probes: Probes) -> Check:
    if probes.replay is None:
        return Check("replay mismatches", "both", "share", None, None, None, NO_LOG)
    total, mismatches = probes.replay["packets"], probes.replay["mismatches"]
    share = Estimate(_ratio(mismatches, max(total, 1)), None, None, 1.0, total, "count")
    why = f"{mismatches} of {total:,} packets are not reproduced" if mismatches else None
    return Check("replay mismatches", "both", "share", 0.0, 0.0, lambda _: share, why, exact=True, invalid=True)


def _ratio(part: Any, whole: int) -> float | None:
    return float(part) / whole if whole else None
