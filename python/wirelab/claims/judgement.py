"""The judgement on a part of a claim at one confidence level."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from wirelab.schema.verdicts import PartRecord, Verdict
from wirelab.stats.estimate.horizon import MOST_OF_A_MEAN, counted_at
from wirelab.stats.estimate.model import LEVEL, Estimate

if TYPE_CHECKING:
    from wirelab.stats.estimate.bootstrap import Draws
    from wirelab.stats.estimate.proportion import Share

CONFIRMED: Verdict = "confirmed"
CONTRADICTED: Verdict = "contradicted"
INCONCLUSIVE: Verdict = "inconclusive"
MOST_TIMED_OUT = 0.01
"""With more, what completed decides nothing: not its mean, not its standard deviation, and no metric of which a
time-out says nothing, such as a phase.
"""
MOST_NAMED = 2
"""Cases with most time-outs that a sentence names."""
MOST_DIGITS = 5
"""Significant digits of an estimate in a sentence."""


@dataclass(frozen=True)
class TimeOuts:
    """Where time-outs count in a scenario's mean, and the fraction of the mean that they make. Without a horizon the
    mean is of completed exchanges, and the fraction is of the exchanges: those that it leaves out of this `scenario`.
    """

    horizon_s: float | None
    share: float
    scenario: str = ""


class Estimable(Protocol):
    """A number with an interval at any level: a statistic's `Draws`, or a share."""

    @property
    def point(self) -> float: ...
    @property
    def n(self) -> int: ...
    @property
    def tells(self) -> tuple[bool, bool]: ...
    def interval(self, level: float) -> tuple[float | None, float | None]: ...
    def estimate(self, level: float) -> Estimate: ...


class Source(Protocol):
    """Gives a statistic of a metric in the scenario at some levels; None if there is no such number."""

    words: str
    """How a sentence names it: `measured` or `printed`."""
    touched: dict[str, int]
    """Scenarios used since it was last emptied, with their number of values."""
    absent: dict[str, str]
    """Scenarios that were needed but are missing (empty text) or must not be used (the reason), since it was last
    emptied.
    """
    few: dict[str, str]
    """Scenarios that were run and have too few values for an interval, with a sentence, since it was last emptied."""
    time_outs: dict[tuple[str, bool], TimeOuts]
    """Scenarios whose mean was used since it was last emptied, if exchanges of them timed out, and whether that mean is
    of completed exchanges.
    """

    unusable: dict[str, str]
    """Scenarios of unusable quality that were used since it was last emptied, each with the reason."""
    waited: dict[str, float]
    """Scenarios that were used since it was last emptied with CPU waiting in their delays, in seconds."""
    disturbed: dict[str, tuple[int, int]]
    """Scenarios that were used since it was last emptied with exchanges that the emulator disturbed: their values with
    and without those.
    """
    without: str | None
    """The scenario whose CPU waiting is taken away from its delays, or `DISTURBED`: those exchanges are."""

    def name_of(self, scenario: str) -> str:
        """The scenario's name for people."""

    def draws(
        self, metric: str, statistic: str, levels: dict[str, str], horizon_s: float | None = None
    ) -> Draws | None:
        """Of a mean, each value is cut at the horizon."""

    def beyond(self, metric: str, bound_s: float, levels: dict[str, str]) -> Share | None:
        """The share of exchanges that completed or timed out whose value is above the bound."""

    def unanswered(self, levels: dict[str, str]) -> list[tuple[int, int]] | None:
        """For each trial of the scenario: unanswered exchanges and all exchanges; None if they are not known."""


@dataclass(frozen=True)
class Judgement:
    """A verdict with its reason.

    `decides` is False for a part outside the verdict, and `after_the_fact` the time of one that was written later.
    `objection` says why no data could confirm the part.
    `scenarios` are those that it is based on, with their number of values. `missing`: it is inconclusive because a
    scenario is missing. `left_out` says of scenarios that were run why they must not be used.
    `decidable` is False if no data of this campaign could decide it. `tolerance` is the smallest factor around a
    published ratio at which it would be confirmed. `rests_on_sd`: standard deviations decide it, which are descriptive.
    `ours` is at the usual level. `judged` are the estimates whose intervals decided, each with a name if it is not
    `ours`.
    """

    form: str
    text: str
    verdict: Verdict
    why: str
    paper: float | str | None = None
    ours: Estimate | None = None
    scenarios: dict[str, int] = field(default_factory=dict)
    parts: tuple[Judgement, ...] = ()
    decides: bool = True
    objection: str | None = None
    missing: bool = False
    decidable: bool = True
    tolerance: float | None = None
    rests_on_sd: bool = False
    left_out: tuple[str, ...] = ()
    after_the_fact: str | None = None
    judged: tuple[tuple[str, Estimate], ...] = ()

    @property
    def n(self) -> int:
        """Number of values that it is based on; each scenario counts once."""
        return sum(self.scenarios.values())


@dataclass(frozen=True)
class Context:
    """The context in which a part is judged: the data, the levels and the tolerance.

    The interval at level `confirm` confirms it, and that at level `contradict` contradicts it. All parts of a claim
    must be confirmed, and one contradicted part contradicts the whole. So contradictions share the error rate, and
    confirmations need not. `factor` widens a published magnitude; it is 1 for the publication's own numbers.
    """

    source: Source
    confirm: float
    contradict: float
    factor: float
    labels: dict[str, str] = field(default_factory=dict)

    def words(self, levels: dict[str, str]) -> str:
        """Levels in words, each once."""
        return ", ".join(dict.fromkeys(self.labels.get(level, level) for level in levels.values()))

    def missing(self, form: str, text: str, what: str) -> Judgement:
        """Inconclusive, because a number is missing."""
        return Judgement(form, text, INCONCLUSIVE, f"{what} is not {self.source.words}", decidable=False)


