"""Observations to a link profile: values as a link file has them, each with its source, and what they do not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

from wirelab.fit.delay import Spread, quantile, spreads, successive
from wirelab.fit.loss import SIGNIFICANT, Losses, fit_losses
from wirelab.fit.observations import WAYS, Observations, Source, Way
from wirelab.stats.estimate import Estimate
from wirelab.units import format_duration, format_rate, format_share

_FEW = 100
"""No 95th percentile of fewer values."""


class Alternative(NamedTuple):
    """A line that a direction of the link may have instead, or besides, and what it would mean."""

    way: Way
    line: str
    meaning: str


@dataclass(frozen=True)
class FittedProfile:
    """A profile, and around it in words: what was measured, what was seen beside it, what cannot be told.

    `sources` cites each value of `link` by its dotted path.
    """

    title: str
    about: str
    link: Mapping[str, Any]
    sources: Mapping[str, str]
    measured: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    seen: tuple[str, ...]
    untold: tuple[str, ...]


def fit_profile(observations: Observations, source: Source) -> FittedProfile:
    """Fit delay, spread and losses, each by the simplest model that the measurement does not contradict."""
    losses = {way: fit_losses(lost) for way, lost in observations.lost_by_way.items()}
    of_trips = None if observations.lost is None else fit_losses(observations.lost)
    link: dict[str, Any] = {way: {} for way in WAYS}
    sources: dict[str, str] = {}
    last = ""
    for way, key, value, why in [*_delays(observations), *_losses(losses, of_trips, observations)]:
        link[way][key] = value
        for path in _leaves(value, f"{way}.{key}"):
            cited = f"measured: {source.name}, {why}"
            if not sources:
                cited = f"measured: {source.name} (sha256 {source.sha256}), {why}"
            sources[path] = "the same" if last == cited else cited
            last = cited
    return FittedProfile(
        title=_title(observations, losses, of_trips),
        about=_about(observations, source),
        link=link,
        sources=sources,
        measured=tuple(_measured(observations, losses, of_trips)),
        alternatives=tuple(_alternatives(observations, losses, of_trips)),
        seen=observations.seen,
        untold=(*observations.untold, *_limits(observations, losses, of_trips)),
    )


Value = tuple[Way, str, Any, str]
"""Direction, key, value, and where the value is from, to follow the file's name."""


def _delays(observations: Observations) -> Iterator[Value]:
    n = f"{len(observations.round_trips_ns)} round trips"
    apart = bool(observations.one_way_ns)
    for way, spread in spreads(observations).items():
        if apart and observations.clocks_agree:
            base = f"{n}: mean one-way delay"
        elif apart:
            base = f"{n}: half the sum of the least one-way delays, split equally (assumed), and this direction's mean above it"
        elif spread.offsets_ns:
            base = f"{n}: half the least (the equal split is assumed), and the mean above the least"
        else:
            base = f"{n}: half the least (the equal split is assumed)"
        yield way, "delay", milliseconds(spread.mean_ns), base
        if spread.offsets_ns:
            whose = "this direction's" if apart else "the round trip's, all of it in this direction (assumed)"
            yield way, "jitter", _jitter(spread), f"{n}: quantiles around the mean, {whose}"


def _jitter(spread: Spread) -> dict[str, Any]:
    return {"distribution": "table", "offsets": [milliseconds(offset) for offset in spread.offsets_ns]}


def _losses(losses: Mapping[Way, Losses], of_trips: Losses | None, observations: Observations) -> Iterator[Value]:
    for way, fitted in losses.items():
        yield from _loss(way, fitted, f"{fitted.lost} of {fitted.n} {observations.packets} {way}")
    if of_trips is None:
        return
    what = f"{of_trips.lost} of {of_trips.n} round trips"
    if of_trips.model == "independent":
        each = percent(each_way(of_trips.share.point or 0.0))
        for way in WAYS:
            yield way, "loss", each, f"{what}; the equal split is assumed: 1 - sqrt(1 - share) each way"
    else:
        yield from _loss("uplink", of_trips, f"{what}, all of them in this direction (assumed)")


def _loss(way: Way, fitted: Losses, what: str) -> Iterator[Value]:
    if fitted.model == "independent":
        yield way, "loss", percent(fitted.share.point or 0.0), what
    elif fitted.model != "none":
        parameters = (fitted.p, fitted.r, fitted.bad_loss, fitted.good_loss)
        points = [default if each is None else each.point for each, default in zip(parameters, (0, 0, 1, 0), strict=True)]
        table = dict(zip(("p", "r", "1-h", "1-k"), (percent(point or 0.0) for point in points), strict=True))
        yield way, "gilbert-elliott", table, f"{what}, in {fitted.bursts} bursts: {_MODELS[fitted.model]}"


_MODELS = {
    "gilbert": "simple Gilbert model, p and r from counts of transitions, 1-h and 1-k fixed by the model",
    "gilbert-elliott": "Gilbert-Elliott model by maximum likelihood",
}


def each_way(share: float) -> float:
    """Loss in each direction that comes to this share of round trips."""
    return 1 - sqrt(1 - share)


