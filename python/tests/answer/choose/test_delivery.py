"""Whether a choice delivers as well as others."""

from __future__ import annotations

from dataclasses import replace

from wirelab.answer.choose.delivery import (
    MOST_LATE,
    MOST_LOST,
    falls_behind,
    keeps_deadline,
    misses_deadline,
    near_deadline,
    needs_trials,
    not_comparable,
    surely_misses_deadline,
)
from wirelab.answer.choose.measured import OfChoice
from wirelab.stats.estimate.model import Estimate
from wirelab.stats.estimate.proportion import share

MESSAGES = 1000


def losing(lost: int, late: int | None = None, near: tuple[float, float] | None = None) -> OfChoice:
    """A choice that loses so many messages, and acknowledges so many too late. `near` is the share that is late with
    less time and with more; the same if none is given.
    """
    share_late = 0.0 if late is None else late / MESSAGES
    return OfChoice(
        messages=MESSAGES,
        lost=lost,
        lost_share=share([lost], [MESSAGES], 0.95),
        late=None if late is None else share([late], [MESSAGES], 0.95),
        late_near=near or (share_late, share_late),
    )


def test_a_choice_falls_behind_that_loses_a_point_more_than_another() -> None:
    most = round(MOST_LOST * MESSAGES)
    others = [losing(0), losing(500)]
    assert falls_behind(losing(most), others) is None
    assert falls_behind(losing(most + 1), others) == f"It loses {most + 1} of 1,000 messages."
    assert falls_behind(losing(505), [losing(500)]) is None


def test_a_choice_that_loses_everything_falls_behind_whatever_others_do() -> None:
    assert falls_behind(losing(MESSAGES), [losing(MESSAGES)]) == "It loses all of its 1,000 messages."


def test_a_choice_falls_behind_that_is_late_more_often_than_one_that_is_answered() -> None:
    most = round(MOST_LATE * MESSAGES)
    unanswered, punctual = losing(0), losing(0, late=0)
    assert falls_behind(losing(0, late=most), [punctual]) is None
    assert falls_behind(losing(0, late=900), [punctual, unanswered]) is not None
    assert falls_behind(losing(0, late=900), [unanswered]) is not None
    assert falls_behind(losing(0, late=900), [losing(0, late=870)]) is None


def test_a_little_time_more_or_less_that_decides_otherwise_leaves_the_deadline_open() -> None:
    others = [losing(0, late=0)]
    said = "Inconclusive, close to the deadline: "
    assert near_deadline(losing(0, late=1000, near=(1.0, 0.0)), others) == (
        f"{said}100 % of its messages are late, but 0 % with 10 % more time."
    )
    assert near_deadline(losing(0, late=0, near=(0.6, 0.0)), others) == (
        f"{said}0 % of its messages are late, but 60 % with 10 % less time."
    )
    assert near_deadline(losing(0, late=1000), others) is near_deadline(losing(0, late=0), others) is None
    assert near_deadline(losing(0), others) is None


def test_an_interval_that_has_what_is_allowed_leaves_the_deadline_open() -> None:
    others = [losing(0, late=0)]
    within = share([45], [MESSAGES], 0.95)
    assert within.low is not None and within.low < MOST_LATE
    why = near_deadline(losing(0, late=45), others)
    assert why is not None
    start = (
        "Inconclusive, close to the deadline: 4.5 % of its messages are late. These are 4.5 points more than of another"
    )
    assert why.startswith(f"{start} (95 % interval: 3.")
    assert why.endswith("), and the limit is 5.")
    assert near_deadline(losing(0, late=20), others) is near_deadline(losing(0, late=90), others) is None


def test_the_least_late_has_an_interval_too() -> None:
    """Of 8.5 % and 10 % the difference may be more than 5 points only because both are known to some points alone."""
    found, least = losing(0, late=120), losing(0, late=90)
    assert near_deadline(found, [found, least]) is not None
    # What is exactly known is the other's own interval, which is above.
    surely = OfChoice(
        messages=MESSAGES, late=Estimate(0.05, 0.05, 0.05, 0.95, MESSAGES, "exact"), late_near=(0.05, 0.05)
    )
    assert near_deadline(found, [found, surely]) is None
    assert needs_trials(found, [found, least])
    assert not needs_trials(found, [found, surely])


def test_what_is_open_is_not_compared_if_another_is_surely_in_time() -> None:
    near, in_time = losing(0, late=1000, near=(1.0, 0.0)), losing(0, late=0)
    # Nothing of it is surely in time, but it may be.
    may = losing(0, late=0, near=(0.6, 0.0))
    assert not_comparable(near, [near, in_time]) == near_deadline(near, [near, in_time])
    assert not_comparable(in_time, [near, in_time]) is None
    assert not_comparable(may, [may]) is None
    losing_too = losing(500, late=1000, near=(1.0, 0.0))
    assert not_comparable(losing_too, [losing_too, in_time]) == "It loses 500 of 1,000 messages."


def test_a_deadline_is_kept_or_missed_if_neither_trials_nor_a_little_time_leave_it_open() -> None:
    assert keeps_deadline(losing(0, late=10)) is True
    assert keeps_deadline(losing(0, late=45)) is None
    assert keeps_deadline(losing(0, late=60)) is None
    assert keeps_deadline(losing(0, late=200)) is False
    assert keeps_deadline(losing(0, late=10, near=(0.2, 0.0))) is None
    assert keeps_deadline(losing(0, late=200, near=(0.2, 0.01))) is None
    assert keeps_deadline(losing(0)) is None
    few = replace(losing(0, late=0), late=Estimate(0.0, None, None, 0.95, 40, "no interval: 2 trials"))
    assert keeps_deadline(few) is None


def test_if_none_keeps_the_deadline_none_is_compared() -> None:
    late, later, unanswered = losing(0, late=60), losing(0, late=70), losing(0)
    known = [late, later, unanswered]
    assert misses_deadline(known)
    assert not misses_deadline([unanswered])
    assert not misses_deadline([*known, losing(0, late=50)])
    assert not_comparable(late, known) == "6 % of its messages are not acknowledged within the deadline."
    assert not_comparable(unanswered, known) == "Nothing acknowledges its messages."
    assert not_comparable(losing(20, late=70), known) == "It loses 20 of 1,000 messages."
    # 6 of 100 may be 5.
    assert not surely_misses_deadline(known)
    assert surely_misses_deadline([losing(0, late=90), unanswered])
    assert not surely_misses_deadline([losing(0, late=90, near=(0.09, 0.0))])
    assert not surely_misses_deadline([unanswered])
