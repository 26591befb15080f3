"""Which protocol has the smallest median, or the statistic that ranks, in each scenario, in sentences derived from
estimates by fixed rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from wirelab.metrics.registry import ENERGIES
from wirelab.report.campaign import Campaign
from wirelab.report.grade import to_blame
from wirelab.report.model import Scenario
from wirelab.report.numbers import COUNT, interval, with_unit
from wirelab.report.programs import Order, conditions, orders
from wirelab.report.protocols import is_reference
from wirelab.report.ranking import above_time_out, kinds, lacking, quality, ranked, ratio, unclear, value, wins
from wirelab.report.sections.common import metric_words
from wirelab.report.statement import Statement, listed, resting_on
from wirelab.statistic import words_of
from wirelab.stats.link.grade import GRADES

MOST_CONDITIONS = 6
WIDEST = 1000
"""A ratio with an interval wider than this factor is not quoted."""


def smallest_medians(campaign: Campaign) -> Iterator[Statement]:
    """Which protocol has the smallest median in each condition, and the ratios of the others to it."""
    # Declared choices only vary what claims are judged by; other groups count as separate conditions.
    judged = campaign.verdicts and campaign.experiment.choices
    groups = campaign.groups[:1] if judged else campaign.groups
    conditions = [(group, condition) for group in groups for condition in group.conditions]
    planned = [scenario for _, condition in conditions for scenario in condition.scenarios]
    conditions = [where for where in conditions if ranked(campaign, where[1].scenarios)]
    if not conditions and any(scenario.metric(campaign.metric) for scenario in planned):
        yield _nothing_ranked(campaign, planned)
        return
    if len(conditions) > MOST_CONDITIONS or (conditions and campaign.verdicts):
        every = [condition for group in groups for condition in group.conditions]
        apart = [kinds(campaign, condition.scenarios) for condition in every]
        for kind in dict.fromkeys(kind for found in apart for kind, _ in found):
            yield from _wins(campaign, kind, [dict(found)[kind] for found in apart if kind in dict(found)])
        return
    for group, condition in conditions:
        for kind, scenarios in kinds(campaign, condition.scenarios):
            where = ", ".join(part for part in (group.title, condition.label) if part), kind
            if ranking := ranked(campaign, scenarios):
                yield _in_condition(campaign, where, scenarios, ranking)
            elif late := [scenario.series.label for scenario in above_time_out(campaign, scenarios)]:
                text = f"the {words_of(campaign.statistic)} of {listed(late)} is above the timeout."
                more = list(_lacking(campaign, scenarios))
                yield Statement(f"{', '.join(filter(None, where))}: {text}", more, href="#glance")
            else:
                for each in _lacking(campaign, scenarios):
                    yield Statement(f"{', '.join(filter(None, where))}: {each.text}", href=each.href)


def programs(campaign: Campaign) -> Iterator[Statement]:
    """Which orders of two protocols are the same for every program, and which depend on the program."""
    found, words = list(conditions(campaign)), words_of(campaign.statistic)
    if len(found) > MOST_CONDITIONS:
        return
    for label, protocols in found:
        every: dict[str, list[str]] = {}
        depends: dict[str, list[str]] = {}
        for first, second, order in orders(campaign, protocols):
            lower, higher = (second, first) if order is Order.SECOND else (first, second)
            if order is not Order.UNSURE:
                (depends if order is Order.PROGRAM else every).setdefault(lower.protocol, []).append(higher.protocol)
        for protocol, others in every.items():
            yield Statement(
                f"{label}: {protocol} has a lower {words} than {listed(others)} with every program.", href="#programs"
            )
        for protocol, others in depends.items():
            text = f"{label}: whether {protocol} or {listed(others)} has the lower {words} depends on the program."
            yield Statement(text, href="#programs")


def _in_condition(
    campaign: Campaign, where: tuple[str, str], scenarios: list[Scenario], ranking: list[Scenario]
) -> Statement:
    """The answer of one kind of protocols in one condition: `where` is the condition's label and the kind."""
    first, *others = ranking
    label, kind = ", ".join(filter(None, where)), where[1]
    ranks, statistic = value(campaign, first), words_of(campaign.statistic)
    assert ranks is not None
    beyond_reference = " of the application protocols" * any(
        is_reference(scenario.series.protocol) for scenario in scenarios
    )
    above = [other for other in above_time_out(campaign, scenarios) if not is_reference(other.series.protocol)]
    more = [said for other in others if (said := _against(campaign, other, first))]
    late = [scenario.series.label for scenario in above_time_out(campaign, scenarios)]
    more += [Statement(f"The {statistic} of {listed(late)} is above the timeout.", href="#glance")] if late else []
    of = " of the protocols that have one" if lacking(campaign, scenarios) else beyond_reference
    more += _lacking(campaign, scenarios)
    size = with_unit(ranks, first.unit(campaign.metric))
    text = f"{label}: {first.series.label} has the smallest {statistic}{of}, {size}."
    compared = [*others, *above]
    alike = unclear(campaign, first, compared)
    if alike:
        text = f"{label}: no difference shown between {listed([each.series.label for each in (first, *alike)])}."
        smallest = ", the smallest with these" * (len(alike) < len(compared))
        more = [Statement(f"{first.series.label} has a {statistic} of {size}{smallest}."), *more]
    if not compared:
        text = f"{label}: the {statistic} of {first.series.label} is {size}."
        what = f"{kind} application protocol".strip()
        was = "was measured" if _alone(scenarios) else f"has a {statistic}"
        more = [Statement(f"No other {what} {was}, so there is no comparison."), *more]
    return replace(resting_on(text, ranks, "#glance", more), minor=not compared)


