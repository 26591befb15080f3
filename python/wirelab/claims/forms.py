"""The forms of claims: how each part is judged. Adding one: its model in `model.py`, a function here, and its line
in `JUDGES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from wirelab.claims.bend import judge_bend
from wirelab.claims.judgement import (
    HELD,
    REFUTED,
    UNDECIDED,
    Bench,
    Judgement,
    all_of,
    decided_by,
    leaving_out,
    number,
    within,
    written,
)
from wirelab.claims.model import (
    AnyPart,
    CausalContrast,
    ChangePoint,
    Count,
    Equivalence,
    Existence,
    Grid,
    Levels,
    NotMeasured,
    Order,
    Part,
    Ratio,
    SameOrder,
    Trend,
    Unanswered,
    decides,
)
from wirelab.claims.outcomes import judge_unanswered
from wirelab.claims.quantities import of_all, quantity, ratio_of, steps_of
from wirelab.claims.quotient import judge_quotient
from wirelab.stats.bootstrap import UNKNOWN, Draws
from wirelab.stats.estimate import Estimate

LEAST_DF = 4
"""With fewer trials every resample may agree on who is below, whatever the truth."""


def expand(part: AnyPart) -> list[AnyPart]:
    """The part as parts that need one decision each: a cell of `over` each, orders pair by pair."""
    if isinstance(part, Count | Existence | Unanswered | NotMeasured):
        return [part]
    cells = [part.model_copy(update={"where": {**part.where, **cell}, "over": {}}) for cell in cells_of(part.over)]
    if isinstance(part, SameOrder):
        return [cell.model_copy(update={"of": list(pair)}) for cell in cells for pair in combinations(part.of, 2)]
    if not isinstance(part, Order):
        return list(cells)
    return [cell.model_copy(update={"ascending": list(pair)}) for cell in cells for pair in pairwise(part.ascending)]


def judge_part(part: AnyPart, bench: Bench) -> Judgement:
    """Judge one part by its form."""
    bench.source.touched.clear()
    bench.source.absent.clear()
    judgement = JUDGES[part.form](part, bench)
    if isinstance(part, Part) and part.beside:
        judgement = replace(judgement, text=f"{part.beside} ({judgement.text})")
    if judgement.ours is not None and UNKNOWN in judgement.ours.method:
        judgement = replace(judgement, why=f"{judgement.why}; {UNKNOWN}")
    missing = judgement.verdict == UNDECIDED and bool(bench.source.absent)
    judgement = leaving_out(judgement, filter(None, bench.source.absent.values()))
    return replace(judgement, scenarios=dict(bench.source.touched), decides=decides(part), missing=missing)


def cells_of(grid: Grid) -> Iterator[Levels]:
    """Every combination of a grid's levels."""
    for levels in product(*grid.values()):
        yield dict(zip(grid, levels, strict=True))


def _order(part: Order, bench: Bench) -> Judgement:
    below, above = part.ascending
    much = f" by more than a factor of {part.by:g}" if part.by > 1 else ""
    text = f"{quantity(part, bench)}: {bench.words(below)} below {bench.words(above)}{much}"
    ratio = ratio_of(part, above, below, bench)
    if isinstance(ratio, str):
        return bench.missing("order", text, ratio)
    verdict = within(bench, ratio, part.by, None, strict=True)
    why = f"{bench.words(above)} takes {written(number(ratio))} times as much as {bench.words(below)}"
    return Judgement("order", text, verdict, why, None, number(ratio), judged=decided_by(bench, verdict, ratio))


def _ratio_form(part: Ratio, bench: Bench) -> Judgement:
    text = f"{quantity(part, bench)}: {bench.words(part.upper)} {part.published:g} times {bench.words(part.lower)}"
    ratio = ratio_of(part, part.upper, part.lower, bench)
    if isinstance(ratio, str):
        return bench.missing("ratio", text, ratio)
    low, high = part.printed[0] / bench.factor, part.printed[1] * bench.factor
    size = within(bench, ratio, low, high)
    sides = [1.0, None] if part.published > 1 else [None, 1.0]
    side = within(bench, ratio, *sides, strict=True) if part.published != 1 else HELD
    why = f"the ratio is {written(number(ratio))}; direction {side}, magnitude ({low:.3g} to {high:.3g}) {size}"
    verdict = all_of([side, size])
    judged = decided_by(bench, verdict, ratio)
    return Judgement("ratio", text, verdict, why, part.published, number(ratio), judged=judged)


