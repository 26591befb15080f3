"""What the runs of an exchange say: probabilities, quantiles, the worst case, each packet's price, and where two
scenarios cross.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean

from wirelab.enumeration.bounds import Bounds, ByRate, Weighed, crossovers, worst_s
from wirelab.enumeration.loss import Independent, Loss
from wirelab.enumeration.rest import Rest
from wirelab.enumeration.search import Asked
from wirelab.enumeration.tree import Pattern, Run, Tree
from wirelab.schema.exact import (
    Beyond,
    Crossover,
    Curve,
    ExactBounds,
    ExactQuantile,
    ExactScenario,
    Exceedance,
    OverSeeds,
    PacketPrice,
    RestrictedMean,
    SampledRest,
    Worst,
)
from wirelab.stats.estimate.model import LEVEL
from wirelab.stats.estimate.student import student_reach

RATES = tuple(rate / 1000 for rate in (0, 1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100))
"""Loss rates of curves."""
SHARES = (0.5, 0.9, 0.95, 0.99, 0.999)
WORST_LOSSES = (0, 1, 2)
POINTS = 200
LEAST_SHARE = 1e-3
"""Of the horizon, where a curve begins."""


ALSO = (0.001, 0.005, 0.01, 0.02, 0.05)
"""Rates of independent loss whose probabilities are given in any case, by whatever runs there are."""


@dataclass(frozen=True)
class Grown:
    """The runs of one scenario with one seed: `seed` is its number from 1, `trial` the run without losses. `asked` are
    the models that it was asked for, `rests` what was sampled of them. `whole` has all packets of a run, and not only
    those before its end.
    """

    name: str
    protocol: str
    client: str
    server: str
    seed: int
    trial: str
    asked: Mapping[str, Asked]
    beyond_s: Sequence[float]
    tree: Tree
    rests: Mapping[str, Rest]
    whole: Mapping[Pattern, Run]
    stands_for: Mapping[str, str] = field(default_factory=dict)
    """Digests of the experiment's scenarios, by the name of the loss that is theirs."""
    kept: Mapping[Pattern, str] = field(default_factory=dict)
    """Trials whose records are kept, by what they lose."""


def models(grown: Grown) -> dict[str, Loss]:
    """Those that were asked for, and a few rates more."""
    also = {name: both(rate) for rate in ALSO if (name := rate_name(rate)) not in grown.asked}
    return {**{name: asked.loss for name, asked in grown.asked.items()}, **also}


def rate_name(rate: float) -> str:
    """Of independent loss in both directions, such as `1 %`."""
    return f"{rate * 100:g} %"


def scenario(grown: Grown, words: Sequence[str], joules: Mapping[Pattern, float] | None = None) -> ExactScenario:
    """The record of one scenario with one seed; `words` say what each packet of the run without losses is, `joules`
    what the packets of kept runs cost a radio.
    """
    losses = models(grown)
    root = grown.tree.runs[()]
    return ExactScenario(
        name=grown.name, protocol=grown.protocol, client=grown.client, server=grown.server, seed=grown.seed,
        trial=grown.trial, runs=len(grown.tree.runs), whole_to=whole_to(grown.tree), delay_s=root.end_s,
        beyond=beyond(grown, losses), quantiles=quantiles(grown.tree, losses), means=means(grown.tree, losses),
        worst=worst(grown.tree), packets=prices(grown, words, joules or {}), curves=curves(grown.tree, grown.beyond_s),
        stands_for=dict(grown.stands_for), exceedances=exceedances(grown),
    )  # fmt: skip


def bounded(grown: Grown) -> bool:
    """Whether everything that was asked for is as narrow as it was asked for."""
    found = beyond(grown, {name: asked.loss for name, asked in grown.asked.items()})
    ends = ((each["sampled"] or each["bounds"], grown.asked[each["loss"]].within) for each in found)
    return all(end["high"] - end["low"] <= within for end, within in ends)


def both(rate: float) -> Loss:
    """Independent loss in both directions."""
    return Loss(Independent(rate), Independent(rate))


def beyond(grown: Grown, losses: Mapping[str, Loss]) -> list[Beyond]:
    """P(delay > x) under each loss model."""
    found = []
    for name, loss in losses.items():
        weighed = Weighed.of(grown.tree, loss)
        rest = grown.rests.get(name)
        for x_s in grown.beyond_s:
            sampled, bounds = None, weighed.beyond(x_s)
            if rest is not None and rest.runs and bounds.width > grown.asked[name].within:
                part = rest.beyond(x_s)
                sampled = SampledRest(point=part.point, low=part.low, high=part.high, n=part.n)
            found.append(Beyond(loss=name, delay_s=x_s, bounds=_bounds(bounds), sampled=sampled))
    return found


def quantiles(tree: Tree, losses: Mapping[str, Loss]) -> list[ExactQuantile]:
    """Those of the delay."""
    found = []
    for name, loss in losses.items():
        weighed = Weighed.of(tree, loss)
        for share in SHARES:
            low, high = weighed.quantile(share)
            found.append(ExactQuantile(loss=name, share=share, low_s=low, high_s=high))
    return found


