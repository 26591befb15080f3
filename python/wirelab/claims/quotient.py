"""Claims about two metrics of one case: their quotient."""

from __future__ import annotations

from wirelab.claims.judgement import Bench, Judgement, decided_by, number, within, written
from wirelab.claims.model import Quotient
from wirelab.claims.quantities import quantity


def judge_quotient(part: Quotient, bench: Bench) -> Judgement:
    """Held if it lies within the published one divided and multiplied by the factor."""
    levels = {**part.where, **part.of}
    per = bench.labels.get(part.per, part.per)
    text = f"{quantity(part, bench)} for each {per} is {part.published:g}, {bench.words(part.of)}"
    found = []
    for metric in (part.metric, part.per):
        draws = bench.source.draws(metric, part.statistic, levels)
        if draws is None:
            return bench.missing("quotient", text, f"{part.statistic} {metric} of {bench.words(levels)}")
        found.append(draws)
    quotient = found[0].over(found[1])
    low, high = part.printed[0] / bench.factor, part.printed[1] * bench.factor
    verdict = within(bench, quotient, low, high)
    why = f"it is {written(number(quotient))}; the published one allows {low:.3g} to {high:.3g}"
    judged = decided_by(bench, verdict, quotient)
    return Judgement("quotient", text, verdict, why, part.published, number(quotient), judged=judged)
