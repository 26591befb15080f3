"""Delays to what a link is configured with: a mean, and a table of quantiles around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wirelab.fit.observations import Delays, Observations, Way
from wirelab.stats.estimate.model import LEVEL, Estimate
from wirelab.stats.estimate.proportion import enclosing, value_at

POINTS = 101
"""Length of a table: each percent, from the least to the most."""


@dataclass(frozen=True)
class Spread:
    """A one-way delay: its mean, and offsets from it at equally spaced probabilities from 0 to 1, in ascending order.

    Between two offsets the emulated delay is uniform, so the mean is that of the table and not quite that of the
    measured values; the least and the most are exactly theirs. Without spread there are no offsets.
    """

    mean_ns: int
    offsets_ns: tuple[int, ...]


def spreads(observations: Observations) -> Mapping[Way, Spread]:
    """Each direction's delay.

    Two independent delays cannot be had back from their sum. Where only round trips were measured, the least is split
    equally and the whole spread is the uplink's, which gives round trips the distribution that they had. One-way delays
    keep their own spread; unless the clocks agree, the sum of the two least ones is split equally.
    """
    if observations.one_way_ns:
        ways = observations.one_way_ns
        if observations.clocks_agree:
            return {way: table(delays) for way, delays in ways.items()}
        half = sum(int(delays.min()) for delays in ways.values()) // 2
        return {way: table(delays - delays.min() + half) for way, delays in ways.items()}
    half = int(observations.round_trips_ns.min()) // 2
    if not observations.spread_is_links:
        return {"uplink": Spread(half, ()), "downlink": Spread(half, ())}
    return {"uplink": table(observations.round_trips_ns - half), "downlink": Spread(half, ())}


def table(delays_ns: Delays) -> Spread:
    """The quantiles of measured delays as a table, no longer than there are values."""
    least, most = int(delays_ns.min()), int(delays_ns.max())
    if least == most:
        return Spread(least, ())
    quantiles = np.quantile(delays_ns, np.linspace(0, 1, min(POINTS, len(delays_ns))))
    mean = round(float((quantiles[:-1] + quantiles[1:]).mean()) / 2)
    return Spread(mean, tuple(round(float(quantile)) - mean for quantile in quantiles))


def quantile(delays_ns: Delays, q: float) -> Estimate:
    """A quantile in seconds with its interval from order statistics, as if the values were independent."""
    n = len(delays_ns)
    values = np.sort(delays_ns) / 1e9
    point = float(np.quantile(values, q))
    places = enclosing([int((values <= point).sum())], [n], q, LEVEL)
    if places is None:
        return Estimate(point, None, None, LEVEL, n, "too few values for an interval")
    low, high = (value_at(values, place) for place in places)
    return Estimate(point, min(low, point), max(high, point), LEVEL, n, "order statistics")


def successive(delays_ns: Delays) -> float | None:
    """Rank correlation of each delay with the one before; None without spread, or of fewer than ten values."""
    if len(delays_ns) < 10:
        return None
    from scipy.stats import rankdata

    order = rankdata(delays_ns)
    before, after = order[:-1] - order[:-1].mean(), order[1:] - order[1:].mean()
    scale = float(np.sqrt((before**2).sum() * (after**2).sum()))
    return float((before * after).sum()) / scale if scale > 0 else None