def _equivalence(part: Equivalence, bench: Bench) -> Judgement:
    upper, lower = bench.words(part.upper), bench.words(part.lower)
    text = f"{quantity(part, bench)}: {upper} within a factor of {part.margin:g} of {lower}"
    ratio = ratio_of(part, part.upper, part.lower, bench)
    if isinstance(ratio, str):
        return bench.missing("equivalence", text, ratio)
    verdict = within(bench, ratio, 1 / part.margin, part.margin)
    why = f"the ratio is {written(number(ratio))}; the margin is {1 / part.margin:.3g} to {part.margin:.3g}"
    judged = decided_by(bench, verdict, ratio)
    return Judgement("equivalence", text, verdict, why, f"within {part.margin:g}", number(ratio), judged=judged)


def _count(part: Count, bench: Bench) -> Judgement:
    cells = [
        (metric, statistic, {**part.where, **cell})
        for metric, statistic, cell in product(part.metrics, part.statistics, cells_of(part.over))
    ]
    text = f"{bench.words(part.winner)} below {bench.words(part.loser)} in {part.published} of {len(cells)} comparisons"
    found = []
    for metric, statistic, levels in cells:
        pair = [bench.source.draws(metric, statistic, {**levels, **side}) for side in (part.winner, part.loser)]
        if pair[0] is None or pair[1] is None:
            side = part.winner if pair[0] is None else part.loser
            return bench.missing("count", text, f"{statistic} {metric} of {bench.words({**side, **levels})}")
        found.append((pair[0], pair[1]))
    wins = _wins(found)
    if wins.df < LEAST_DF:
        why = f"a count needs {LEAST_DF + 1} trials of each scenario"
        return Judgement("count", text, UNDECIDED, why, part.published, number(wins))
    verdicts = [within(bench, wins, part.published / bench.factor, part.published * bench.factor)]
    words = f"{written(number(wins))} of {len(cells)}"
    if part.majority:
        verdicts.append(within(bench, wins, len(cells) / 2, None, strict=True))
        words += f"; more than half {verdicts[1]}"
    why = f"{bench.words(part.winner)} is below in {words}; the published {part.published} {verdicts[0]}"
    if part.counted is not None:
        counted = within(bench, wins, part.counted / bench.factor, part.counted * bench.factor)
        why += f"; {part.counted}, as the publication's own tables count, {counted}"
    verdict = all_of(verdicts)
    judged = decided_by(bench, verdict, wins)
    return Judgement("count", text, verdict, why, part.published, number(wins), judged=judged)


def _not_measured(part: NotMeasured, bench: Bench) -> Judgement:
    return Judgement("not-measured", "not measured", UNDECIDED, f"not {bench.source.words}: {part.reason}")


def _trend(part: Trend, bench: Bench) -> Judgement:
    of = f"{bench.words(part.upper)} " if part.upper else ""
    text = f"{quantity(part, bench)}: {of}{part.direction} along {part.along.path}"
    steps = steps_of(part, bench)
    if isinstance(steps, str):
        return bench.missing("trend", text, steps)
    ranks = np.arange(len(steps)) - (len(steps) - 1) / 2
    weights = ranks / float((ranks**2).sum())
    point = float(sum(w * np.log(step.point) for w, step in zip(weights, steps, strict=True)))
    values = np.sum([w * np.log(step.values) for w, step in zip(weights, steps, strict=True)], axis=0)
    slope = of_all(steps, float(np.exp(point)), np.exp(values))
    sides = [1.0, None] if part.direction == "rising" else [None, 1.0]
    verdict = within(bench, slope, *sides, strict=True)
    some = f", over {len(steps)} of {len(part.along.levels)} levels" if len(steps) < len(part.along.levels) else ""
    why = f"it grows by a factor of {written(number(slope))} a level{some}"
    judged = decided_by(bench, verdict, slope)
    return Judgement("trend", text, verdict, why, part.direction, number(slope), judged=judged)


