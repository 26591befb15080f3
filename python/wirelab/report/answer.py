"""The answer in sentences, each derived from estimates and verdicts by a fixed rule. Without a match, no sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from wirelab.report import over_grid
from wirelab.report.battery import battery_lives
from wirelab.report.campaign import Campaign
from wirelab.report.grade import Reason, grouped
from wirelab.report.model import Scenario, level_words
from wirelab.report.numbers import COUNT, Estimate, interval, plain
from wirelab.report.outages import recoveries
from wirelab.report.protocols import is_reference, is_secure, title
from wirelab.report.smallest_median import MOST_CONDITIONS, programs, smallest_medians
from wirelab.report.statement import Statement, listed, resting_on
from wirelab.report.waiting import ways_of_waiting
from wirelab.schema.estimates import ModeRecord, NatRecord, Outcomes
from wirelab.schema.verdicts import ClaimRecord
from wirelab.stats.link.grade import GRADES, NOT_MEASURED
from wirelab.stats.machine.offered import OVERLOADED, overload_words

NOT_COMPARED = "Delays grow without end and are not compared."
_LESSER = {
    "limited": "on a link or machine of limited quality",
    "unusable": "on an unusable link or machine",
    NOT_MEASURED: "on a link that was not measured",
}
"""How a verdict is marked if its quality is less than good."""


def answer(campaign: Campaign) -> list[Statement]:
    """Sentences, the most important first."""
    return [*findings(campaign), *cautions(campaign)]


def findings(campaign: Campaign) -> list[Statement]:
    """What was found, and what is missing from it."""
    waiting = list(ways_of_waiting(campaign))
    return [
        *_failures(campaign),
        *_overloads(campaign),
        *_counts(campaign),
        *_verdicts(campaign),
        *recoveries(campaign),
        *waiting,
        *battery_lives(campaign),
        *([] if waiting else smallest_medians(campaign)),
        *_proxies(campaign),
        *programs(campaign),
        *_unsupported(campaign),
        *_messages(campaign),
        *_nat(campaign),
    ]


def cautions(campaign: Campaign) -> list[Statement]:
    """What may mislead a reader of the findings."""
    return [*_grades(campaign), *_warnings(campaign)]


def _failures(campaign: Campaign) -> Iterator[Statement]:
    """Protocols that are missing from the answer, because no trial of them succeeded."""
    for series, why in campaign.failed.items():
        first, *more = why.splitlines()
        first = first.rstrip(".")
        reason = Statement(f"{first[:1].upper()}{first[1:]}.", [Statement(line.strip()) for line in more])
        yield Statement(f"No trial of {series.label} succeeded, so it has no results.", [reason], href="#outcomes")


def _unsupported(campaign: Campaign) -> Iterator[Statement]:
    """Protocols that cannot do what some scenarios ask for."""
    for series in campaign.series:
        mine = [scenario.key for scenario in campaign.scenarios if scenario.series == series]
        lacking = [key for key in mine if key in campaign.unsupported]
        if lacking:
            where = f" in {len(lacking)} of {len(mine)} scenarios" if len(lacking) < len(mine) else ""
            why = campaign.unsupported[lacking[0]].rstrip(".")
            yield Statement(f"{series.label} was not measured{where}: {why}.", href="#outcomes")


def _overloads(campaign: Campaign) -> Iterator[Statement]:
    """Scenarios that were offered more than was served, with both rates; of many, how many of each protocol."""
    found = [(scenario, record) for scenario in campaign.scenarios if (record := scenario.overload) is not None]
    of_series = Counter(scenario.series for scenario in campaign.scenarios)
    if len(found) <= MOST_CONDITIONS:
        for scenario, record in found:
            name = scenario.series.label if of_series[scenario.series] == 1 else scenario.name
            more = [Statement(f"Fix: {record['cure']}.")] if record["cure"] else []
            yield Statement(f"{name}: {overload_words(record)}. {NOT_COMPARED}", more, href="#offered")
        return
    for series, count in Counter(scenario.series for scenario, _ in found).items():
        where = f"{count} of {of_series[series]} scenario{'s' * (of_series[series] > 1)}"
        yield Statement(f"{series.label}: {OVERLOADED} in {where}. {NOT_COMPARED}", href="#offered")


def _counts(campaign: Campaign) -> Iterator[Statement]:
    for claim in campaign.claims:
        ours, paper = Estimate.of(claim["ours"]), claim["paper"]
        if claim["form"] != "count" or ours is None or ours.point is None:
            continue
        counted, text = interval(ours, COUNT), claim["text"].rstrip(".")
        printed = f"{paper:g}" if isinstance(paper, int | float) else str(paper)
        if f" in {printed} of " in text:
            text = text.replace(f" in {printed} of ", f" in {counted} of ", 1)
        else:
            text += f": {counted} here"
        more = [Statement(f"The paper counts {printed}."), *_over_choices(claim)]
        yield resting_on(f"{claim['id']} {claim['verdict']}: {text}.", ours, f"#claim-{claim['id']}", more)


def _over_choices(claim: ClaimRecord) -> Iterator[Statement]:
    """How a claim's verdict changes with one unstated choice while the others stay as judged."""
    given = claim["choices"]
    choices = [(choice["levels"], choice["verdict"]) for choice in given if not choice["missing"]]
    if not choices:
        return
    first = given[0]["levels"]
    for path in dict.fromkeys(path for levels, _ in choices for path in levels):
        found: dict[str, list[str]] = {}
        for levels, verdict in choices:
            if {**levels, path: None} == {**first, path: None}:
                words = level_words(path, str(levels[path])) if path in levels else f"{path} as judged"
                found.setdefault(verdict, []).append(words)
        if len(found) > 1:
            found_at = "; ".join(f"{verdict} with {listed(at)}" for verdict, at in found.items())
            yield Statement(f"{found_at[:1].upper()}{found_at[1:]}.")