def _measured(observations: Observations, losses: Mapping[Way, Losses], of_trips: Losses | None) -> Iterator[str]:
    trips = observations.round_trips_ns
    least, most = int(trips.min()), int(trips.max())
    quantiles = [("median", 0.5), *([("95th percentile", 0.95)] if len(trips) >= _FEW else [])]
    said = [f"{name} {_seconds(quantile(trips, q))}" for name, q in quantiles]
    yield f"{len(trips)} round trips: {format_duration(least)} to {format_duration(most)}, {', '.join(said)}."
    again = successive(trips)
    if again is not None and observations.spread_is_links:
        pace = "" if observations.interval_ns is None else f", {format_duration(observations.interval_ns)} apart"
        yield (
            f"Successive round trips{pace} have a rank correlation of {again:.2f}. The link has none: netem's correlation "
            "would narrow the spread, and it counts packets, not time."
        )
    for way, fitted in losses.items():
        yield from _told(fitted, f"{observations.packets} {way}")
    if of_trips is not None:
        yield from _told(of_trips, "round trips")
    for way, rate in observations.rates.items():
        yield f"At most {format_rate(rate.bits_per_second)} in any second {way} ({rate.what})."


def _told(fitted: Losses, what: str) -> Iterator[str]:
    """The model in words: what was lost, why this model, its parameters with their intervals."""
    if fitted.model == "none":
        yield f"No loss of {fitted.n} {what}: a share up to {format_share(fitted.share.high or 0.0)} is compatible with that."
        return
    yield f"Lost {fitted.lost} of {fitted.n} {what}, in {fitted.bursts} bursts: {_share(fitted.share)}."
    if fitted.p_independent is None:
        return
    against = f"Independent losses against bursts, likelihood-ratio test: p = {fitted.p_independent:.2g}"
    if fitted.model == "independent":
        if fitted.p_independent < SIGNIFICANT:
            yield f"{against}; but the one burst has no beginning or no end, so how long bursts last is not known."
        else:
            yield f"{against}; independent losses are kept."
        return
    yield f"{against}; a Gilbert-Elliott model is taken."
    if fitted.p_gilbert is not None:
        simple = "1-h = 100 %, 1-k = 0 % are kept" if fitted.model == "gilbert" else "all four parameters are fitted"
        yield f"Simple Gilbert model against all four parameters, likelihood-ratio test: p = {fitted.p_gilbert:.2g}; {simple}."
    for name, estimate in (("p", fitted.p), ("r", fitted.r), ("1-h", fitted.bad_loss), ("1-k", fitted.good_loss)):
        if estimate is not None:
            yield f"{name} = {_share(estimate)} ({estimate.method})."


def _alternatives(
    observations: Observations, losses: Mapping[Way, Losses], of_trips: Losses | None
) -> Iterator[Alternative]:
    interval = observations.interval_ns
    fits: dict[Way, Losses] = {**losses} if of_trips is None else {"uplink": of_trips}
    for way, fitted in fits.items():
        p, r = (None if each is None else each.point for each in (fitted.p, fitted.r))
        if interval is not None and p and r:
            bad = 1.0 if fitted.bad_loss is None else fitted.bad_loss.point or 0.0
            good = 0.0 if fitted.good_loss is None else fitted.good_loss.point or 0.0
            yield Alternative(
                way,
                f'gilbert-elliott-time = {{ good = "{milliseconds(interval / p)}", bad = "{milliseconds(interval / r)}", '
                f'bad-loss = "{percent(bad)}", good-loss = "{percent(good)}" }}',
                "instead of gilbert-elliott: the same bursts, lasting for a time rather than for packets",
            )
    for way, rate in observations.rates.items():
        yield Alternative(
            way,
            f'rate = "{rate.bits_per_second} bit/s"',
            "besides, with a queue: right if nothing but the link held the transfer back, else too little",
        )


def _limits(observations: Observations, losses: Mapping[Way, Losses], of_trips: Losses | None) -> Iterator[str]:
    models = {fitted.model for fitted in (*losses.values(), *([of_trips] if of_trips else []))}
    if models & {"gilbert", "gilbert-elliott"}:
        yield "Whether a burst lasts for packets or for a time: at another sending rate the two differ."
    if observations.spread_is_links:
        yield "The spread between packets that follow closely: emulated ones do not overtake one another."
    yield "Other hours, places and packet sizes than those measured."


def _title(observations: Observations, losses: Mapping[Way, Losses], of_trips: Losses | None) -> str:
    least = format_duration(int(observations.round_trips_ns.min()))
    shares = [f"{format_share(fitted.share.point or 0.0)} lost {way}" for way, fitted in losses.items()]
    if of_trips is not None:
        shares = [f"{format_share(of_trips.share.point or 0.0)} of round trips lost"]
    return ", ".join([f"Fitted to a {observations.kind}: {least} round trip at least", *shares])


def _about(observations: Observations, source: Source) -> str:
    return f"What one {observations.kind} ({source.name}) shows of a link. The comments in this file say what it cannot show."


def _leaves(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}")
    else:
        yield path


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


def milliseconds(nanoseconds: float) -> str:
    """A duration as a link file has it, to the microsecond."""
    return f"{round(nanoseconds / 1e3) / 1e3:.12g} ms"


def percent(fraction: float) -> str:
    """A share as a link file has it."""
    return f"{fraction * 100:.4g} %"
