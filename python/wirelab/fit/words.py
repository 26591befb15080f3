"""A fit in words: the measurement, the alternatives, the limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log1p
from typing import NamedTuple

from wirelab.fit.delay import quantile, successive
from wirelab.fit.loss import SIGNIFICANT, Losses
from wirelab.fit.observations import Observations, Source, Way
from wirelab.fit.written import milliseconds, percent
from wirelab.stats.estimate.model import Estimate
from wirelab.units import format_duration, format_rate, format_share

_FEW = 100
"""No 95th percentile of fewer values."""


class Alternative(NamedTuple):
    """A line that a direction of the link may have instead, or besides, and what it would mean."""

    way: Way
    line: str
    meaning: str


def measured(observations: Observations, losses: Mapping[Way, Losses], trips: Losses | None) -> Iterator[str]:
    """Delays, losses and rates, with intervals and with the tests that chose the models."""
    delays = observations.round_trips_ns
    least, most = int(delays.min()), int(delays.max())
    quantiles = [("median", 0.5), *([("95th percentile", 0.95)] if len(delays) >= _FEW else [])]
    said = [f"{name} {_seconds(quantile(delays, q))}" for name, q in quantiles]
    yield f"{len(delays)} round trips: {format_duration(least)} to {format_duration(most)}, {', '.join(said)}."
    again = successive(delays)
    if again is not None and observations.spread_is_links:
        pace = "" if observations.interval_ns is None else f" ({format_duration(observations.interval_ns)} apart)"
        yield (
            f"Successive round trips{pace} have a rank correlation of {round(again, 2) + 0.0:g}. The link has none: "
            "netem's correlation would narrow the spread, and it counts packets, not time."
        )
    for way, fitted in losses.items():
        yield from _facts(fitted, f"{observations.packets} {way}")
    if trips is not None:
        yield from _facts(trips, "round trips")
    for way, rate in observations.rates.items():
        best = f"{format_rate(rate.bits_per_second)} in the best second {way} ({rate.what})"
        yield f"{best}: the rate at least."


def _facts(fitted: Losses, what: str) -> Iterator[str]:
    """The model in words: what was lost, why this model, its parameters with their intervals."""
    if fitted.model == "none":
        yield f"None of {fitted.n} {what} lost: the share is at most {format_share(fitted.share.high or 0.0)}."
        return
    yield f"Lost {fitted.lost} of {fitted.n} {what}, in {fitted.runs} runs: {_share(fitted.share)}."
    if fitted.p_independent is None:
        return
    against = f"Independent losses against bursts, likelihood-ratio test: p = {fitted.p_independent:.2g}"
    if fitted.model == "independent":
        if fitted.p_independent < SIGNIFICANT:
            yield f"{against}; but the only burst has no beginning or no end, so the burst length is not known."
        else:
            yield f"{against}; the profile has independent losses."
        return
    yield f"{against}; the profile has a Gilbert-Elliott model."
    if fitted.p_gilbert is not None:
        taken = "1-h = 100 % and 1-k = 0 % are kept" if fitted.model == "gilbert" else "all four are fitted"
        yield f"Two parameters against four, likelihood-ratio test: p = {fitted.p_gilbert:.2g}; {taken}."
    for name, estimate in (("p", fitted.p), ("r", fitted.r), ("1-h", fitted.bad_loss), ("1-k", fitted.good_loss)):
        if estimate is not None:
            yield f"{name} = {_share(estimate)} ({estimate.method})."


def alternatives(
    observations: Observations, losses: Mapping[Way, Losses], trips: Losses | None
) -> Iterator[Alternative]:
    """The other reading of bursts, where the interval between packets is known; rates that may be set."""
    interval = observations.interval_ns
    fits: dict[Way, Losses] = {**losses} if trips is None else {"uplink": trips}
    for way, fitted in fits.items():
        p, r = (None if each is None else each.point for each in (fitted.p, fitted.r))
        if interval and p and r and p + r < 1:
            good_ns, bad_ns = sojourns(p, r, interval)
            bad = 1.0 if fitted.bad_loss is None else fitted.bad_loss.point or 0.0
            good = 0.0 if fitted.good_loss is None else fitted.good_loss.point or 0.0
            yield Alternative(
                way,
                f'gilbert-elliott-time = {{ good = "{milliseconds(good_ns)}", bad = "{milliseconds(bad_ns)}", '
                f'bad-loss = "{percent(bad)}", good-loss = "{percent(good)}" }}',
                "instead of gilbert-elliott: the same bursts, lasting for a time rather than for packets",
            )
    for way, rate in observations.rates.items():
        yield Alternative(
            way,
            f'rate = "{rate.bits_per_second} bit/s"',
            "optional, with a queue: correct if only the link limited the transfer, else too low",
        )


def sojourns(p: float, r: float, interval_ns: float) -> tuple[float, float]:
    """Mean times in the good and the bad state of a chain in continuous time that, looked at in intervals, moves with
    `p` and `r`, of which the sum is below 1.
    """
    both = -log1p(-(p + r)) / interval_ns
    return (p + r) / (p * both), (p + r) / (r * both)


def limits(observations: Observations, losses: Mapping[Way, Losses], trips: Losses | None) -> Iterator[str]:
    """The limits of every measurement."""
    models = {fitted.model for fitted in (*losses.values(), *([trips] if trips else []))}
    if models & {"gilbert", "gilbert-elliott"}:
        yield "Whether a burst lasts for packets or for a time: at another sending rate the two differ."
    if observations.spread_is_links:
        yield "The spread between packets that follow closely: emulated ones do not overtake one another."
    yield "Other hours, places and packet sizes than those measured."


def title(observations: Observations, losses: Mapping[Way, Losses], trips: Losses | None) -> str:
    """The profile in a line."""
    least = format_duration(int(observations.round_trips_ns.min()))
    shares = [f"{format_share(fitted.share.point or 0.0)} lost {way}" for way, fitted in losses.items()]
    if trips is not None:
        shares = [f"{format_share(trips.share.point or 0.0)} of round trips lost"]
    return ", ".join([f"Fitted to {observations.kind}: {least} round trip at least", *shares])


def about(observations: Observations, source: Source) -> str:
    """The profile in two sentences."""
    shown = f"What {observations.kind} ({source.name}) shows of a link."
    return f"{shown} The comments in this file name its limits."


def _share(estimate: Estimate) -> str:
    point = format_share(estimate.point or 0.0)
    if estimate.low is None or estimate.high is None:
        return point
    return f"{point} [{format_share(estimate.low)}, {format_share(estimate.high)}]"


def _seconds(estimate: Estimate) -> str:
    point = format_duration((estimate.point or 0.0) * 1e9)
    if estimate.low is None or estimate.high is None:
        return point
    return f"{point} [{format_duration(estimate.low * 1e9)}, {format_duration(estimate.high * 1e9)}]"