def _change_point(part: ChangePoint, bench: Bench) -> Judgement:
    first, last = part.published
    text = (
        f"{quantity(part, bench)}: {bench.words(part.upper)} over {bench.words(part.lower)} crosses 1 "
        f"between {first} and {last} of {part.along.path}"
    )
    steps = steps_of(part, bench)
    if isinstance(steps, str):
        return bench.missing("change-point", text, steps)
    point = _crossing(np.array([[np.log(step.point)] for step in steps]))
    values = _crossing(np.log(np.array([step.values for step in steps])))
    place = of_all(steps, float(point[0]), values)
    if not np.isfinite(values).all():
        share = float(np.mean(np.isfinite(values)))
        why = f"it crosses once in {share:.0%} of the resamples only"
        return Judgement("change-point", text, UNDECIDED, why, f"{first} to {last}")
    bounds = [float(part.along.levels.index(level)) for level in part.published]
    verdict = within(bench, place, min(bounds), max(bounds))
    why = f"it crosses at position {written(number(place))} of the levels {', '.join(part.along.levels)}, from 0"
    judged = decided_by(bench, verdict, place)
    return Judgement("change-point", text, verdict, why, f"{first} to {last}", number(place), judged=judged)


def _existence(part: Existence, bench: Bench) -> Judgement:
    cells = list(cells_of(part.over))
    upper, lower = bench.words(part.upper), bench.words(part.lower)
    text = f"{quantity(part, bench)}: {upper} above {lower} in one of {len(cells)} cells"
    # One held cell holds the whole and only all refute it, so the two levels change places.
    one = Bench(bench.source, 1 - (1 - bench.hold) / len(cells), bench.hold, bench.factor, bench.labels)
    judged = []
    for cell in cells:
        where = {**part.where, **cell}
        order = Order(
            form="order", metric=part.metric, statistic=part.statistic, where=where, ascending=[part.lower, part.upper]
        )
        judged.append(_order(order, one))
    verdicts = [judgement.verdict for judgement in judged]
    if HELD in verdicts:
        verdict, why = HELD, f"{verdicts.count(HELD)} of {len(cells)} cells show it"
    elif all(verdict == REFUTED for verdict in verdicts):
        verdict, why = REFUTED, "every cell shows the opposite"
    else:
        verdict, why = UNDECIDED, "no cell shows it, and not every cell shows the opposite"
    return Judgement("existence", text, verdict, why, parts=tuple(judged))


