"""The answer in sentences, each derived from estimates and verdicts by a fixed rule. No rule matches, no sentence."""

from __future__ import annotations

from collections.abc import Iterator

from wirelab.report.campaign import Campaign
from wirelab.report.grade import reasons, to_blame
from wirelab.report.model import Condition, Json, Scenario, level_words, metric_name
from wirelab.report.numbers import COUNT, Estimate, interval, plain, with_unit
from wirelab.report.programs import FLOORS, Order, conditions, orders
from wirelab.report.sections.common import metric_words
from wirelab.report.stacks import by_proxy, is_secure, title
from wirelab.stats.link import GRADES, NOT_MEASURED

MOST_CONDITIONS = 6
WIDEST = 1000
"""A ratio whose interval spans a larger factor tells nothing of its size."""
_LESSER = {
    "teaching": " on a link or machine that is good for teaching only",
    "invalid": " on a link or machine that is invalid",
    NOT_MEASURED: " on a link that was not measured",
}
"""What follows a verdict that was decided on less than publishable grounds."""


def answer(campaign: Campaign) -> list[str]:
    """Sentences, the most important first."""
    return [
        *_failures(campaign),
        *_counts(campaign),
        *_verdicts(campaign),
        *_fastest(campaign),
        *_proxies(campaign),
        *_programs(campaign),
        *_messages(campaign),
        *_grades(campaign),
        *_warnings(campaign),
    ]


def _failures(campaign: Campaign) -> Iterator[str]:
    """What is not in the answer, because it never worked."""
    for series, why in campaign.failed.items():
        first = why.splitlines()[0].rstrip(".")
        yield f"No trial of {series.label} succeeded, so that nothing is said of it: {first}."
    for series in campaign.series:
        mine = [scenario.key for scenario in campaign.scenarios if scenario.series == series]
        lacking = [key for key in mine if key in campaign.unsupported]
        if lacking:
            where = f" in {len(lacking)} of {len(mine)} scenarios" if len(lacking) < len(mine) else ""
            yield f"{series.label}: not measured{where} ({campaign.unsupported[lacking[0]].rstrip('.')})."


def _counts(campaign: Campaign) -> Iterator[str]:
    for claim in (campaign.verdicts or {}).get("claims") or []:
        ours, paper = Estimate.of(claim.get("ours")), claim.get("paper")
        if claim.get("form") != "count" or ours is None or ours.point is None:
            continue
        counted, text = interval(ours, COUNT), str(claim["text"]).rstrip(".")
        printed = f"{paper:g}" if isinstance(paper, int | float) else str(paper)
        if f" in {printed} of " in text:
            text = text.replace(f" in {printed} of ", f" in {counted} of ", 1) + f" (paper: {printed})"
        else:
            text += f": {counted} here (paper: {printed})"
        yield " ".join([f"{claim['id']} {claim['verdict']}: {text}.", *_over_choices(claim)])


def _over_choices(claim: Json) -> Iterator[str]:
    """How a claim's verdict changes with one unstated choice, all others as judged."""
    given = claim.get("choices") or []
    choices = [(dict(choice["levels"]), str(choice["verdict"])) for choice in given if not choice.get("missing")]
    if not choices:
        return
    first = dict(given[0]["levels"])
    for path in dict.fromkeys(path for levels, _ in choices for path in levels):
        found: dict[str, list[str]] = {}
        for levels, verdict in choices:
            if {**levels, path: None} == {**first, path: None}:
                words = level_words(path, str(levels[path])) if path in levels else f"{path} as judged"
                found.setdefault(verdict, []).append(words)
        if len(found) > 1:
            told = "; ".join(f"{verdict} with {_listed(at)}" for verdict, at in found.items())
            yield f"{told[:1].upper()}{told[1:]}."


def _verdicts(campaign: Campaign) -> Iterator[str]:
    claims = (campaign.verdicts or {}).get("claims") or []
    if not claims:
        return
    found = [_worth(claim) for claim in claims]
    ordered = [
        *((verdict, flag) for flag in (GRADES[0], *_LESSER) for verdict in ("held", "refuted")),
        ("undecided", GRADES[0]),
    ]
    words = ", ".join(
        f"{n} {verdict}{_LESSER.get(flag, '')}" for verdict, flag in ordered if (n := found.count((verdict, flag)))
    )
    yield f"Of {len(claims)} published claim{'s' * (len(claims) > 1)}: {words}."
    contradicted = [str(claim["id"]) for claim in claims if claim.get("contradiction")]
    if contradicted:
        yield f"The publication's own numbers or its experiment speak against {_listed(contradicted)}."


def _worth(claim: Json) -> tuple[str, str]:
    """A claim's verdict, and what the links and machine are good for that it was decided on."""
    verdict, link = str(claim.get("verdict")), claim.get("link")
    if verdict == "undecided":
        return verdict, GRADES[0]
    return verdict, str(link["flag"]) if link else NOT_MEASURED


