"""Whether a choice delivers as well as others: how many messages it loses, and how many come after the deadline. One
rule for the ranking, for what else could be changed, and for maps. Pure.
"""

from __future__ import annotations

from collections.abc import Collection

from wirelab.answer.choose.measured import NEAR, OfChoice
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.estimate.proportion import difference_limits
from wirelab.units import format_share

MOST_LOST = 0.01
"""A choice that loses so much more of its messages than another is not ranked."""
MOST_LATE = 0.05
"""The same of what comes after the deadline."""


def not_comparable(found: OfChoice, known: Collection[OfChoice]) -> str | None:
    """Why something is not compared with what is known, of which it is one; None if it is."""
    if misses_deadline(known):
        return loses(found, known) or _late(found)
    if (why := near_deadline(found, known)) is None or loses(found, known) is not None:
        return falls_behind(found, known)
    # If none is surely in time, those that may be are compared.
    return why if any(_is_in_time(each, known) for each in known) else None


def delivers_worse(found: OfChoice, own: OfChoice) -> bool:
    """Whether what becomes of a choice by a change is not compared with the choice. If neither keeps the deadline, what
    they lose decides.
    """
    both = [found, own]
    return (loses if misses_deadline(both) else not_comparable)(found, both) is not None


def misses_deadline(known: Collection[OfChoice]) -> bool:
    """Whether no choice of which it is known acknowledges enough messages within the deadline."""
    least = _least(known)
    return least is not None and share_of(least) > MOST_LATE


def keeps_deadline(found: OfChoice) -> bool | None:
    """Whether something acknowledges enough messages within the deadline. None if trials or a little more or less time
    leave it open, and of what nothing acknowledges.
    """
    late = found.late
    if late is None or late.low is None or late.high is None:
        return None
    shorter, longer = found.late_near or (share_of(late), share_of(late))
    if max(late.high, shorter) <= MOST_LATE:
        return True
    return False if min(late.low, longer) > MOST_LATE else None


def surely_misses_deadline(known: Collection[OfChoice]) -> bool:
    """The same if neither trials nor a little more time leave it open."""
    late = [each for each in known if each.messages and each.late is not None]
    return misses_deadline(known) and all(keeps_deadline(each) is False for each in late)


def _late(found: OfChoice) -> str:
    if found.late is None:
        return "Nothing acknowledges its messages."
    return f"{format_share(share_of(found.late))} of its messages are not acknowledged within the deadline."


def needs_trials(found: OfChoice, known: Collection[OfChoice]) -> bool:
    """Whether few trials alone leave open if it keeps the deadline as well as others."""
    return _changed_by_time(found, known) is None and _left_open_by_trials(found, known) is not None


def falls_behind(found: OfChoice, others: Collection[OfChoice]) -> str | None:
    """Why something is not compared with others: it loses more messages, or acknowledges more of them too late. None if
    it does neither.
    """
    if (why := loses(found, others)) is not None:
        return why
    if share_of(found.late) > _least_late(others) + MOST_LATE:
        return _late(found)
    return None


def loses(found: OfChoice, others: Collection[OfChoice]) -> str | None:
    """Why something loses more messages than others; None if it does not."""
    if found.lost == found.messages:
        return f"It loses all of its {found.messages:,} messages."
    least = min((share_of(each.lost_share) for each in others if each.messages), default=0.0)
    if share_of(found.lost_share) > least + MOST_LOST:
        return f"It loses {found.lost:,} of {found.messages:,} messages."
    return None


def near_deadline(found: OfChoice, others: Collection[OfChoice]) -> str | None:
    """Why it is open whether something keeps the deadline as well as others: a little more or less time would decide
    otherwise, or its interval has both. None if it is not.
    """
    why = _changed_by_time(found, others) or _left_open_by_trials(found, others)
    if why is None or found.late is None or found.late.point is None:
        return None
    return f"Inconclusive, close to the deadline: {format_share(found.late.point)} of its messages are late{why}."


def _changed_by_time(found: OfChoice, others: Collection[OfChoice]) -> str | None:
    if found.late is None or found.late_near is None:
        return None
    late, (shorter, longer), by = share_of(found.late), found.late_near, format_share(NEAR)
    most = _least_late(others) + MOST_LATE
    most_longer = (
        min((each.late_near[1] for each in others if each.messages and each.late_near), default=0.0) + MOST_LATE
    )
    if late > most_longer >= longer:
        return f", but {format_share(longer)} with {by} more time"
    if shorter > most >= late:
        return f", but {format_share(shorter)} with {by} less time"
    return f", and with {by} more time another is not late" if longer > most_longer and late <= most else None


def _left_open_by_trials(found: OfChoice, others: Collection[OfChoice]) -> str | None:
    late, least = found.late, _least(others)
    if late is None or late.point is None or least is None or least.point is None or late.point == least.point:
        return None
    if (interval := _difference(late, least)) is None or not interval[0] <= MOST_LATE <= interval[1]:
        return None
    above, low, high = (_points(end) for end in (late.point - least.point, *interval))
    words = f"{above} points more than of another (95 % interval: {low} to {high})"
    return f". These are {words}, and the limit is {_points(MOST_LATE)}"


def _difference(share: Estimate, less: Estimate) -> tuple[float, float] | None:
    """By how much one share is above another; None if one has no interval."""
    ours, theirs = _limits(share), _limits(less)
    return None if ours is None or theirs is None else difference_limits(ours, theirs)


def _limits(of: Estimate) -> tuple[float, float, float] | None:
    return None if of.point is None or of.low is None or of.high is None else (of.point, of.low, of.high)


def _points(fraction: float) -> str:
    """Percentage points: `5`."""
    return f"{100 * fraction:.3g}"


def _is_in_time(found: OfChoice, others: Collection[OfChoice]) -> bool:
    known = found.late is not None
    return known and falls_behind(found, others) is None and near_deadline(found, others) is None


def _least_late(others: Collection[OfChoice]) -> float:
    return share_of(_least(others))


def _least(others: Collection[OfChoice]) -> Estimate | None:
    """The smallest share that comes after the deadline. Of what nothing answers nobody knows when it came."""
    return min((each.late for each in others if each.messages and each.late is not None), key=share_of, default=None)


def share_of(estimate: Estimate | None) -> float:
    """Its point; 0 if it is not known."""
    return 0.0 if estimate is None or estimate.point is None else estimate.point