def _nothing_ranked(campaign: Campaign, scenarios: list[Scenario]) -> Statement:
    """No scenario has a value of the statistic that ranks."""
    statistic = words_of(campaign.statistic)
    late = [scenario.series.label for scenario in above_time_out(campaign, scenarios)]
    more = [Statement(f"The {statistic} of {listed(late)} is above the timeout.", href="#glance")] if late else []
    more += _lacking(campaign, scenarios)
    return Statement(f"No protocol has a {statistic}, so none is ranked.", more, href="#glance")


def _lacking(campaign: Campaign, scenarios: list[Scenario]) -> Iterator[Statement]:
    """The protocols without a value, a sentence for each reason."""
    for why, mine in lacking(campaign, scenarios).items():
        yield Statement(_without(words_of(campaign.statistic), mine, why), href="#outcomes")


def _without(statistic: str, scenarios: Iterable[Scenario], why: str, where: str = "") -> str:
    labels = list(dict.fromkeys(scenario.series.label for scenario in scenarios))
    return f"{listed(labels)} {'has' if len(labels) == 1 else 'have'} no {statistic}{where}: {why}."


def _wins(campaign: Campaign, kind: str, conditions: list[list[Scenario]]) -> Iterator[Statement]:
    """How often each protocol of a kind clearly has the smallest median."""
    pairs = [(scenarios, ranked(campaign, scenarios)) for scenarios in conditions]
    rankings = [(scenarios, ranking) for scenarios, ranking in pairs if ranking]
    protocols = {first.series.label for _, (first, *_) in rankings}
    if all(_alone(scenarios) for scenarios in conditions) and len(protocols) == 1:
        one = f"Only one {kind} application protocol".replace("  ", " ")
        yield Statement(f"{one} was measured, {protocols.pop()}, so there is no comparison.", minor=True)
        return
    won: dict[str, int] = {}
    for scenarios, (first, *others) in rankings:
        if wins(campaign, first, [*others, *above_time_out(campaign, scenarios)]):
            won[first.series.label] = won.get(first.series.label, 0) + 1
    known, of = sum(won.values()), f"{len(conditions)} condition{'s' * (len(conditions) > 1)}"
    what = f"the smallest {words_of(campaign.statistic)} of {metric_words(campaign.metric)}"
    if kind:
        what += f" among {kind} protocols"
    without = list(_absent(campaign, conditions, of))
    if not known:
        text = f"No difference shown: no protocol clearly has {what} in any of {of}."
        yield Statement(text, without, href="#glance")
        return
    (best, count), *rest = sorted(won.items(), key=lambda pair: -pair[1])
    more = [Statement(f"{label} has it in {times}.") for label, times in rest]
    if unsure := len(conditions) - known:
        more.append(Statement(f"In {unsure} there is no clear winner."))
    yield Statement(f"{best} has {what} in {count} of {of}.", [*more, *without], href="#glance")


def _absent(campaign: Campaign, conditions: list[list[Scenario]], of: str) -> Iterator[Statement]:
    """The protocols without a value, with the reason and in how many conditions."""
    found: dict[tuple[str, str], list[Scenario]] = {}
    for scenarios in conditions:
        for why, mine in lacking(campaign, scenarios).items():
            for scenario in mine:
                found.setdefault((scenario.series.label, why), []).append(scenario)
    for (_, why), mine in found.items():
        text = _without(words_of(campaign.statistic), mine, why, f" in {len(mine)} of {of}")
        yield Statement(text, href="#outcomes")


def _alone(scenarios: list[Scenario]) -> bool:
    return sum(not is_reference(scenario.series.protocol) for scenario in scenarios) == 1


def _against(campaign: Campaign, other: Scenario, first: Scenario) -> Statement | None:
    times = ratio(campaign, other, first)
    if times is None or times.low is None or times.high is None:
        return None
    label, vague = other.series.label, times.high > WIDEST * times.low
    more, as_much = ("more", "as much") if campaign.metric in ENERGIES else ("longer", "as long")
    may_be_alike = times.low <= 1 <= times.high
    if may_be_alike and vague:
        text = f"{label} is not significantly different: too few trials."
    elif may_be_alike:
        text = f"{label} is not significantly different: the ratio is {interval(times, COUNT)}."
    elif vague:
        text = f"{label} takes {more}; too few trials to say how much."
    else:
        text = f"{label} takes {interval(times, COUNT)} times {as_much}."
    caveats = [*_both(other, first), *_grade(campaign, other, first)] if not may_be_alike else [*_both(other, first)]
    return resting_on(" ".join([text, *caveats]), times, "#comparisons")


def _both(a: Scenario, b: Scenario) -> Iterator[str]:
    """A note if both protocol and program differ, since either may be the cause."""
    if a.series.protocol != b.series.protocol and a.series.implementation != b.series.implementation:
        yield f"Protocol and program differ: {a.series.implementation} against {b.series.implementation}."


def _grade(campaign: Campaign, a: Scenario, b: Scenario) -> Iterator[str]:
    found = quality(campaign, a, b)
    if found is not None and found["flag"] != GRADES[0]:
        yield f"Its quality is {found['flag']}: {to_blame(found) or found['why']}."
