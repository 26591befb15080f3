"""What of everything that was measured can be ranked."""

from __future__ import annotations

from wirelab.answer.choose.evidence import MOST_LATE, MOST_LOST, falls_behind, mean_of, near_deadline, typical_of
from wirelab.answer.choose.measured import OfChoice
from wirelab.answer.choose.ranking import exactly
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
    assert why.startswith("Inconclusive, close to the deadline: 4.5 % of its messages are late (95 % interval: 3.")
    assert why.endswith(" %), and 5 % may be.")
    assert near_deadline(losing(0, late=20), others) is near_deadline(losing(0, late=90), others) is None


def test_a_mean_is_over_trials_with_typical_constants() -> None:
    assert mean_of({}) is None
    assert mean_of({0: exactly(1.0), 3: exactly(2.0)}) == 1.5
    assert typical_of({"tail": {"low": 0.5, "typical": 1.0, "high": 4.0}, **exactly(2.0)}) == 3.0
