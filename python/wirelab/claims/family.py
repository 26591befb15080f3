"""Judging a family of claims: Holm's step-down over claims, so that the rate of any wrong decision is controlled.

Verdicts come from intervals, not from p values. A claim's p is the smallest of the family's levels (error rate over 1
to m, the claims that data of this campaign can decide) at which its intervals decide it; Holm then lets the k-th most
certain claim use the error rate over m - k + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

from wirelab.claims.judgement import (
    CONFIRMED,
    CONTRADICTED,
    INCONCLUSIVE,
    MOST_TIMED_OUT,
    Context,
    Judgement,
    Source,
    all_of,
    counting,
    leaving_out,
)
from wirelab.claims.model import Claim
from wirelab.claims.part import Form, Part
from wirelab.schema.verdicts import Verdict
from wirelab.stats.compare.scenarios import disturbed_words
from wirelab.stats.estimate.bootstrap import UNKNOWN
from wirelab.stats.link.grade import DISTURBED
from wirelab.units import format_duration

METHOD = (
    "Holm's step-down over the claims that data can decide; within a claim all parts must be confirmed (no correction "
    "needed) and one contradicted part contradicts it (Bonferroni over the parts that decide)"
)


DESCRIPTIVE = "standard deviations are descriptive: their intervals cover too rarely"


@dataclass(frozen=True)
class Rules:
    """The parameters that are fixed before a family is judged."""

    error_rate: float
    factor: float
    labels: dict[str, str]


def judge_family(claims: Sequence[Claim], source: Source, rules: Rules) -> list[Judgement]:
    """A judgement for each claim, at its level in the family."""
    alone = [judge(claim, source, rules.error_rate, rules) for claim in claims]
    size = needed = sum(judgement.decidable for judgement in alone)
    divisors = [
        _divisor(claim, size, source, rules) if judgement.decidable else 0
        for claim, judgement in zip(claims, alone, strict=True)
    ]
    judged: dict[int, Judgement] = {}
    for index in sorted(range(len(claims)), key=lambda index: -divisors[index]):
        if not alone[index].decidable:
            judged[index] = alone[index]
            continue
        judgement = judge(claims[index], source, rules.error_rate / needed, rules)
        if divisors[index] >= needed:
            needed -= 1
        elif divisors[index] > 0:
            judgement = replace(judgement, why=f"{judgement.why}; decided alone, but not among {size} claims")
        judged[index] = judgement
    return [judged[index] for index in range(len(claims))]


def reason(deciding: Sequence[tuple[Verdict, str, str]]) -> str:
    """Why a claim in parts has its verdict: from the verdict, text and reason of each part that decides it."""
    if not deciding:
        return "no part decides"
    if len(deciding) == 1:
        return deciding[0][2]
    verdicts = [verdict for verdict, *_ in deciding]
    counts = ", ".join(f"{count} {word}" for word in get_args(Verdict) if (count := verdicts.count(word)))
    why = f"of {len(deciding)} parts {counts}"
    against = [f"{text}: {words}" for verdict, text, words in deciding if verdict == CONTRADICTED]
    if not against:
        return why
    more = f", and {len(against) - 1} more" if len(against) > 1 else ""
    return f"{why}; against it: {against[0]}{more}"


def judge(claim: Claim, source: Source, error_rate: float, rules: Rules) -> Judgement:
    """One claim, with this error rate for itself. Its later parts stand behind the others, and change nothing else."""
    parts, later = ([part for written in mine for part in written.expand()] for mine in (claim.parts, claim.later))
    contradicting = max(1, sum(part.decides for part in parts))
    context = Context(source, 1 - error_rate, 1 - error_rate / contradicting, rules.factor, rules.labels)
    judged = [judge_part(part, context) for part in parts]
    judgement = _judged(claim, judged)
    if not later:
        return judgement
    return replace(judgement, parts=(*judged, *(judge_part(part, context) for part in later)))


def _judged(claim: Claim, judged: Sequence[Judgement]) -> Judgement:
    """The claim by the judgements on its parts."""
    if len(judged) == 1:
        return replace(judged[0], text=claim.text)
    deciding = [part for part in judged if part.decides]
    verdict = all_of([part.verdict for part in deciding])
    why = reason([(part.verdict, part.text, part.why) for part in deciding])
    first = next((part for part in judged if part.form == "ratio"), None)
    judgement = Judgement(
        "composite" if len({part.form for part in deciding}) > 1 else (deciding or judged)[0].form,
        claim.text,
        verdict,
        why,
        first.paper if first else None,
        first.ours if first else None,
        {scenario: n for part in deciding for scenario, n in part.scenarios.items()},
        tuple(judged),
        objection=next((part.objection for part in deciding if part.objection), None),
        missing=verdict == INCONCLUSIVE and any(part.missing for part in deciding),
        decidable=any(part.decidable for part in deciding),
        rests_on_sd=any(part.rests_on_sd for part in deciding),
    )
    if len(deciding) == 1 or any(part.verdict == CONTRADICTED for part in deciding):
        return judgement
    return leaving_out(judgement, (each for part in deciding for each in part.left_out))


def judge_part(part: Form, context: Context) -> Judgement:
    """Judge one part by its form."""
    context.source.touched.clear()
    context.source.absent.clear()
    context.source.few.clear()
    context.source.time_outs.clear()
    context.source.unusable.clear()
    context.source.waited.clear()
    context.source.disturbed.clear()
    judgement = _by_quality(part, context, _by_design(part, part.judge(context)))
    left_out = [each.share for each in context.source.time_outs.values() if each.horizon_s is None]
    if judgement.verdict != INCONCLUSIVE and max(left_out, default=0.0) > MOST_TIMED_OUT:
        why = f"{judgement.why}; it would be {judgement.verdict}, but its means leave out more than 1 % of a case"
        judgement = replace(judgement, verdict=INCONCLUSIVE, why=why, decidable=False)
    if isinstance(part, Part) and part.title:
        after = None if part.after_the_fact is None else part.after_the_fact.isoformat().replace("+00:00", "Z")
        judgement = replace(judgement, text=f"{part.title} ({judgement.text})", after_the_fact=after)
    if judgement.ours is not None and UNKNOWN in judgement.ours.method:
        judgement = replace(judgement, why=f"{judgement.why}; {UNKNOWN}")
    if isinstance(part, Form) and "sd" in part.statistic_names():
        judgement = replace(judgement, why=f"{judgement.why}; {DESCRIPTIVE}", rests_on_sd=True)
    if judgement.verdict == INCONCLUSIVE and context.source.few:
        judgement = replace(judgement, why=f"{judgement.why}; {next(iter(context.source.few.values()))}")
    judgement = counting(judgement, context.source.time_outs.values())
    missing = judgement.verdict == INCONCLUSIVE and bool(context.source.absent)
    judgement = leaving_out(judgement, filter(None, context.source.absent.values()))
    return replace(judgement, scenarios=dict(context.source.touched), decides=part.decides, missing=missing)


def _by_design(part: Form, judgement: Judgement) -> Judgement:
    """Inconclusive if the set-up cannot show what the interval says."""
    if not isinstance(part, Part):
        return judgement
    cannot = {CONFIRMED: part.cannot_confirm, CONTRADICTED: part.cannot_contradict}
    verdict = INCONCLUSIVE if cannot.get(judgement.verdict) else judgement.verdict
    if judgement.verdict == INCONCLUSIVE:
        reasons = list(filter(None, cannot.values()))
    else:
        reasons = list(filter(None, [cannot.get(judgement.verdict)]))
    return replace(
        judgement,
        verdict=verdict,
        why="; ".join([judgement.why, *reasons]),
        objection=part.cannot_confirm or judgement.objection,
        decidable=judgement.decidable and not all(cannot.values()),
    )


def _by_quality(part: Form, context: Context, judgement: Judgement) -> Judgement:
    """Inconclusive if it rests on a scenario of unusable quality, or if it does not survive taking away the CPU
    waiting of one scenario, or the exchanges that the emulator disturbed.
    """
    source = context.source
    if source.unusable:
        judgement = replace(judgement, decidable=False)
    if judgement.verdict == INCONCLUSIVE:
        return judgement
    would = f"{judgement.why}; it would be {judgement.verdict}, but"
    if source.unusable:
        scenario, why = next(iter(source.unusable.items()))
        more = f", and of {len(source.unusable) - 1} more" if len(source.unusable) > 1 else ""
        words = f"{would} the quality of {source.name_of(scenario)} is unusable: {why}{more}"
        return replace(judgement, verdict=INCONCLUSIVE, why=words)
    taken_away = {
        scenario: f"{format_duration(round(wait_s * 1e9))} of CPU waiting of {source.name_of(scenario)}"
        for scenario, wait_s in source.waited.items()
    }
    if source.disturbed:
        taken_away[DISTURBED] = disturbed_words(source.disturbed.values())
    for what, words in taken_away.items():
        source.without = what
        verdict = _by_design(part, part.judge(context)).verdict
        source.without = None
        if verdict != judgement.verdict:
            return replace(judgement, verdict=INCONCLUSIVE, why=f"{would} not without the {words}")
    return judgement


def _divisor(claim: Claim, most: int, source: Source, rules: Rules) -> int:
    """The largest number, up to `most`, by which the error rate can be divided so that the claim is still decided; 0
    if none.
    """
    own = claim.model_copy(update={"later": []})
    for divisor in range(most, 0, -1):
        if judge(own, source, rules.error_rate / divisor, rules).verdict != INCONCLUSIVE:
            return divisor
    return 0
