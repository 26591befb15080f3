"""A campaign's quality, the same wherever it is shown. Computes no statistic: it is the worst of its estimates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wirelab.report.campaign import Campaign
from wirelab.report.model import Scenario
from wirelab.schema.estimates import ComparisonRecord, Estimates, Grade, Quality
from wirelab.stats.compare.link_error import quality_of
from wirelab.stats.link.grade import GRADES, NOT_MEASURED
from wirelab.stats.quality import of_scenario, shared

PREVIEW = "quick run, not conclusive"
LINK, MACHINE = "the link", "the machine"


@dataclass(frozen=True)
class _Flag:
    """The quality of a link's direction or of a scenario's endpoints; `size` ranks it among others of its kind."""

    flag: Grade
    cause: str
    place: str
    why: str
    size: float
    cure: str | None = None


@dataclass(frozen=True)
class Reason:
    """A reason for a lower quality: the worst place, and how many others are affected."""

    flag: Grade
    cause: str
    place: str
    why: str
    cure: str | None
    others: int

    @property
    def and_others(self) -> str:
        """` and 3 other scenarios`; empty if only one place is affected."""
        return f" and {self.others} other {self.kind}{'s' * (self.others > 1)}" if self.others else ""

    @property
    def kind(self) -> str:
        """The kind of its place."""
        return "scenario" if self.cause == MACHINE else "direction"

    @property
    def words(self) -> str:
        """The whole reason in one sentence."""
        cure = f"; {self.cure}" if self.cure else ""
        return f"{self.flag}, {self.cause}: {self.place}{self.and_others}: {self.why}{cure}."


def grade(campaign: Campaign) -> str:
    """The worst flag of the links, of the endpoints' CPU waiting and of overloads. A quick run is never conclusive."""
    if campaign.quick_run:
        return PREVIEW
    found = [each.flag for each in _flags(campaign.estimates)]
    return max(found, key=GRADES.index) if found else "not graded"


def graded(campaign: Campaign) -> str:
    """The quality as a count, with the worst and its cause: `good in 30 of 36 scenarios, else at worst unusable (the
    machine, not the link)`.
    """
    worst = grade(campaign)
    if worst not in GRADES:
        return worst
    each = list(_of_scenarios(campaign))
    if not each:
        return worst
    count = f"good in {each.count(GRADES[0])} of {len(each)} scenario{'s' * (len(each) != 1)}"
    if worst == GRADES[0]:
        return count
    to_blame = blamed(campaign.estimates)
    cause = "the machine, not the link" if to_blame == [MACHINE] else " and ".join(to_blame)
    return f"{count}, else at worst {worst} ({cause})"


def _of_scenarios(campaign: Campaign) -> Iterator[Grade]:
    """The quality of each scenario that ran and has one."""
    ran = (scenario for scenario in campaign.scenarios if scenario.key not in campaign.unsupported)
    found = (scenario_quality(campaign, scenario) for scenario in ran)
    return (each for each in found if each is not None)


def scenario_quality(campaign: Campaign, scenario: Scenario) -> Grade | None:
    """The worst of its links, of links that all share, of its endpoints' CPU waiting and of an overload; None without
    any, or without results.
    """
    if scenario.estimates is None:
        return None
    certificates = campaign.estimates["certificates"]
    found = of_scenario(scenario.estimates, scenario.plan.link_name, campaign.links, certificates)
    return None if found is None else found[0]


def blamed(estimates: Estimates) -> list[str]:
    """The cause of the worst flag: the link, the machine, both, or nothing if it is the best."""
    found = list(_flags(estimates))
    worst = max((each.flag for each in found), key=GRADES.index, default=GRADES[0])
    causes = {each.cause for each in found if each.flag == worst != GRADES[0]}
    return [cause for cause in (LINK, MACHINE) if cause in causes]


def reasons(estimates: Estimates) -> list[str]:
    """The reasons for a lower quality, the worst first, in a sentence each."""
    return [reason.words for reason in grouped(estimates)]