def leaving_out(judgement: Judgement, reasons: Iterable[str]) -> Judgement:
    """The judgement with the scenarios that it leaves out; its reason names the first."""
    left_out = tuple(dict.fromkeys(reasons))
    if not left_out:
        return judgement
    more = f"; and of {len(left_out) - 1} more" if len(left_out) > 1 else ""
    return replace(judgement, why=f"{judgement.why}; {left_out[0]}{more}", left_out=left_out)


def counting(judgement: Judgement, time_outs: Collection[TimeOuts]) -> Judgement:
    """The judgement with the horizon of its means in its words, and a warning if the horizon decides them."""
    if not time_outs:
        return judgement
    words = []
    if counted := {each.horizon_s: each.share for each in time_outs if each.horizon_s is not None}:
        words.append(f"mean, {', '.join(map(counted_at, counted))}")
        most = max(each.share for each in time_outs if each.horizon_s is not None)
        if most > MOST_OF_A_MEAN:
            words[0] += f", which make up to {most:.0%} of a mean"
    left_out = sorted((each for each in time_outs if each.horizon_s is None), key=lambda each: -each.share)
    if left_out:
        named = [f"{100 * each.share:.3g} % of {each.scenario}" for each in left_out[:MOST_NAMED]]
        more = f", and of {len(left_out) - MOST_NAMED} more" if len(left_out) > MOST_NAMED else ""
        words.append(f"mean, without time-outs, which are {' and '.join(named)}{more}")
    return replace(judgement, why="; ".join([judgement.why, *words]))


def within(
    context: Context, draws: Estimable, low: float | None, high: float | None, *, strict: bool = False
) -> Verdict:
    """Confirmed if the interval lies between the bounds, contradicted if it lies beyond one, else inconclusive;
    `strict` excludes the bounds.
    """
    lower, upper = (-math.inf if low is None else low), (math.inf if high is None else high)
    tells_low, tells_high = draws.tells
    first, last = draws.interval(context.confirm)
    if first is not None and last is not None:
        above = low is None or (tells_low and (lower < first if strict else lower <= first))
        below = high is None or (tells_high and (last < upper if strict else last <= upper))
        if above and below:
            return CONFIRMED
    first, last = draws.interval(context.contradict)
    if (tells_low and first is not None and first > upper) or (tells_high and last is not None and last < lower):
        return CONTRADICTED
    return INCONCLUSIVE


def smallest_tolerance(context: Context, draws: Estimable, low: float, high: float) -> float | None:
    """The factor around a published magnitude at which the interval would confirm it; None if none would."""
    first, last = draws.interval(context.confirm)
    if draws.n == 0 or not all(draws.tells) or first is None or last is None or min(first, high) <= 0:
        return None
    return max(1.0, low / first, last / high)


def tolerance_words(tolerance: float | None) -> str:
    """For the end of a reason; rounded up, so that the printed factor is enough."""
    if tolerance is None:
        return ""
    return f"; smallest tolerance that confirms the magnitude: {math.ceil(tolerance * 100 - 1e-9) / 100:.2f}"


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """Confirmed if all are, contradicted if one is."""
    if CONTRADICTED in verdicts:
        return CONTRADICTED
    return CONFIRMED if verdicts and all(verdict == CONFIRMED for verdict in verdicts) else INCONCLUSIVE


def decided_by(context: Context, verdict: Verdict, draws: Estimable, of: str = "") -> tuple[tuple[str, Estimate], ...]:
    """The estimate with the interval that decided; if inconclusive, the widest that was tried. Printed numbers have no
    interval and give nothing.
    """
    if draws.n == 0:
        return ()
    levels: dict[Verdict, float] = {CONFIRMED: context.confirm, CONTRADICTED: context.contradict}
    level = levels.get(verdict, max(context.confirm, context.contradict))
    return ((of, draws.estimate(level)),)


def number(draws: Estimable) -> Estimate:
    """The estimate that is shown: at the usual level, whatever level decided."""
    if draws.n == 0:
        return Estimate(draws.point, None, None, LEVEL, 0, "as printed")
    return draws.estimate(LEVEL)


def written(estimate: Estimate) -> str:
    """`1.43 [1.39, 1.47]`; with more digits if the ends would look the same."""
    if estimate.point is None:
        return "undefined"
    if estimate.low is not None and estimate.high is None:
        return f"at least {estimate.low:.3g}"
    if estimate.high is not None and estimate.low is None:
        return f"at most {estimate.high:.3g}"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.point:.3g}"
    digits = 3
    while digits < MOST_DIGITS and f"{estimate.low:.{digits}g}" == f"{estimate.high:.{digits}g}":
        digits += 1
    return f"{estimate.point:.{digits}g} [{estimate.low:.{digits}g}, {estimate.high:.{digits}g}]"


def plain_part(judgement: Judgement) -> PartRecord:
    """A judgement as `verdicts.json` has it, with those of its parts."""
    record: PartRecord = {
        "form": judgement.form,
        "text": judgement.text,
        "verdict": judgement.verdict,
        "why": judgement.why,
        "paper": judgement.paper,
        "ours": judgement.ours.record() if judgement.ours else None,
        "judged": [{"of": of, **estimate.record()} for of, estimate in judgement.judged],
        "n": judgement.n,
        "parts": [plain_part(part) for part in judgement.parts],
    }
    if judgement.tolerance is not None:
        record["tolerance"] = judgement.tolerance
    if judgement.after_the_fact is not None:
        record["after_the_fact"] = judgement.after_the_fact
    return record
