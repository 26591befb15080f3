"""The link as configured and as measured, and the resulting quality.

Grades, worst reason first. `unusable`: packets were lost that no impairment dropped, a frame was longer than the MTU, a
clock stepped, the timing error reaches a tenth of the round trip, or the measured loss, duplication, corruption or
reordering is off by a tenth. `limited`: the timing error reaches a hundredth of the round trip, or the interval of the
measured loss excludes what was configured. `good` otherwise.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from wirelab.schema import DirectionFacts
from wirelab.schema.estimates import Flag, Grade, LinkConfigured
from wirelab.schema.link_facts import Pattern, SharedFacts
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.proportion import clopper_pearson, effective_size
from wirelab.stats.link.over_time import mean_delay_ns, mean_rate_bps

GRADES: tuple[Grade, ...] = ("good", "limited", "unusable")
NOT_MEASURED: Literal["not measured"] = "not measured"
"""In place of a grade, for a direction without packets."""

DISTURBED = "disturbed exchanges"
"""A cause next to the link: a result that is not there without the exchanges during which the link was late."""

LATENESS_FLOOR_S = 50e-6
"""Lateness that is never held against a link, however short its round trip: 50 us at the 99th percentile."""

LIMITED_SHARE, UNUSABLE_SHARE = 0.01, 0.1
LOSS_LEVEL = 0.999
"""Level at which configured and measured loss are set against each other: a report has dozens of directions."""


@dataclass(frozen=True, slots=True)
class Configured:
    """The configured effects of one direction's chain. `loss` is None if it depends on when packets are sent. `bursty`
    is the design effect of its loss: how much wider than binomial counts spread; None if it is not known. `pattern` is
    a loss that is known packet by packet.
    """

    delay_s: float
    loss: float | None
    rate_bps: int | None
    bursty: float | None
    pattern: Pattern | None = None

    def record(self) -> LinkConfigured:
        """As `estimates.json` has it."""
        return {"delay_s": self.delay_s, "loss": self.loss, "rate_bps": self.rate_bps}

    def over(self, trials: Sequence[Counts]) -> Configured:
        """The same for trials of so many packets: a pattern begins again with each."""
        reached = sum(trial.reached for trial in trials)
        if self.pattern is None or reached == 0:
            return self
        return replace(self, loss=sum(_lost_by(self.pattern, trial.reached) for trial in trials) / reached)


@dataclass(frozen=True, slots=True)
class Counts:
    """Packets of one direction in one trial that reached the loss stage, and those it dropped.

    `seed` is the same for trials whose link drew the same numbers. `unsure` more packets may have reached it.
    """

    reached: int
    lost: int
    seed: int
    unsure: int = 0


def configured(
    direction: DirectionFacts, shared: Sequence[SharedFacts] = (), spans_ns: Sequence[int] = ()
) -> Configured:
    """A direction of a link with what both directions share, summed up over trials that last so long. Only what is lost
    on purpose is configured here; queues, outages, radios, media and address translation drop by what the traffic does.
    """
    loss: float | None = 0.0
    bursty: float | None = 1.0
    models = [stage.loss for stage in direction.stages if stage.loss is not None]
    for model in models:
        loss = None if loss is None or model.share is None else loss + (1 - loss) * model.share
        bursty = None if bursty is None or model.design_effect is None else max(bursty, model.design_effect)
    pattern = next((model.pattern for model in models if model.pattern is not None), None)
    if pattern is not None and len(models) > 1:
        loss, pattern = None, None
    limits = (*(each.rate_bps for each in shared), *(mean_rate_bps(stage, spans_ns) for stage in direction.stages))
    rates = [rate for rate in limits if rate is not None]
    delay_s = sum(mean_delay_ns(stage, spans_ns) for stage in direction.stages) / 1e9
    return Configured(delay_s, loss, min(rates, default=None), bursty, pattern)


def measured_loss(what: Configured, trials: Sequence[Counts], level: float = LEVEL) -> Estimate:
    """Measured loss, Clopper-Pearson on the size that the packets are worth: fewer than there are where losses come in
    bursts, and where trials share a seed and with it their losses.
    """
    n = sum(trial.reached for trial in trials)
    lost = sum(trial.lost for trial in trials)
    if n == 0:
        return Estimate(None, None, None, level, 0, "no packets")
    if what.bursty is not None:
        worth = n / (what.bursty * _seed_effect(trials))
        method = "Clopper-Pearson" if worth == n else "Clopper-Pearson on the model's effective size"
    else:
        by_seed = [[t for t in trials if t.seed == seed] for seed in {t.seed for t in trials}]
        worth = effective_size(
            [sum(t.lost for t in group) for group in by_seed],
            [sum(t.reached for t in group) for group in by_seed],
            level,
        )
        method = "Korn-Graubard over seeds"
    low, high = clopper_pearson(lost / n * worth, worth, level)
    most = n + sum(trial.unsure for trial in trials)
    if most > n:
        low = clopper_pearson(lost / most * worth, worth, level)[0]
        method += f", {most - n} packets unsure"
    return Estimate(lost / n, min(low, lost / n), max(high, lost / n), level, n, method)


def grade(
    what: Configured,
    trials: Sequence[Counts],
    lateness_p99_s: float | None,
    round_trip_s: float,
    known: Sequence[tuple[Grade, str]],
) -> tuple[Flag, str]:
    """Flag and reasons, of which some are `known` already; the round trip is that of the link, without queues."""
    reasons = list(known)
    if not any(trial.reached for trial in trials):
        if not reasons:
            return NOT_MEASURED, "no packet passed this way" if trials else "no trial counts"
    elif (late := _late(trials, lateness_p99_s, round_trip_s)) is not None:
        reasons.append(late)
    what = what.over(trials)
    measured = measured_loss(what, trials, LOSS_LEVEL)
    if (
        measured.point is not None
        and what.loss is not None
        and measured.low is not None
        and measured.high is not None
        and not measured.low <= what.loss <= measured.high
    ):
        off = (
            f"configured {what.loss:.4%} loss, measured {measured.point:.4%} [{measured.low:.4%}, {measured.high:.4%}]"
        )
        far = abs(measured.point - what.loss) > UNUSABLE_SHARE * what.loss
        reasons.append(("unusable" if far else "limited", off))
    if not reasons:
        if what.loss is None:
            return "good", "delay is as configured; how many packets are lost depends on when they are sent"
        return "good", "delay and loss are as configured"
    worst = max((flag for flag, _ in reasons), key=GRADES.index)
    return worst, "; ".join(reason for flag, reason in reasons if flag == worst)


def _late(trials: Sequence[Counts], lateness_p99_s: float | None, round_trip_s: float) -> tuple[Grade, str] | None:
    if lateness_p99_s is None:
        all_lost = all(trial.lost == trial.reached for trial in trials)
        return None if all_lost else ("limited", "the timing error was not recorded")
    late = f"1 % of the packets were later than {lateness_p99_s * 1e3:.3g} ms"
    if lateness_p99_s > max(UNUSABLE_SHARE * round_trip_s, 10 * LATENESS_FLOOR_S):
        return "unusable", f"{late}, a tenth of the round trip or more"
    if lateness_p99_s > max(LIMITED_SHARE * round_trip_s, LATENESS_FLOOR_S):
        return "limited", f"{late}, a hundredth of the round trip or more"
    return None


def _lost_by(pattern: Pattern, packets: int) -> int:
    """Losses of a pattern among the first packets."""
    whole, rest = divmod(packets, pattern.period) if pattern.repeat else (0, packets)
    return whole * len(pattern.lost) + bisect_left(pattern.lost, rest)


def _seed_effect(trials: Sequence[Counts]) -> float:
    """Variance of the loss count over that of trials with seeds of their own. The j-th packet meets the same draw in
    every trial of a seed, so that two trials share as many draws as the shorter has packets.
    """
    sizes: dict[int, list[int]] = {}
    for trial in trials:
        sizes.setdefault(trial.seed, []).append(trial.reached)
    shared = sum(min(a, b) for group in sizes.values() for a in group for b in group)
    return shared / sum(trial.reached for trial in trials)