def _fastest(campaign: Campaign) -> Iterator[str]:
    """Which stack is fastest where, by median of the headline metric, with how much longer the others take."""
    # Declared choices vary what claims are judged by; other groups are conditions of their own.
    judged = campaign.verdicts and campaign.experiment.get("choices")
    groups = campaign.groups[:1] if judged else campaign.groups
    conditions = [(group, condition) for group in groups for condition in group.conditions]
    ranked = [(where, ranking) for where in conditions if (ranking := _ranking(campaign, where[1]))]
    if not ranked:
        return
    if len(ranked) > MOST_CONDITIONS or campaign.verdicts:
        yield _wins(campaign, [condition for _, condition in conditions], [ranking for _, ranking in ranked])
        return
    for (group, condition), ranking in ranked:
        first, *others = ranking
        median = first.estimate(campaign.metric, "median")
        assert median is not None
        label = ", ".join(part for part in (group.title, condition.label) if part)
        floors = any(scenario.series.stack in FLOORS for scenario in condition.scenarios)
        verb = f"has the smallest median{' of the application protocols' * floors},"
        if _alone(condition):
            verb = "is the only application protocol measured, so nothing is compared: its median is"
        head = f"{label}: {first.series.label} {verb} {with_unit(median, first.unit(campaign.metric))}"
        rest = [told for other in others if (told := _against(campaign, other, first))]
        late = [s.series.label for s in condition.scenarios if s.above_s(campaign.metric, "median") is not None]
        rest += [f"the median of {_listed(late)} lies above the time-out"] if late else []
        yield "; ".join([head, *rest]) + "."


def _proxies(campaign: Campaign) -> Iterator[str]:
    """Which delays hold two ways and two stacks."""
    for series in campaign.series:
        if series.origin is not None:
            told = f"{series.label} ({by_proxy(series.origin)})"
            yield f"{told}: its delays are to the server and back, through the proxy."


def _programs(campaign: Campaign) -> Iterator[str]:
    """Which orders of two protocols hold with every program, and which are of the programs."""
    found = list(conditions(campaign))
    if len(found) > MOST_CONDITIONS:
        return
    for label, stacks in found:
        every: dict[str, list[str]] = {}
        depends: dict[str, list[str]] = {}
        for first, second, order in orders(campaign.metric, stacks):
            sooner, later = (second, first) if order is Order.SECOND else (first, second)
            if order is not Order.UNSURE:
                (depends if order is Order.PROGRAM else every).setdefault(sooner.stack, []).append(later.stack)
        words = [f"with every program {_before(every)}"] if every else []
        words += [f"depending on the program {_before(depends)} or after"] if depends else []
        if words:
            yield f"{label}: {'; '.join(words)}."


def _before(pairs: dict[str, list[str]]) -> str:
    return ", ".join(f"{sooner} is before {_listed(later)}" for sooner, later in pairs.items())


def _wins(campaign: Campaign, conditions: list[Condition], rankings: list[list[Scenario]]) -> str:
    """In how many of the conditions one stack is known to have the smallest median, and which."""
    protocols = {first.series.label for first, *_ in rankings}
    if all(_alone(condition) for condition in conditions) and len(protocols) == 1:
        return f"Only one application protocol was measured, {protocols.pop()}: nothing is compared."
    wins: dict[str, int] = {}
    for first, *others in rankings:
        ratio = _ratio(campaign, others[0], first) if others else None
        if not others or (ratio is not None and (ratio.low or 0) > 1):
            wins[first.series.label] = wins.get(first.series.label, 0) + 1
    words = ", ".join(f"{label} in {count}" for label, count in sorted(wins.items(), key=lambda pair: -pair[1]))
    known, of = sum(wins.values()), f"{len(conditions)} condition{'s' * (len(conditions) > 1)}"
    what = f"the smallest median of {metric_words(campaign.metric)}"
    if not known:
        return f"In none of {of} can it be told which stack has {what}."
    return f"In {known} of {of} one stack has {what} that can be told: {words}."


def _alone(condition: Condition) -> bool:
    return sum(scenario.series.stack not in FLOORS for scenario in condition.scenarios) == 1


def _ranking(campaign: Campaign, condition: Condition) -> list[Scenario]:
    medians = []
    for scenario in condition.scenarios:
        median = scenario.estimate(campaign.metric, "median")
        if scenario.series.stack not in FLOORS and median is not None and median.point is not None:
            medians.append((median.point, scenario))
    return [scenario for _, scenario in sorted(medians, key=lambda pair: pair[0])]


def _against(campaign: Campaign, other: Scenario, first: Scenario) -> str | None:
    ratio = _ratio(campaign, other, first)
    if ratio is None or ratio.low is None or ratio.high is None:
        return None
    vague = ratio.high > WIDEST * ratio.low
    if ratio.low <= 1 <= ratio.high:
        told = "too few trials to tell" if vague else f"ratio {interval(ratio, COUNT)}"
        return f"{other.series.label} cannot be told from it ({told}{_both(other, first)})"
    longer = (
        "takes longer, too few trials to tell how much" if vague else f"takes {interval(ratio, COUNT)} times as long"
    )
    words = f"{other.series.label} {longer}"
    if both := _both(other, first):
        words += f" ({both.removeprefix('; ')})"
    link = _comparison(campaign, other, first).get("link") or {}
    if link.get("flag", GRADES[0]) == GRADES[0]:
        return words
    return f"{words} ({link['flag']}: {to_blame(link) or link['why']})"


