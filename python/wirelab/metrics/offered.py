"""Growth of delays in a trial of an open loop: messages come faster than they are served if later ones take longer.

Serving at a rate below that of arrivals puts each message off by a little more than the one before. So the slope of
delay over intended start is the rate of arrivals over that of service, less 1. A delay that is long and does not grow
has slope 0, however short the trial is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from wirelab.metrics.base import CARRIED_OUT

LEAST_MESSAGES = 10
"""A slope of fewer says nothing."""
MOST_PAIRS = 200_000
"""Pairs of a trial that are compared. Of more, each client's messages are thinned out evenly."""
LEAST_OF_A_CLIENT = 16
"""Thinning leaves so many messages of each client."""
_DEVIATES = 1.959964
"""Normal deviate of an interval at 95 %."""
_ENDED = (*CARRIED_OUT, "timed-out")
_LATE = pl.col("outcome") == "timed-out"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Growth:
    """How the delays of one trial grow: seconds of delay for each second of intended starts."""

    offered_hz: float
    """Messages a second that were due, of all senders."""
    slope: float
    low: float
    high: float
    """Interval of the slope at 95 % within the trial."""
    messages: int
    """Messages that the slope is of."""
    taken_s: float
    """Mean time from start to end."""
    waiting: float
    """The growth of the wait for the start. With `inside` it is the whole growth, by least squares."""
    inside: float
    """The growth of the time from start to end."""
    places: float | None
    """Of the growth of the wait, while all places were taken; None if the client does not say when one was free."""


def growth(rows: pl.DataFrame, *, subscribers: bool = False) -> Growth | None:
    """The growth in a trial's exchanges; None if too few ended. The messages of a sender are its own, and each of
    several `subscribers` gets the same ones. A time-out ends a message before it is served, so what comes after the
    first one of a client is left out, if enough is left.
    """
    known = rows.drop_nulls("intended_start_ns").sort("client", "intended_start_ns", "index")
    ended = known.filter(pl.col("outcome").is_in(_ENDED))
    before = ended.filter(_LATE.cum_sum().over("client") == 0)
    used = before if len(before) >= LEAST_MESSAGES else ended
    clients = [_Client.of(part) for part in used.partition_by("client", maintain_order=True) if len(part) > 1]
    messages = sum(len(each.due_s) for each in clients)
    slopes, variance = _pairwise(clients)
    if messages < LEAST_MESSAGES or not len(slopes):
        return None
    rates = list(_rates(known))
    reach = _DEVIATES * float(np.sqrt(variance))
    last = len(slopes) - 1
    low, high = int((last - reach) / 2), int(np.ceil((last + reach) / 2))
    places = [each.places_s for each in clients if each.places_s is not None]
    return Growth(
        offered_hz=sum(rates) / (len(rates) if subscribers else 1),
        slope=float(np.median(slopes)),
        low=float(slopes[max(low, 0)]), high=float(slopes[min(high, last)]),
        messages=messages,
        taken_s=float(np.mean(np.concatenate([each.taken_s for each in clients]))),
        waiting=_least_squares(clients, [each.waited_s for each in clients]),
        inside=_least_squares(clients, [each.taken_s for each in clients]),
        places=None if len(places) < len(clients) else _least_squares(clients, places),
    )  # fmt: skip


@dataclass(frozen=True)
class _Client:
    """Messages of a client in order, in seconds: when they were due, and how long they waited and took."""

    due_s: Floats
    waited_s: Floats
    taken_s: Floats
    places_s: Floats | None

    @classmethod
    def of(cls, rows: pl.DataFrame) -> _Client:
        due, start, end = (rows[name].to_numpy() for name in ("intended_start_ns", "start_ns", "end_ns"))
        places = None
        if "place_ns" in rows.columns and not rows["place_ns"].null_count():
            places = np.maximum(rows["place_ns"].to_numpy() - due, 0) / 1e9
        return cls((due - due[0]) / 1e9, np.maximum(start - due, 0) / 1e9, (end - np.maximum(start, due)) / 1e9, places)

    @property
    def delay_s(self) -> Floats:
        """From the intended start to the end."""
        return self.waited_s + self.taken_s


def _pairwise(clients: list[_Client]) -> tuple[Floats, float]:
    """The slopes of all pairs of a client's messages, in order, and the variance of Kendall's statistic (Sen 1968)."""
    most = max(LEAST_OF_A_CLIENT, int(np.sqrt(2 * MOST_PAIRS / max(len(clients), 1))))
    found, variance = [], 0.0
    for each in clients:
        chosen = np.unique(np.linspace(0, len(each.due_s) - 1, min(len(each.due_s), most)).astype(np.int64))
        due, delay, n = each.due_s[chosen], each.delay_s[chosen], len(chosen)
        first, second = np.triu_indices(n, 1)
        apart = due[second] - due[first]
        found.append((delay[second] - delay[first])[apart > 0] / apart[apart > 0])
        variance += n * (n - 1) * (2 * n + 5) / 18
    return np.sort(np.concatenate(found)) if found else np.empty(0), variance


def _least_squares(clients: list[_Client], values: list[Floats]) -> float:
    """The common slope of the clients' values. Those of parts add up to that of their sum."""
    above = below = 0.0
    for each, mine in zip(clients, values, strict=True):
        shifted = each.due_s - each.due_s.mean()
        above += float(shifted @ mine)
        below += float(shifted @ shifted)
    return above / below if below else 0.0


def _rates(rows: pl.DataFrame) -> Iterator[float]:
    """Messages a second that were due, of each client with more than one."""
    for part in rows.partition_by("client", maintain_order=True):
        due = part["intended_start_ns"]
        if due[-1] > due[0]:
            yield (len(due) - 1) * 1e9 / (due[-1] - due[0])
