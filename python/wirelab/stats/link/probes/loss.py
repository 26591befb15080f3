"""Lines of the loss: its share, and how long its runs are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from wirelab.schema import DropCause
from wirelab.schema.link_facts import LossFacts
from wirelab.schema.probe import ProbeKind
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.link.certificate import Check
from wirelab.stats.link.grade import LIMITED_SHARE, Configured, Counts, configured, measured_loss
from wirelab.stats.link.loss_path import LossPath
from wirelab.stats.link.probes.estimates import batches, ratio, share
from wirelab.stats.link.probes.packets import Packets
from wirelab.stats.link.probes.way import Way
from wirelab.stats.link.run_lengths import LEAST_RUNS, run_distribution, run_test

CAUSES = (*(cause.value for cause in DropCause if cause is not DropCause.LOSS), "held")
LOSS_FLOOR = 1e-4
"""A difference in loss that never counts: one packet in ten thousand."""


def losses(way: Way) -> Iterator[Check]:
    """Loss, and the lengths of its runs."""
    models = [stage.loss for stage in way.direction.stages if stage.loss is not None]
    packets = way.packets.only(~way.packets.copy)
    if way.netem:
        # A packet that does not arrive was lost, or dropped by a full queue after a train.
        packets = packets.only(packets.flow != ProbeKind.RATE.port(uplink=way.uplink))
    lost = packets.fate == "loss"
    if way.netem and any(stage.corrupted is not None for stage in way.direction.stages):
        measure = share(int(lost.sum()), len(lost))
        yield Check("loss", way.name, "share", None, None, measure, "corrupted packets do not arrive either")
        return
    counts = {cause.replace("-", "_"): int((packets.fate == cause).sum()) for cause in CAUSES}
    counts |= {"received": len(packets), "lost": int(lost.sum()), "duplicated": int(way.packets.copy.sum())}
    reached, unsure = LossPath.of(way.direction).reached(counts)
    trial = [Counts(reached, counts["lost"], 0, unsure)]
    what = configured(way.direction).over(trial)
    if not models:
        exact = Estimate(ratio(lost.sum(), len(lost)), None, None, 1.0, len(lost), "count")
        why = "packets were lost, and nothing loses them on purpose" if lost.any() else None
        yield Check("loss", way.name, "share", 0.0, 0.0, lambda _: exact, why, exact=True, unusable=True)
        return
    if what.loss is None:
        measure = share(int(lost.sum()), reached)
        yield Check("loss", way.name, "share", None, None, measure, "depends on when packets are sent")
        return
    measure = _loss_measure(way, models, packets, what, trial)
    yield Check("loss", way.name, "share", what.loss, max(LIMITED_SHARE * what.loss, LOSS_FLOOR), measure)
    yield _runs(way, models, packets, unsure)


def _loss_measure(
    way: Way, models: Sequence[LossFacts], packets: Packets, what: Configured, trial: Sequence[Counts]
) -> Callable[[float], Estimate]:
    """Its interval: by the model's design effect, by when packets met a state that lasts, or else by batches."""
    if what.bursty is not None:
        return lambda level: measured_loss(what, trial, level)
    lost = _reached_in_order(way, packets)
    if len(models) == 1 and models[0].in_time is not None and len(packets) == len(lost):
        worth = len(lost) / design_effect_in_time(models[0], packets.arrival)
        return share(int(lost.sum()), len(lost), worth)
    return batches(lost)


def design_effect_in_time(model: LossFacts, arrival_ns: NDArray[np.int64]) -> float:
    """Variance of the loss count over that of independent loss, where a state lasts for a time: for packets of these
    instants, in order. States of two instants are correlated by exp(-decay x the time between them).
    """
    mean, state = model.share, model.in_time
    if state is None or mean is None or not 0 < mean < 1 or not len(arrival_ns):
        return 1.0
    kept = np.exp(-np.diff(arrival_ns) * state.decay_per_ns)
    reach = total = 0.0
    for correlation in kept.tolist():
        reach = (reach + 1) * correlation
        total += reach
    return float(max(1.0, 1 + 2 * state.variance * total / (len(arrival_ns) * mean * (1 - mean))))


def _runs(way: Way, models: Sequence[LossFacts], packets: Packets, unsure: int) -> Check:
    unjudged = way.otherwise
    stages = way.direction.stages
    mixed = any(stage.held_back is not None or stage.duplicated is not None for stage in stages)
    if len(models) > 1 or unsure or mixed:
        return Check("loss runs", way.name, "packets", None, None, None, f"several stages take part: {unjudged}")
    chain = models[0].chain
    if chain is None or run_distribution(chain) is None:
        why = f"the model moves with time or by a pattern, not with each packet: {unjudged}"
        return Check("loss runs", way.name, "packets", None, None, None, why)
    found = run_test(chain, _reached_in_order(way, packets))
    if found is None:
        few = f"fewer than {LEAST_RUNS} runs of losses: more time tells it"
        return Check("loss runs", way.name, "packets", None, None, None, few)
    mean = Estimate(found.measured, None, None, 0.95, found.runs, f"chi-square over {found.cells} lengths")
    why = f"{found.runs:,} runs, p {found.p:.2g}"
    return Check("loss runs", way.name, "packets", found.configured, None, lambda _: mean, why, p=found.p)


def _reached_in_order(way: Way, packets: Packets) -> NDArray[np.bool_]:
    """Outcomes at the loss stage: true is lost. Packets dropped before it are left out."""
    path = LossPath.of(way.direction)
    gone = np.isin(packets.fate, [name.replace("_", "-") for name in path.before | path.unsure])
    return np.asarray(packets.fate[~gone] == "loss")