def _verdicts(campaign: Campaign) -> Iterator[Statement]:
    claims = campaign.claims
    if not claims:
        return
    found = [claim["verdict"] for claim in claims]
    words = ", ".join(
        f"{n} {verdict}" for verdict in ("confirmed", "contradicted", "inconclusive") if (n := found.count(verdict))
    )
    worth = [_worth(claim) for claim in claims]
    more = []
    for flag, where in _LESSER.items():
        decided = [f"{claim['id']} {claim['verdict']}" for claim, one in zip(claims, worth, strict=True) if one == flag]
        if decided:
            more.append(Statement(f"{listed(decided)}: {where}."))
    contradicted = [claim["id"] for claim in claims if claim["contradiction"]]
    if contradicted:
        text = f"The publication's own numbers or its experiment contradict {listed(contradicted)}."
        more.append(Statement(text))
    yield Statement(f"Of {len(claims)} published claim{'s' * (len(claims) > 1)}: {words}.", more, href="#claims")
    yield from over_grid.statements(claims, campaign.verdicts and campaign.verdicts.get("grid"))


def _worth(claim: ClaimRecord) -> str:
    """The quality of the links and machine of a decided claim; an inconclusive claim counts as good."""
    link = claim["link"]
    if claim["verdict"] == "inconclusive":
        return GRADES[0]
    return link["flag"] if link else NOT_MEASURED


def _proxies(campaign: Campaign) -> Iterator[Statement]:
    """Delays that include two links and two protocols."""
    for series in campaign.series:
        if series.origin is not None:
            text = f"Delays of {series.label} include a proxy on the way to the server and back."
            yield Statement(text, [Statement(f"The proxy speaks {series.origin} to the server.")])


def _messages(campaign: Campaign) -> Iterator[Statement]:
    """Messages that were lost or duplicated, and players that stalled."""
    counted = [(scenario, messages) for scenario in campaign.scenarios if (messages := scenario.messages) is not None]
    total = sum(scenario.exchanges for scenario, _ in counted)
    lost, duplicate = (
        sum(messages["lost"] for _, messages in counted),
        sum(messages["duplicate"] for _, messages in counted),
    )
    ends = [scenario.outcomes for scenario, _ in counted if scenario.outcomes is not None]
    late = sum(map(_unfinished, ends)) - lost
    for count, words in ((lost, "were lost"), (late, "failed or came after the timeout"), (duplicate, "arrived twice")):
        if count > 0:
            yield Statement(f"Of {total:,} messages to subscribers {count:,} {words}.", href="#messages")
    played = [(scenario, messages["stalls"]) for scenario, messages in counted if messages["stalls"] is not None]
    if stalls := sum(count for _, count in played):
        by_protocol: dict[str, int] = {}
        for scenario, count in played:
            by_protocol[scenario.series.label] = by_protocol.get(scenario.series.label, 0) + count
        words = ", ".join(f"{label} {count}" for label, count in sorted(by_protocol.items(), key=lambda pair: pair[1]))
        yield Statement(f"Players of a stream stalled {stalls:,} times: {words}.", href="#messages")


