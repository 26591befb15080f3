"""Claims about two metrics of one case: their quotient."""

from __future__ import annotations

from wirelab.claims.judgement import Bench, Judgement, decided_by, number, within, written
from wirelab.claims.model import Quotient
from wirelab.claims.quantities import quantity


def judge_quotient(part: Quotient, bench: Bench) -> Judgement:
    """Held if it is above the number, or lies within the published one divided and multiplied by the factor."""
    levels = {**part.where, **part.of}
    per = bench.labels.get(part.per, part.per)
    claimed = f"above {part.above:g}" if part.above is not None else f"{part.published:g}"
    text = f"{quantity(part, bench)} for each {per}, {bench.words(part.of)}: {claimed}"
    found = []
    for metric in (part.metric, part.per):
        draws = bench.source.draws(metric, part.statistic, levels)
        if draws is None:
            return bench.missing("quotient", text, f"{part.statistic} {metric} of {bench.words(levels)}")
        found.append(draws)
    quotient = found[0].over(found[1])
    why = f"it is {written(number(quotient))}"
    if part.printed is None:
        verdict = within(bench, quotient, part.above, None, strict=True)
    else:
        low, high = part.printed[0] / bench.factor, part.printed[1] * bench.factor
        verdict = within(bench, quotient, low, high)
        why = f"{why}; the published one allows {low:.3g} to {high:.3g}"
    judged = decided_by(bench, verdict, quotient)
    return Judgement("quotient", text, verdict, why, part.published or claimed, number(quotient), judged=judged)
