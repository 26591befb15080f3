"""The link as told against the link as measured, and what that is good for.

Grades, worst reason first. `invalid`: packets were lost that no impairment dropped, a frame was longer than the MTU, a
clock stepped, the lateness reaches a tenth of the round trip, or the measured loss is off by a tenth. `teaching`: the
lateness reaches a hundredth of the round trip, or the interval of the measured loss excludes what was told.
`publishable` otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wirelab.stats.estimate import LEVEL, Estimate
from wirelab.stats.proportion import clopper_pearson, effective_size

Json = Mapping[str, Any]
GRADES = ("publishable", "teaching", "invalid")

LATENESS_FLOOR_S = 50e-6
"""Lateness that is never held against a link, however short its round trip: 50 us at the 99th percentile."""

TEACHING_SHARE, INVALID_SHARE = 0.01, 0.1
LOSS_LEVEL = 0.999
"""Level at which told and measured loss are set against each other: a report has dozens of directions."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one direction's chain was asked to do. `bursty` is the design effect of its loss: how much wider than
    binomial counts spread.
    """

    delay_s: float
    loss: float
    rate_bps: int | None
    bursty: float | None

    def as_dict(self) -> dict[str, Any]:
        return {"delay_s": self.delay_s, "loss": self.loss, "rate_bps": self.rate_bps}


@dataclass(frozen=True, slots=True)
class Counts:
    """Packets of one direction in one trial that reached the loss stage, and those it dropped.

    `seed` is the same for trials whose link drew the same numbers.
    """

    reached: int
    lost: int
    seed: int


def told(direction: Sequence[Json], medium: Json | None = None) -> Told:
    """A direction of a `LinkSpec`, summed up; `bursty` is None where it depends on the sender's timing."""
    delay, loss, rate = 0, 0.0, None
    bursty: float | None = 1.0
    for stage in direction:
        match stage["kind"]:
            case "delay":
                delay += stage["delay_ns"]
            case "loss":
                loss += (1 - loss) * stage["probability"]
            case "gilbert-elliott":
                loss += (1 - loss) * _mean_loss(stage["p"], stage["r"], stage)
                bursty = None if bursty is None else max(bursty, _design_effect(stage))
            case "gilbert-elliott-time":
                loss += (1 - loss) * _mean_loss(1 / stage["good_ns"], 1 / stage["bad_ns"], stage)
                bursty = None
            case "rate":
                rate = stage["rate_bps"] if rate is None else min(rate, stage["rate_bps"])
    if medium is not None:
        rate = medium["rate_bps"] if rate is None else min(rate, medium["rate_bps"])
    return Told(delay / 1e9, loss, rate, bursty)


def measured_loss(what: Told, trials: Sequence[Counts], level: float = LEVEL) -> Estimate:
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
    return Estimate(lost / n, min(low, lost / n), max(high, lost / n), level, n, method)


def grade(
    what: Told, trials: Sequence[Counts], lateness_p99_s: float | None, round_trip_s: float, broken: Sequence[str]
) -> tuple[str, str]:
    """Flag and reasons. `broken` says what invalidated trials; the round trip is that of the link, without queues."""
    reasons: list[tuple[str, str]] = [("invalid", reason) for reason in broken]
    if lateness_p99_s is None:
        reasons.append(("teaching", "the lateness was not recorded"))
    elif lateness_p99_s > LATENESS_FLOOR_S:
        late = f"1 % of the packets were later than {lateness_p99_s * 1e3:.3g} ms"
        if lateness_p99_s > max(INVALID_SHARE * round_trip_s, 10 * LATENESS_FLOOR_S):
            reasons.append(("invalid", f"{late}, a tenth of the round trip or more"))
        elif lateness_p99_s > TEACHING_SHARE * round_trip_s:
            reasons.append(("teaching", f"{late}, a hundredth of the round trip or more"))
    measured = measured_loss(what, trials, LOSS_LEVEL)
    if measured.point is None:
        reasons.append(("invalid", "no packet passed"))
    elif measured.low is not None and measured.high is not None and not measured.low <= what.loss <= measured.high:
        off = f"told {what.loss:.4%} loss, measured {measured.point:.4%} [{measured.low:.4%}, {measured.high:.4%}]"
        far = abs(measured.point - what.loss) > INVALID_SHARE * what.loss
        reasons.append(("invalid" if far else "teaching", off))
    if not reasons:
        return "publishable", "delay and loss are as told"
    worst = max((flag for flag, _ in reasons), key=GRADES.index)
    return worst, "; ".join(reason for flag, reason in reasons if flag == worst)


def _mean_loss(to_bad: float, to_good: float, stage: Json) -> float:
    bad = to_bad / (to_bad + to_good) if to_bad + to_good > 0 else 0.0
    return float(bad * stage["bad_loss"] + (1 - bad) * stage["good_loss"])


def _seed_effect(trials: Sequence[Counts]) -> float:
    """Variance of the loss count over that of trials with seeds of their own. The j-th packet meets the same draw in
    every trial of a seed, so that two trials share as many draws as the shorter has packets.
    """
    sizes: dict[int, list[int]] = {}
    for trial in trials:
        sizes.setdefault(trial.seed, []).append(trial.reached)
    shared = sum(min(a, b) for group in sizes.values() for a in group for b in group)
    return shared / sum(trial.reached for trial in trials)


def _design_effect(stage: Json) -> float:
    """Variance of a Gilbert-Elliott loss count over that of independent loss, for long runs: 1 + 2 x the sum of
    autocorrelations.
    """
    p, r = stage["p"], stage["r"]
    mean = _mean_loss(p, r, stage)
    if p + r == 0 or not 0 < mean < 1:
        return 1.0
    bad = p / (p + r)
    persistence = 1 - p - r
    covariance = bad * (1 - bad) * (stage["bad_loss"] - stage["good_loss"]) ** 2
    return max(1.0, float(1 + 2 * covariance * persistence / (p + r) / (mean * (1 - mean))))
