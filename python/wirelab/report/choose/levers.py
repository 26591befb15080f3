"""What else could be changed, how long the battery lasts, and what would reach the life that is wanted, in words."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.report.choose.amounts import NO_MATTER, SMALL, digits, factor, lasts, seconds, share, times
from wirelab.report.choose.words import meant
from wirelab.report.numbers import DASH
from wirelab.schema.bounds import Bounds
from wirelab.schema.choose import Chosen, Lever
from wirelab.units import format_energy, format_size

MOST_LEVERS = 4
"""Of a sentence."""
MOST_LIVES = 2
"""Choices whose battery life is a sentence."""
BRACKETS = (
    "In brackets: the life with all constants of the radio at their bounds. "
    "What trials leave open and the operator's settings are not in it."
)
"""Of a battery's life."""


def matters(record: Chosen) -> list[str]:
    """What else could be changed: that which matters more than the choice of a protocol, and that which does not."""
    worse = record["levers_worse"]
    return [
        *_matters(record),
        *[f"What was tried and loses more messages or comes too late: {'; '.join(worse)}."] * bool(worse),
    ]


def _matters(record: Chosen) -> list[str]:
    spread = record["spread"]
    by_size = sorted(record["levers"], key=lambda each: -factor(each["ratio"]))
    if record["nearest"] is not None:
        return _to_keep_deadline(record, by_size)
    if spread is None:
        return _levers(record, "What else can be changed", by_size)
    more = [each for each in by_size if factor(each["ratio"]) > max(spread, NO_MATTER)]
    less = [each for each in by_size if each not in more and factor(each["ratio"]) >= NO_MATTER]
    nothing = [each["name"] for each in by_size if factor(each["ratio"]) < NO_MATTER]
    # What helps comes first.
    more.sort(key=lambda each: each["ratio"] > 1)
    whole = f"the protocol (each with its best connections: a factor of {digits(spread)} in {record['criterion']})"
    return [
        *_levers(record, f"What matters more than {whole}", more),
        *_levers(record, f"What matters less{'' if more else f' than {whole}'}", less),
        *[f"What changes {record['criterion']} by {SMALL}: {'; '.join(nothing)}."] * bool(nothing),
    ]


def _to_keep_deadline(record: Chosen, by_size: Sequence[Lever]) -> list[str]:
    """What would keep a deadline that no choice keeps, and what else changes how many messages do."""
    with_ = f"with {record['nearest']}"
    keep = [each for each in by_size if each["keeps_deadline"]]
    late = [each for each in by_size if each["keeps_deadline"] is False]
    late.sort(key=lambda each: (each["delay_s"] is not None, -_share(each)))
    open_ = [each for each in by_size if each["keeps_deadline"] is None]
    return [
        *_levers(record, f"What keeps the deadline {with_}", keep),
        *_levers(record, f"What was tried {with_} and does not keep the deadline", late),
        *_levers(
            record, f"What was tried {with_} and leaves it open", [each for each in open_ if each["how"] == "measured"]
        ),
        *_levers(record, "What changes no packet", [each for each in open_ if each["how"] == "modelled"]),
    ]


def _share(lever: Lever) -> float:
    within = lever["within_deadline"]
    return 0.0 if within is None or within["point"] is None else within["point"]


def _levers(record: Chosen, title: str, some: Sequence[Lever]) -> list[str]:
    """The largest; all of them are in the table of the page."""
    if not some:
        return []
    rest = len(some) - MOST_LEVERS
    return [f"{title}: {'; '.join(_lever(record, each) for each in some[:MOST_LEVERS])}." + (
        f" The table of the page has {rest} more." if rest > 0 else ""
    )]  # fmt: skip


def _lever(record: Chosen, each: Lever) -> str:
    late = "" if each["delay_s"] is None else f", up to {seconds(each['delay_s'])} later"
    # Of readings that wait, the share of their messages says little.
    known = record["nearest"] is not None and each["within_deadline"] is not None and each["delay_s"] is None
    by_then = f"{share(_share(each))} in time, " if known else ""
    effect = times(record["criterion"], each["ratio"])
    if effect == SMALL:
        effect = f"{record['criterion']} changes by {SMALL}"
    misses = ", which misses the deadline" if record["nearest"] is None and each["keeps_deadline"] is False else ""
    return f"{each['name']}: {by_then}{effect}{late}{misses}"


def table(record: Chosen) -> list[list[str]]:
    """Rows, the header first: what else could be changed, each tried alone. None if nothing was tried."""
    energy = record["criterion"] == "energy"
    value = "a reading, modelled J" if energy else "a reading, measured IP bytes"
    deadline_s = record["question"]["deadline_s"]
    by_then = [] if deadline_s is None else [f"within {seconds(deadline_s)}"]
    rows = [
        [
            each["name"], each["of"], each["how"], (format_energy if energy else format_size)(each["value"]),
            times(record["criterion"], each["ratio"]),
            *[DASH if each["within_deadline"] is None else share(_share(each)) for _ in by_then],
            DASH if each["delay_s"] is None else f"up to {seconds(each['delay_s'])}",
        ]
        for each in sorted(record["levers"], key=lambda each: -factor(each["ratio"]))
    ]  # fmt: skip
    return [["change", "tried on", "packets", value, "effect", *by_then, "later"], *rows] if rows else []


def battery(record: Chosen) -> list[str]:
    """How long the battery lasts; nothing if none is given."""
    asked = record["question"]
    if asked["battery_mah"] is None:
        return []
    known = [(each["name"], each["battery_years"]) for each in meant(record)]
    lives = [(name, life) for name, life in known if life is not None][:MOST_LIVES]
    if not lives:
        return [f"Battery: no life is known{' without a radio' if asked['radio'] is None else ''}."]
    found = "; ".join(f"{lasts(life)} with {name}" for name, life in lives)
    alone = asked["base_current_a"] is None
    return [
        f"Battery, modelled: {'communication alone ' if alone else ''}{found}.",
        *[BRACKETS] * ("[" in found),
        *["With --base-current it is the life of the whole device."] * alone,
        *([] if asked["life_years"] is None else [_wanted(asked["life_years"], *lives[0])]),
        *goal(record),
    ]


def _wanted(wanted: float, name: str, life: Bounds) -> str:
    least, most = sorted((life["low"], life["high"]))
    if least >= wanted:
        how = "reached, whatever the radio's constants are within their bounds"
    elif life["typical"] >= wanted:
        how = "reached with typical constants of the radio, but not with its worst"
    else:
        how = "reached with the best constants of the radio alone" if most >= wanted else "not reached"
    return f"With {name}, the life of {_years(wanted)} that is wanted is {how}."


def _years(number: float) -> str:
    return f"{number:g} year{'s' * (number != 1)}"


def goal(record: Chosen) -> list[str]:
    """What would reach the life that was asked for; nothing without one."""
    wanted = record["goal"]
    if wanted is None:
        return []
    if wanted["most_j"] is None:
        return [f"The base current alone empties the battery in less than {_years(wanted['years'])}."]
    found = f"A life of {_years(wanted['years'])} allows {format_energy(wanted['most_j'])} a reading."
    if not wanted["reached_by"]:
        return [f"{found} Nothing that was tried takes so little."]
    return [f"{found} So little takes: {'; '.join(wanted['reached_by'])}."]
