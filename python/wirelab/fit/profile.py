"""Observations to a link profile: values as a link file has them, each with its source, and what they do not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

from wirelab.fit.delay import Spread, spreads
from wirelab.fit.loss import Losses, fit_losses
from wirelab.fit.observations import WAYS, Observations, Source, Way
from wirelab.fit.words import Alternative, about, alternatives, limits, measured, title
from wirelab.fit.written import milliseconds, percent


@dataclass(frozen=True)
class FittedProfile:
    """A profile with its comments: what was measured, what else was seen, and what the measurement cannot show.

    `sources` cites each value of `link` by its dotted path.
    """

    title: str
    about: str
    link: Mapping[str, Any]
    sources: Mapping[str, str]
    measured: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    seen: tuple[str, ...]
    unknown: tuple[str, ...]


def fit_profile(observations: Observations, source: Source) -> FittedProfile:
    """Fit delay, spread and losses, each by the simplest model that the measurement does not contradict."""
    losses = {way: fit_losses(lost) for way, lost in observations.lost_by_way.items()}
    trips = None if observations.lost is None else fit_losses(observations.lost)
    link: dict[str, Any] = {way: {} for way in WAYS}
    sources: dict[str, str] = {}
    last = ""
    for way, key, value, why in [*_delays(observations), *_losses(losses, trips, observations)]:
        link[way][key] = value
        for path in _leaves(value, f"{way}.{key}"):
            cited = f"measured: {source.name}, {why}"
            if not sources:
                cited = f"measured: {source.name} (sha256 {source.sha256}), {why}"
            sources[path] = "the same" if last == cited else cited
            last = cited
    return FittedProfile(
        title=title(observations, losses, trips),
        about=about(observations, source),
        link=link,
        sources=sources,
        measured=tuple(measured(observations, losses, trips)),
        alternatives=tuple(alternatives(observations, losses, trips)),
        seen=observations.seen,
        unknown=(*observations.unknown, *limits(observations, losses, trips)),
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
            base = (
                f"{n}: half the sum of the least of each way (the equal split is assumed), and the mean above the least"
            )
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


def _losses(losses: Mapping[Way, Losses], trips: Losses | None, observations: Observations) -> Iterator[Value]:
    for way, fitted in losses.items():
        yield from _loss(way, fitted, f"{fitted.lost} of {fitted.n} {observations.packets} {way}")
    if trips is None:
        return
    what = f"{trips.lost} of {trips.n} round trips"
    if trips.model == "independent":
        each = percent(each_way(trips.share.point or 0.0))
        for way in WAYS:
            yield way, "loss", each, f"{what}; the equal split is assumed: 1 - sqrt(1 - share) each way"
    else:
        yield from _loss("uplink", trips, f"{what}, all of them in this direction (assumed)")


def _loss(way: Way, fitted: Losses, what: str) -> Iterator[Value]:
    if fitted.model == "independent":
        yield way, "loss", percent(fitted.share.point or 0.0), what
    elif fitted.model != "none":
        parameters = (fitted.p, fitted.r, fitted.bad_loss, fitted.good_loss)
        points = [fixed if each is None else each.point or 0.0 for each, fixed in zip(parameters, _SIMPLE, strict=True)]
        table = dict(zip(("p", "r", "1-h", "1-k"), map(percent, points), strict=True))
        yield way, "gilbert-elliott", table, f"{what}, in {fitted.runs} runs: {_MODELS[fitted.model]}"


_SIMPLE = (0.0, 0.0, 1.0, 0.0)
"""What the simple Gilbert model fixes, at its place."""
_MODELS = {
    "gilbert": "simple Gilbert model, p and r from counts of transitions, 1-h and 1-k fixed by the model",
    "gilbert-elliott": "Gilbert-Elliott model by maximum likelihood",
}


def each_way(share: float) -> float:
    """Loss in each direction that comes to this share of round trips."""
    return 1 - sqrt(1 - share)


def _leaves(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}")
    else:
        yield path
