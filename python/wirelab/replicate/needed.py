"""How many values, and hours, would decide a claim that is inconclusive. An extrapolation: the width of an interval
falls with the root of the number of values, and the estimate stays where it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from wirelab.claims.forms.causal_contrast import CausalContrast
from wirelab.claims.forms.count import Count
from wirelab.claims.forms.equivalence import Equivalence
from wirelab.claims.forms.interaction import Interaction
from wirelab.claims.forms.order import Order
from wirelab.claims.forms.quotient import Quotient
from wirelab.claims.forms.ratio import Ratio
from wirelab.claims.forms.trend import Trend
from wirelab.claims.judgement import INCONCLUSIVE
from wirelab.claims.part import Form
from wirelab.replicate.source import Source
from wirelab.schema.replication import Needed, ReplicatedPart

Region = tuple[float | None, float | None]
MOST = 10_000
"""Times as many values as there are: beyond that the estimate is called on the bound."""
BY_RULE = "more values do not decide it, since the outlier rule gives another verdict"
NO_END = "its interval has no end with so few trials"
UNUSABLE = "the quality is unusable"
ON_THE_BOUND = "the estimate lies on the bound, so that no number of values decides it in practice"


def needed(forms: Sequence[Form], parts: Sequence[ReplicatedPart], sources: Sequence[Source], factor: float) -> Needed:
    """For a claim: one part beyond its bounds contradicts it; else each part that is inconclusive must be decided."""
    found = [
        (part, _of_part(form, part, factor))
        for form, part in zip(forms, parts, strict=True)
        if part["decides"] and part["verdict"] == INCONCLUSIVE
    ]
    if not found:
        return {"n": None, "hours": None, "why": "the verdict depends on the outlier rule"}
    beyond = [(part, times) for part, (times, inside) in found if isinstance(times, float) and not inside]
    if beyond:
        part, times = min(beyond, key=lambda each: each[1])
        return _stated(part, times, sources, "would contradict it")
    for part, (why, _) in found:
        if isinstance(why, str):
            return {"n": None, "hours": None, "why": f"{part['text']}: {why}" if len(parts) > 1 else why}
    part, times = max(
        ((part, times) for part, (times, _) in found if isinstance(times, float)), key=lambda each: each[1]
    )
    return _stated(part, times, sources, "would confirm it")


def times_as_many(region: Region, point: float, low: float, high: float) -> tuple[float, bool]:
    """How many times as many values put the interval on one side of each bound, and whether that is inside the region.
    Quantities that are positive are compared by their logarithms. Infinite if the estimate is on a bound.
    """
    bounds = [bound for bound in region if bound is not None]
    if min(point, low, high, *bounds) > 0:
        point, low, high = math.log(point), math.log(low), math.log(high)
        bounds = [math.log(bound) for bound in bounds]
        region = tuple(None if bound is None else math.log(bound) for bound in region)  # type: ignore[assignment]
    least, most = region
    inside = (least is None or point >= least) and (most is None or point <= most)
    times = [_times(point, low, high, bound) for bound in bounds]
    return (max(times) if inside else _nearest(point, bounds, times)), inside


def _of_part(form: Form, part: ReplicatedPart, factor: float) -> tuple[float | str, bool]:
    """How many times as many values decide it, or why that cannot be said; and whether they would confirm it."""
    region, judged = _region(form, factor), next(iter(part["judged"]), None)
    if part["link"] is not None and part["link"]["flag"] == "unusable":
        return f"{UNUSABLE}: {part['link']['why']}", True
    if region is None or judged is None or judged["point"] is None:
        return part["why"], True
    if judged["low"] is None or judged["high"] is None:
        return f"{NO_END} ({judged['method']})", True
    times, inside = times_as_many(region, judged["point"], judged["low"], judged["high"])
    if times > MOST:
        return ON_THE_BOUND, inside
    return (times, inside) if times > 1 else (part["why"], inside)


def _region(form: Form, factor: float) -> Region | None:
    """Where the interval must lie to confirm the part; None of a form without such bounds."""
    region: Region | None = None
    match form:
        case Ratio():
            region = form.printed[0] / factor, form.printed[1] * factor
            if form.published > 1:
                region = max(region[0], 1.0), region[1]
            elif form.published < 1:
                region = region[0], min(region[1], 1.0)
        case Order():
            region = form.by, None
        case Equivalence() | Interaction(margin=float()):
            margin = form.margin or 1.0
            region = 1 / margin, margin
        case Interaction():
            region = (1.0, None) if form.expect == "above" else (None, 1.0)
        case Quotient(printed=(low, high)):
            region = low / factor, high * factor
        case Quotient():
            region = form.above, None
        case Count():
            region = form.published / factor, form.published * factor
        case Trend():
            region = (1.0, None) if form.direction == "rising" else (None, 1.0)
    return region


def bounds_of(form: Form, factor: float) -> list[float]:
    """The bounds that its deciding intervals must leave out; none of a form without such bounds."""
    if isinstance(form, CausalContrast):
        return [0.0]
    return [bound for bound in _region(form, factor) or () if bound is not None]


def _times(point: float, low: float, high: float, bound: float) -> float:
    distance, width = (bound - point, high - point) if bound > point else (point - bound, point - low)
    return math.inf if distance == 0 else (width / distance) ** 2


def _nearest(point: float, bounds: Sequence[float], times: Sequence[float]) -> float:
    return min(zip(bounds, times, strict=True), key=lambda each: abs(each[0] - point))[1]


def _stated(part: ReplicatedPart, times: float, sources: Sequence[Source], would: str) -> Needed:
    values = part["n"] * times
    exponent = 10 ** max(math.floor(math.log10(values)) - 1, 0)
    values = math.ceil(values / exponent) * exponent
    each = sources[part["campaign"]].seconds_each
    hours = None if each is None else (values - part["n"]) * each / 3600
    return {
        "n": values,
        "hours": hours,
        "why": f"{float(f'{times:.2g}'):,g} times as many values {would}, if the estimate stays",
    }