def _nat(campaign: Campaign) -> Iterator[Statement]:
    """What each scenario's clients did when the NAT had forgotten them. Of many, those alone in which exchanges did not
    complete after that are named.
    """
    ran = [scenario for scenario in campaign.scenarios if scenario.key not in campaign.unsupported]
    behind = [(scenario, scenario.nat) for scenario in ran if scenario.nat is not None]
    forgot = [(scenario, nat) for scenario, nat in behind if nat["forgotten"]]
    harmless = [nat for _, nat in forgot if not nat["not_completed"]] if len(forgot) > MOST_CONDITIONS else []
    for scenario, nat in forgot:
        if harmless and not nat["not_completed"]:
            continue
        lost = f" {nat['not_completed']:,} of {scenario.exchanges:,} exchanges did not complete after that."
        yield Statement(f"{scenario.name}: {_forgotten([nat])}." + lost * bool(nat["not_completed"]), href="#nat")
    if harmless:
        where = f"In {len(harmless)} of {len(behind)} scenarios"
        yield Statement(
            f"{where} {_forgotten(harmless)}.", [Statement("All exchanges after that completed.")], href="#nat"
        )
    if kept := [scenario.name for scenario, nat in behind if not nat["forgotten"]]:
        names = (
            f": {'; '.join(kept)}" if len(kept) <= MOST_CONDITIONS else f" in {len(kept)} of {len(behind)} scenarios"
        )
        yield Statement(f"No packet came after its mapping had ended{names}.", href="#nat")


def _forgotten(scenarios: Sequence[NatRecord]) -> str:
    """How often, and what followed."""
    times = sum(nat["forgotten"] for nat in scenarios)
    responses: Counter[str] = Counter()
    for nat in scenarios:
        responses.update(nat["responses"])
    words = ", ".join(f"{each} {count:,}" for each, count in responses.items() if count)
    return f"the NAT forgot a mapping {times:,} time{'s' * (times > 1)}, then: {words}"


def _grades(campaign: Campaign) -> Iterator[Statement]:
    """The worst reason for a lower quality; section Emulation accuracy lists all."""
    if found := grouped(campaign.estimates):
        worst, *others = found
        yield Statement(
            f"{worst.flag.capitalize()}, {worst.cause}: {worst.why}.",
            _of(worst, len(others)),
            href="#emulation-accuracy",
        )


def _of(reason: Reason, others: int) -> list[Statement]:
    """The place, the fix, and how many more reasons there are."""
    alike = f"; {reason.others} other {reason.kind}{'s are' if reason.others > 1 else ' is'} affected too"
    more = [f"It is worst in {reason.place}{alike * bool(reason.others)}."]
    if reason.cure:
        more.append(f"Fix: {reason.cure}.")
    if others:
        more.append(f"Section Emulation accuracy has {others} more reason{'s' * (others > 1)}.")
    return [Statement(text) for text in more]


def _warnings(campaign: Campaign) -> Iterator[Statement]:
    protocols = list(dict.fromkeys(series.protocol for series in campaign.series))
    plain_protocols = [
        protocol for protocol in protocols if not is_reference(protocol) and is_secure(protocol) is False
    ]
    if plain_protocols and any(is_secure(protocol) for protocol in protocols):
        yield Statement(f"Unencrypted: {', '.join(f'{protocol} ({title(protocol)})' for protocol in plain_protocols)}.")
    lossy = _lossy(campaign)
    slow = [scenario for scenario in lossy if _waits_at_p95(scenario, campaign.metric)]
    if lossy and len(slow) == len(lossy):
        edge = min(_modes(scenario, campaign.metric)[1]["low"] for scenario in slow)
        more = [
            Statement(f"Each has a second, slower mode, from {plain(edge * 1e3)} ms on."),
            Statement("Its p95 lies in that mode, its median does not."),
        ]
        yield Statement("On links with loss, the p95 of every protocol is a retransmission.", more, href="#delays")
    # Messages to subscribers have a sentence of their own.
    ends = [each.outcomes for each in campaign.scenarios if each.outcomes is not None and each.messages is None]
    lost = sum(map(_unfinished, ends))
    total = sum(each["exchanges"] for each in ends)
    if lost:
        more = [Statement("See how many completed before comparing delays.")]
        yield Statement(f"{lost:,} of {total:,} exchanges failed or timed out.", more, href="#outcomes")


def _unfinished(ends: Outcomes) -> int:
    return ends["failed"] + ends["timed-out"]


def _lossy(campaign: Campaign) -> list[Scenario]:
    """Measured scenarios on links with configured loss."""
    losing = {link["link_name"] for link in campaign.links if link["configured"]["loss"]}
    named = [scenario for scenario in campaign.scenarios if scenario.plan.link_name in losing]
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


def _modes(scenario: Scenario, metric: str) -> list[ModeRecord]:
    found = scenario.metric(metric)
    return [] if found is None else found["modes"]