def grouped(estimates: Estimates) -> list[Reason]:
    """The reasons for a lower quality, the worst first: each once, with its worst place."""
    alike: dict[tuple[Grade, str, str], list[_Flag]] = {}
    for each in _flags(estimates):
        if each.flag != GRADES[0]:
            same = "".join(letter for letter in each.why if not letter.isdigit() and letter not in ".,")
            if each.cause == MACHINE:
                # What waited tells one cause from another; its unit, and a share or a multiple, do not.
                same = "; ".join(" ".join(words.split()[:2]) for words in each.why.split("; "))
            alike.setdefault((each.flag, each.cause, same), []).append(each)
    ordered = sorted(alike.values(), key=lambda found: -GRADES.index(found[0].flag))
    return [_reason(found) for found in ordered]


def comparison_reasons(comparisons: Iterable[ComparisonRecord]) -> list[str]:
    """The reasons why comparisons are less than good: one for each flag and cause, with their number. Where a
    comparison's ratios differ in quality, each ratio counts by itself.
    """
    alike: dict[tuple[Grade, str, str], list[str]] = {}
    for comparison in comparisons:
        for what, link in _qualities(comparison):
            if link["flag"] != GRADES[0]:
                alike.setdefault((link["flag"], to_blame(link), what), []).append(link["why"])
    ordered = sorted(alike.items(), key=lambda pair: -GRADES.index(pair[0][0]))
    return [_comparisons_reason(*same, whys) for same, whys in ordered]


def _qualities(comparison: ComparisonRecord) -> list[tuple[str, Quality]]:
    """The quality of each ratio, with what it is of; one quality if all are alike."""
    each = [("ratio of means", quality_of(comparison, "mean")), ("ratio of medians", quality_of(comparison, "median"))]
    if "ratio_of_percentiles" in comparison:
        each.append(("ratio of percentiles", quality_of(comparison, "percentile")))
    alike = all((link["flag"], link["why"]) == (each[0][1]["flag"], each[0][1]["why"]) for _, link in each)
    return [("comparison", each[0][1])] if alike else each


def to_blame(link: Quality) -> str:
    """The machine, the link or both, of a comparison; empty if it is the size of the effect alone."""
    return " and ".join(cause for cause in (LINK, MACHINE) if cause in link["causes"])


def _comparisons_reason(flag: Grade, cause: str, what: str, whys: list[str]) -> str:
    """The shortest reason stands for all, since it has the fewest causes."""
    first, *rest = what.split(" ", 1)
    words = " ".join([f"{first}{'s' * (len(whys) > 1)}", *rest])
    head = f"{flag}, {len(whys)} {words}{f' ({cause})' * bool(cause)}"
    return f"{head}{', such as' if len(set(whys)) > 1 else ':'} {min(whys, key=len)}."


def _reason(found: list[_Flag]) -> Reason:
    worst = max(found, key=lambda each: each.size)
    others = len({each.place for each in found}) - 1
    return Reason(worst.flag, worst.cause, worst.place, worst.why, worst.cure, others)


def _flags(estimates: Estimates) -> Iterator[_Flag]:
    for link in estimates["links"]:
        if link["flag"] != NOT_MEASURED:
            late = link["measured"]["delay_error_s"]["p99"] or 0.0
            yield _Flag(link["flag"], LINK, f"{link['link_name']} {link['direction']}", link["why"], late)
    yield from _shared(estimates)
    for scenario in estimates["scenarios"]:
        if (waits := scenario["endpoints"]) is not None:
            size = (waits["share"] or 0.0) + (waits["steal"] or 0.0)
            yield _Flag(waits["flag"], MACHINE, scenario["name"], waits["why"], size, waits["cure"])
        rates = scenario.get("offered")
        if rates is not None and rates["flag"] != GRADES[0]:
            size = 1 - rates["served_hz"] / rates["offered_hz"]
            yield _Flag(rates["flag"], MACHINE, scenario["name"], rates["why"], size, rates["cure"])


def _shared(estimates: Estimates) -> Iterator[_Flag]:
    for certificate in shared(estimates["certificates"]):
        place = f"the link {', '.join(certificate['topology_links'])}"
        yield _Flag(certificate["flag"], LINK, place, certificate["why"], 0.0)