def means(tree: Tree, losses: Mapping[str, Loss]) -> list[RestrictedMean]:
    """Restricted to the tree's horizon."""
    found = []
    for name, loss in losses.items():
        mean = Weighed.of(tree, loss).mean()
        found.append(RestrictedMean(loss=name, horizon_s=tree.horizon_s, low_s=mean.low, high_s=mean.high))
    return found


def worst(tree: Tree) -> list[Worst]:
    """The longest delays within few losses."""
    found = []
    for losses in WORST_LOSSES:
        # A run beyond the horizon is not followed further: another loss may make it longer.
        followed = not any(len(run.pattern) < losses and run.exceeds(tree.horizon_s) for run in tree.runs.values())
        known = tree.whole_to(losses) and followed
        found.append(Worst(losses=losses, delay_s=worst_s(tree, losses) if known else None, known=known))
    return found


def whole_to(tree: Tree) -> int:
    """Every pattern of so many losses was run."""
    return min((len(branch.pattern) for branch in tree.branches()), default=max(map(len, tree.runs)) + 1) - 1


def prices(grown: Grown, words: Sequence[str], joules: Mapping[Pattern, float]) -> list[PacketPrice]:
    """Each packet of the run without losses, those after the end too; `words` say what each is."""
    root, at_rest = grown.whole[()], joules.get(())
    found = []
    for at, draw in enumerate(root.draws):
        run = grown.whole.get((at,))
        delay_s = None if run is None or run.end_s is None or root.end_s is None else run.end_s - root.end_s
        found.append(
            PacketPrice(
                number=at + 1, direction=draw.direction, at_s=draw.at_s, size=draw.size, words=words[at],
                run=run is not None, delay_s=delay_s, bytes=None if run is None else _bytes(run) - _bytes(root),
                energy_j=None if at_rest is None or (at,) not in joules else joules[at,] - at_rest,
            )
        )  # fmt: skip
    return found


def curves(tree: Tree, delays_s: Sequence[float]) -> list[Curve]:
    """By the rate of independent loss in both directions."""
    found = []
    for x_s in delays_s:
        bounds = [*map(ByRate.beyond(tree, x_s).at, RATES)]
        found.append(Curve(delay_s=x_s, low=[each.low for each in bounds], high=[each.high for each in bounds]))
    return found


def exceedances(grown: Grown) -> list[Exceedance]:
    """P(delay > x) by x under the losses of the experiment's own scenarios."""
    found = []
    for name in grown.stands_for:
        weighed = Weighed.of(grown.tree, grown.asked[name].loss)
        bounds = [weighed.beyond(x_s) for x_s in delays_s(grown.tree.horizon_s)]
        found.append(Exceedance(loss=name, low=[each.low for each in bounds], high=[each.high for each in bounds]))
    return found


def delays_s(horizon_s: float) -> list[float]:
    """Delays of a curve: equally spaced on a logarithmic axis up to the horizon, in seconds."""
    return [horizon_s * LEAST_SHARE ** (1 - at / (POINTS - 1)) for at in range(POINTS)]


def crossed(trees: Mapping[str, Tree], delays_s: Sequence[float]) -> list[Crossover]:
    """Loss rates at which one of two scenarios begins to be above the other: in P(delay > x) for each x, and in the
    restricted mean.
    """
    found = []
    for (first, one), (second, other) in combinations(trees.items(), 2):
        for x_s in (*delays_s, None):
            difference = _difference(_by_rate(one, x_s), _by_rate(other, x_s))
            for low, high in crossovers(difference, RATES[1:]):
                below, above = (first, second) if difference(low).high < 0 else (second, first)
                found.append(Crossover(lower=below, upper=above, delay_s=x_s, low=low, high=high))
    return found


def _by_rate(tree: Tree, x_s: float | None) -> ByRate:
    return ByRate.mean(tree) if x_s is None else ByRate.beyond(tree, x_s)


def _difference(one: ByRate, other: ByRate) -> Callable[[float], Bounds]:
    def at(rate: float) -> Bounds:
        left, right = one.at(rate), other.at(rate)
        return Bounds(left.low - right.high, left.high - right.low)

    return at


def over_seeds(found: Iterable[tuple[str, list[Beyond]]]) -> Iterator[OverSeeds]:
    """Averages of scenarios with several seeds, with Student's interval over seeds around the bounds."""
    grouped: dict[tuple[str, str, float], list[Beyond]] = {}
    for name, all_beyond in found:
        for each in all_beyond:
            grouped.setdefault((name, each["loss"], each["delay_s"]), []).append(each)
    for (name, loss, delay_s), alike in grouped.items():
        n = len(alike)
        if n < 2:
            continue
        lows, highs = ([each["bounds"][end] for each in alike] for end in ("low", "high"))
        reach = [student_reach(ends, (1 - LEVEL) / 2) for ends in (lows, highs)]
        low, high = fmean(lows), fmean(highs)
        yield OverSeeds(
            name=name, loss=loss, delay_s=delay_s, bounds=ExactBounds(low=low, high=high),
            low=max(0.0, low - reach[0]), high=min(1.0, high + reach[1]), seeds=n,
        )  # fmt: skip


def _bounds(bounds: Bounds) -> ExactBounds:
    return ExactBounds(low=bounds.low, high=bounds.high)


def _bytes(run: Run) -> int:
    return sum(draw.size for draw in run.draws)
