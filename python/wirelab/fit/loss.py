"""Losses in order of sending to a model of loss: independent, or in bursts by a Gilbert-Elliott model.

A Gilbert-Elliott model here is netem's: the state before the packet's transition decides its outcome. p leads from
good to bad, r back. The simple Gilbert model loses every packet in the bad state and none in the good one, so that its
states are visible: p and r are shares of observed transitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wirelab.fit import gilbert_elliott
from wirelab.fit.observations import Lost
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.proportion import clopper_pearson

Model = Literal["none", "independent", "gilbert", "gilbert-elliott"]
SIGNIFICANT = 1 - LEVEL
"""A richer model is chosen when the test against the simpler one has a p-value below this."""


@dataclass(frozen=True)
class Losses:
    """What was fitted. `p_independent` and `p_gilbert` are the p-values of the tests against independent losses and
    against the simple Gilbert model; None where there was nothing to test. Of an independent model, the four parameters
    are None. Losses that are one burst without a beginning or an end are taken as independent, whatever the test says:
    how long such bursts last cannot be known."""

    model: Model
    n: int
    lost: int
    runs: int
    share: Estimate
    p: Estimate | None = None
    r: Estimate | None = None
    bad_loss: Estimate | None = None
    good_loss: Estimate | None = None
    p_independent: float | None = None
    p_gilbert: float | None = None


def fit_losses(lost: Lost) -> Losses:
    """The simplest model that the losses do not contradict."""
    n, hits, runs = len(lost), int(lost.sum()), count_runs(lost)
    share = Estimate(hits / n, *clopper_pearson(hits, n, LEVEL), LEVEL, n, "Clopper-Pearson")
    if hits in (0, n):
        return Losses("independent" if hits else "none", n, hits, runs, share)
    p_independent = independence(lost)
    if p_independent >= SIGNIFICANT:
        return Losses("independent", n, hits, runs, share, p_independent=p_independent)

    p, r = simple_gilbert(lost)
    if not p.point or not r.point:
        return Losses("independent", n, hits, runs, share, p_independent=p_independent)
    hidden = gilbert_elliott.fit(lost, p.point, r.point)
    if hidden.p_simple >= SIGNIFICANT:
        share = share_in_bursts(hits, n, (p.point, r.point, 1.0, 0.0))
        return Losses("gilbert", n, hits, runs, share, p, r, None, None, p_independent, hidden.p_simple)
    four = (hidden.p, hidden.r, hidden.bad_loss, hidden.good_loss)
    share = share_in_bursts(hits, n, [each.point or 0.0 for each in four])
    return Losses("gilbert-elliott", n, hits, runs, share, *four, p_independent, hidden.p_simple)


def count_runs(lost: Lost) -> int:
    """Runs of consecutive losses."""
    return int(lost[0]) + int((lost[1:] & ~lost[:-1]).sum())


def independence(lost: Lost) -> float:
    """p-value of independent losses against bursts.

    Given how many were lost, fewer runs of losses are a greater likelihood ratio for the simple Gilbert model, and
    under independence their number is hypergeometric (Wald and Wolfowitz 1940): the likelihood-ratio test is exact,
    however few were lost.
    """
    from scipy.stats import hypergeom

    n, hits = len(lost), int(lost.sum())
    return float(hypergeom.cdf(count_runs(lost), n, n - hits + 1, hits))


def simple_gilbert(lost: Lost) -> tuple[Estimate, Estimate]:
    """p and r of the simple Gilbert model, the most likely given the first packet's outcome."""
    return _transitions(lost, of=False), _transitions(lost, of=True)


def _transitions(lost: Lost, *, of: bool) -> Estimate:
    """How often a received packet (or a lost one: `of`) is followed by the other outcome: Clopper-Pearson."""
    before, after = lost[:-1], lost[1:]
    visits = int((before == of).sum())
    changes = int(((before == of) & (after != of)).sum())
    point = changes / visits if visits else 0.0
    return Estimate(point, *clopper_pearson(changes, visits, LEVEL), LEVEL, visits, "Clopper-Pearson")


def share_in_bursts(hits: int, n: int, parameters: Sequence[float]) -> Estimate:
    """The share of losses of a Gilbert-Elliott model (p, r, loss in the bad and in the good state), n large.

    Clopper-Pearson on so many packets as the correlated ones are worth: never more than there were, and none if the
    state never changes, so that any share is possible.
    """
    p, r, bad_loss, good_loss = parameters
    point = hits / n
    if p + r == 0:
        return Estimate(point, 0.0, 1.0, LEVEL, n, "Clopper-Pearson of the model")
    bad = p / (p + r)
    share = bad * bad_loss + (1 - bad) * good_loss
    hidden = (bad_loss - good_loss) ** 2 * bad * (1 - bad)
    variance = share * (1 - share)
    together = 2 * hidden / variance * (1 - p - r) / (p + r) if variance > 0 else 0.0
    worth = n / max(1.0, 1 + together)
    low, high = clopper_pearson(point * worth, worth, LEVEL)
    return Estimate(point, min(low, point), max(high, point), LEVEL, n, "Clopper-Pearson of the model")
