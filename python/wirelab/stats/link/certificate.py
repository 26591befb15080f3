"""A link's calibration record: each property and direction, as configured and as measured by probes.

Every interval of a family of links holds at once, but in one campaign of a thousand (Bonferroni). A line is `out` if
its whole interval lies outside the tolerance, `in` if it lies inside, `open` if it is not so narrow (the configured
value is possible), and `unjudged` where no figure was configured or nothing could be measured; `why` has the reason.
Tolerances are a hundredth of the round trip, of the rate and of the loss; what is ten times as far out is
unusable, what is nearer is limited.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from wirelab.schema.estimates import CertificateLine, Grade
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.link.grade import GRADES, LIMITED_SHARE, UNUSABLE_SHARE

Verdict = Literal["in", "out", "open", "unjudged"]
Side = Literal["uplink", "downlink", "both"]

ERROR_RATE = 0.001
"""Chance that an honest family of links has a line out."""
LATE = (
    "the emulator was late: a quieter machine is more exact, or real-time scheduling where it is not in force "
    "(`wirelab doctor`)"
)
FAR = UNUSABLE_SHARE / LIMITED_SHARE


@dataclass(frozen=True, slots=True)
class Line:
    """One property of one direction (or of both). Quantities are seconds, bit/s or shares, as `unit` says."""

    name: str
    direction: Side
    unit: str
    configured: float | None
    measured: Estimate | None
    tolerance: float | None
    verdict: Verdict
    grade: Grade
    why: str | None

    def record(self) -> CertificateLine:
        """As `estimates.json` has it."""
        return {
            "name": self.name, "direction": self.direction, "unit": self.unit, "configured": self.configured,
            "measured": None if self.measured is None else self.measured.record(), "tolerance": self.tolerance,
            "verdict": self.verdict, "grade": self.grade, "why": self.why,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Check:
    """A line that is still to be judged: `measure` gives the estimate at the level that the family's size asks for."""

    name: str
    direction: Side
    unit: str
    configured: float | None
    tolerance: float | None
    measure: Callable[[float], Estimate] | None
    why: str | None = None
    blame: str | None = None
    """The most likely cause if it is out."""
    exact: bool = False
    """No chance is in it: whatever differs is out, and it is no part of the family."""
    p: float | None = None
    """Of a test, instead of an interval about what was configured."""
    at_most: bool = False
    """The configured value is an upper bound."""
    unusable: bool = False
    """Whatever is out makes the link unusable."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """All lines of one link."""

    lines: tuple[Line, ...]

    @property
    def grade(self) -> Grade:
        """The worst of the lines."""
        return max((line.grade for line in self.lines), key=GRADES.index, default=GRADES[0])

    def records(self) -> list[CertificateLine]:
        """Its lines as `estimates.json` has them."""
        return [line.record() for line in self.lines]


def certify(links: Sequence[Sequence[Check]], error_rate: float = ERROR_RATE) -> list[Certificate]:
    """Judge the checks of all links of a campaign together."""
    size = sum(not check.exact and (check.measure or check.p) is not None for checks in links for check in checks)
    # Bonferroni: all intervals hold together, but for the error rate.
    level = 1 - error_rate / max(size, 1)
    return [Certificate(tuple(_judge(check, level) for check in checks)) for checks in links]


def _judge(check: Check, level: float) -> Line:
    measured = check.measure(level) if check.measure is not None else None
    if check.at_most and measured is not None and measured.point is not None:
        # A bound is kept by what was seen, and broken only by what cannot have been chance.
        kept = (
            check.configured is not None
            and check.tolerance is not None
            and measured.point <= check.configured + check.tolerance
        )
        measured = replace(measured, high=measured.point, low=measured.point if kept else measured.low)
    line = Line(
        check.name, check.direction, check.unit, check.configured, measured, check.tolerance, "unjudged", "good",
        check.why,
    )  # fmt: skip
    if check.p is not None:
        judged = replace(line, verdict="in")
        return (
            judged
            if check.p > 1 - level
            else _out(line, check, f"the run lengths are not the model's (p {check.p:.1g})")
        )
    if check.configured is None or measured is None or check.tolerance is None:
        return line
    if measured.point is None:
        return replace(line, why=check.why or measured.method)
    if measured.low is None or measured.high is None:
        if not check.exact:
            return replace(line, verdict="open", why=check.why or measured.method)
        measured = replace(measured, low=measured.point, high=measured.point)
    return _set_against(line, check, measured)


def _set_against(line: Line, check: Check, measured: Estimate) -> Line:
    assert check.configured is not None
    assert check.tolerance is not None
    assert measured.low is not None
    assert measured.high is not None
    least = float("-inf") if check.at_most else check.configured - check.tolerance
    most = check.configured + check.tolerance
    # Rounding of a sum of nanoseconds is no reason.
    slack = 1e-12 * max(abs(check.configured), 1e-9)
    if measured.low > most + slack or measured.high < least - slack:
        beyond = max(measured.low - most, least - measured.high) + check.tolerance
        far = check.unusable or beyond > FAR * check.tolerance
        return _out(line, check, check.blame or check.why, far=far)
    if measured.low >= least - slack and measured.high <= most + slack:
        return replace(line, verdict="in")
    return replace(line, verdict="open", why=f"n = {measured.n:,} does not tell it as closely as that: more time does")


def _out(line: Line, check: Check, why: str | None, *, far: bool = False) -> Line:
    return replace(line, verdict="out", grade="unusable" if far or check.unusable else "limited", why=why)