def _both(a: Scenario, b: Scenario) -> str:
    """That a difference may be that of two programs as well as that of two stacks; empty where it is of one."""
    if a.series.stack == b.series.stack or a.series.implementation == b.series.implementation:
        return ""
    return f"; of stack and program: {a.series.implementation} against {b.series.implementation}"


def _comparison(campaign: Campaign, a: Scenario, b: Scenario) -> Json:
    """Of the headline metric, in either direction; empty if there is none."""
    for comparison in campaign.estimates.get("comparisons") or []:
        same = metric_name(comparison["metric"]) == metric_name(campaign.metric)
        if same and (comparison["a"], comparison["b"]) in ((a.key, b.key), (b.key, a.key)):
            return dict(comparison)
    return {}


def _ratio(campaign: Campaign, a: Scenario, b: Scenario) -> Estimate | None:
    """Ratio of medians of a over b, looked up in either direction."""
    comparison = _comparison(campaign, a, b)
    ratio = Estimate.of(comparison.get("ratio_of_medians"))
    if ratio is None or not ratio.point:
        return None
    if comparison["a"] == a.key:
        return ratio
    low, high = (1 / bound if bound else None for bound in (ratio.high, ratio.low))
    return Estimate(1 / ratio.point, low, high, ratio.level, ratio.n, ratio.method)


def _messages(campaign: Campaign) -> Iterator[str]:
    """Messages that did not come, or came again, and players that stopped."""
    told = [(scenario, scenario.messages) for scenario in campaign.scenarios if scenario.messages]
    total = sum(int(scenario.denominators.get("exchanges") or 0) for scenario, _ in told)
    for key, words in (("lost", "never came"), ("duplicate", "came again")):
        if count := sum(messages[key] for _, messages in told):
            yield f"Of {total:,} messages to subscribers {count:,} {words}."
    played = [(scenario, messages["stalls"]) for scenario, messages in told if messages["stalls"] is not None]
    if stalls := sum(count for _, count in played):
        by_stack: dict[str, int] = {}
        for scenario, count in played:
            by_stack[scenario.series.label] = by_stack.get(scenario.series.label, 0) + count
        words = ", ".join(f"{label} {count}" for label, count in sorted(by_stack.items(), key=lambda pair: pair[1]))
        yield f"Players of a stream stalled {stalls:,} times: {words}."


def _grades(campaign: Campaign) -> Iterator[str]:
    """The worst reason against the grade; Trust has them all."""
    worst, *others = reasons(campaign.estimates) or [""]
    if worst:
        more = f" Trust has {len(others)} more reason{'s' * (len(others) > 1)}." if others else ""
        yield f"{worst[:1].upper()}{worst[1:]}{more}"


def _warnings(campaign: Campaign) -> Iterator[str]:
    stacks = list(dict.fromkeys(series.stack for series in campaign.series))
    plain_stacks = [stack for stack in stacks if stack not in FLOORS and is_secure(stack) is False]
    if plain_stacks and any(is_secure(stack) for stack in stacks):
        yield f"Unencrypted: {', '.join(f'{stack} ({title(stack)})' for stack in plain_stacks)}."
    lossy = _lossy(campaign)
    slow = [scenario for scenario in lossy if _waits_at_p95(scenario, campaign.metric)]
    if lossy and len(slow) == len(lossy):
        edge = min(_modes(scenario, campaign.metric)[1]["low"] for scenario in slow)
        yield (
            "Under loss a retransmission sets the p95 of every stack: each has a second, slower mode, from "
            f"{plain(edge * 1e3)} ms on, and its p95 lies there "
            "while its median does not."
        )
    ends = [scenario.denominators for scenario in campaign.scenarios]
    lost = sum(int(d.get("failed") or 0) + int(d.get("timed-out") or 0) for d in ends)
    total = sum(int(d.get("exchanges") or 0) for d in ends)
    if lost:
        yield f"{lost:,} of {total:,} exchanges failed or timed out; see the denominators before comparing delays."


def _lossy(campaign: Campaign) -> list[Scenario]:
    """Scenarios with values on links that were told to lose packets."""
    losing = {link["link_name"] for link in campaign.links if (link.get("told") or {}).get("loss")}
    named = [scenario for scenario in campaign.scenarios if scenario.plan.get("link_name") in losing]
    return [scenario for scenario in named if scenario.estimate(campaign.metric, "0.95") is not None]


def _waits_at_p95(scenario: Scenario, metric: str) -> bool:
    modes, p95, median = (
        _modes(scenario, metric),
        scenario.estimate(metric, "0.95"),
        scenario.estimate(metric, "median"),
    )
    again = scenario.estimate("retransmissions", "mean")
    if len(modes) < 2 or p95 is None or median is None or again is None or not again.point:
        return False
    return bool(p95.point and median.point and p95.point >= modes[1]["low"] > median.point)


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _modes(scenario: Scenario, metric: str) -> list[Json]:
    return list(scenario.metric(metric).get("modes") or [])