def _same_order(part: SameOrder, bench: Bench) -> Judgement:
    first, second = part.of
    cells = list(cells_of(part.across))
    text = f"{quantity(part, bench)}: {bench.words(first)} and {bench.words(second)} in one order in {len(cells)} cells"
    # Any two cells may be those that differ.
    pairs = max(len(cells) * (len(cells) - 1) // 2, 1)
    either = replace(bench, refute=1 - (1 - bench.refute) / pairs)
    slower, faster, ratios = [], [], []
    for cell in cells:
        ratio = ratio_of(part.model_copy(update={"where": {**part.where, **cell}}), second, first, bench)
        if isinstance(ratio, str):
            return bench.missing("same-order", text, ratio)
        slower.append(within(either, ratio, 1.0, None, strict=True))
        faster.append(within(either, ratio, None, 1.0, strict=True))
        ratios.append((bench.words(cell), ratio))
    if REFUTED in slower and REFUTED in faster:
        verdict = REFUTED
    else:
        verdict = HELD if {HELD} in ({*slower}, {*faster}) else UNDECIDED
    told = ", ".join(f"{written(number(ratio))} ({words})" for words, ratio in ratios)
    why = f"{bench.words(second)} takes so many times as much as {bench.words(first)}: {told}"
    judged = tuple(each for words, ratio in ratios for each in decided_by(either, verdict, ratio, words))
    return Judgement("same-order", text, verdict, why, judged=judged)


def _causal_contrast(part: CausalContrast, bench: Bench) -> Judgement:
    upper, lower = bench.words(part.upper), bench.words(part.lower)
    treated, control = bench.words(part.treated), bench.words(part.control)
    share = f" for each of {', '.join(part.per)}" if part.per else ""
    text = f"{quantity(part, bench)}: what {treated} adds over {control}{share}, {upper} against {lower}"
    if part.rival:
        text = f"{part.rival} ({text})"
    additions = []
    for case in (part.upper, part.lower):
        addition = _addition(part, case, bench)
        if isinstance(addition, str):
            return bench.missing("causal-contrast", text, addition)
        additions.append(addition)
    a, b = additions
    surplus, deficit = a.minus(b.times(part.margin)), a.minus(b.times(1 / part.margin))
    if part.expect == "equal":
        verdict = _between(bench, surplus, deficit)
        judged = _judged(bench, verdict, surplus, f"more than {part.margin:g} times") + _judged(
            bench, verdict, deficit, f"more than 1/{part.margin:g}"
        )
        expected = f"alike (within a factor of {part.margin:g})"
    else:
        verdict = within(bench, a.minus(b), 0.0, None, strict=True)
        judged = _judged(bench, verdict, a.minus(b), "more")
        expected = "more"
    ratio = a.over(b)
    shown = number(ratio) if ratio.interval(bench.hold)[0] is not None else None
    why = f"{treated} adds {_added(a)} to {upper} and {_added(b)} to {lower}{share}; the cause predicts {expected}"
    if verdict == HELD and part.cannot_hold:
        verdict = UNDECIDED
    if verdict == UNDECIDED and part.cannot_hold:
        why = f"{why}; {part.cannot_hold}"
    objection = part.cannot_hold
    return Judgement("causal-contrast", text, verdict, why, ours=shown, objection=objection, judged=judged)


def _between(bench: Bench, surplus: Draws, deficit: Draws) -> str:
    """Held if the surplus over the margin is below 0 and the deficit above; refuted if either is not at all."""
    above, below = within(bench, surplus, None, 0.0), within(bench, deficit, 0.0, None)
    return all_of([above, below])


def _addition(part: CausalContrast, case: Levels, bench: Bench) -> Draws | str:
    where = {**part.where, **case}
    values = []
    for state in (part.treated, part.control):
        draws = bench.source.draws(part.metric, part.statistic, {**where, **state})
        if draws is None:
            return f"{part.statistic} {part.metric} of {bench.words({**where, **state})}"
        values.append(draws)
    added = values[0].minus(values[1])
    if not part.per:
        return added
    exposed = 0.0
    for metric in part.per:
        draws = bench.source.draws(metric, "mean", {**where, **part.control})
        if draws is None:
            return f"{metric} of {bench.words({**where, **part.control})}"
        exposed += draws.point
        if not any(draws.tells):
            added = replace(added, tells=draws.tells)
    return added.times(1 / exposed) if exposed > 0 else f"{', '.join(part.per)} of {bench.words(where)}"


def _judged(bench: Bench, verdict: str, difference: Draws, words: str) -> tuple[tuple[str, Estimate], ...]:
    return decided_by(bench, verdict, difference.times(1e3), f"{words}, by ms")


def _added(draws: Draws) -> str:
    estimate = number(draws.times(1e3))
    return f"{written(estimate)} ms"


def _wins(pairs: list[tuple[Draws, Draws]]) -> Draws:
    point = float(sum(winner.point < loser.point for winner, loser in pairs))
    values = np.array([winner.values < loser.values for winner, loser in pairs], dtype=np.float64).sum(axis=0)
    df = min(min(winner.df, loser.df) for winner, loser in pairs)
    # A cell is no win for sure if the winner may be higher, and none less for sure if it may be lower.
    surpluses = [winner.minus(loser).tells for winner, loser in pairs]
    tells = all(high for _, high in surpluses), all(low for low, _ in surpluses)
    return Draws(point, values, df, sum(winner.n + loser.n for winner, loser in pairs), tells)


def _crossing(logs: Any) -> Any:
    """For each column: where, counted in levels from 0, it changes sign, interpolated; NaN unless it does once."""
    change = np.signbit(logs[1:]) != np.signbit(logs[:-1])
    first = np.argmax(change, axis=0)
    columns = np.arange(logs.shape[1])
    left, right = logs[first, columns], logs[first + 1, columns]
    with np.errstate(divide="ignore", invalid="ignore"):
        place = first + left / (left - right)
    return np.where(change.sum(axis=0) == 1, place, np.nan)


JUDGES: dict[str, Callable[[Any, Bench], Judgement]] = {
    "order": _order,
    "ratio": _ratio_form,
    "equivalence": _equivalence,
    "count": _count,
    "trend": _trend,
    "change-point": _change_point,
    "bend": judge_bend,
    "quotient": judge_quotient,
    "existence": _existence,
    "same-order": _same_order,
    "causal-contrast": _causal_contrast,
    "unanswered": lambda part, bench: judge_unanswered(part, list(cells_of(part.over)), bench),
    "not-measured": _not_measured,
}
