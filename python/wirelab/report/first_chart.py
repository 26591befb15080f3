"""The one chart of the answer: ours over the paper's numbers if claims print some, else an interval per protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from wirelab.report.blocks import Cell, Column, Figure, Legend, LegendEntry, Table
from wirelab.report.campaign import Campaign
from wirelab.report.figures.replicated import NARROW, SHAPES, Ratio, RatioAxis, Tone, forest
from wirelab.report.figures.scales import MOST_WIDTH
from wirelab.report.figures.svg import both
from wirelab.report.model import Condition, Group
from wirelab.report.numbers import COUNT, Estimate, interval, plain
from wirelab.report.sections import glance
from wirelab.report.sections.claims import TONES, verdict_cell
from wirelab.report.sections.common import drawn_groups, legend
from wirelab.schema.verdicts import ClaimRecord, PartRecord

MOST_MARKS = 14
"""Marks of a chart that leaves room for the answer on one screen."""
LEAST_RATIOS = 3
"""Printed numbers that make a chart of them."""
MAGNITUDES = frozenset({"ratio", "quotient", "count", "share-beyond"})
"""Forms of claims whose printed number is compared with ours."""
FACTOR = 1.25
"""The tolerance of a published magnitude."""
WORDS: dict[Tone, str] = {"good": "confirmed", "bad": "contradicted", "unsure": "inconclusive"}
COLORS: dict[Tone, str] = {"good": "var(--good)", "bad": "var(--bad)", "unsure": "var(--unsure)"}


@dataclass(frozen=True)
class FirstChart:
    """A chart with its legend. `section` is the anchor of what it shows, all of it if it is `whole`."""

    figure: Figure
    legend: Legend | None
    section: str
    whole: bool


def first_chart(campaign: Campaign) -> FirstChart | None:
    """The chart of the answer; None if nothing can be drawn."""
    return _of_claims(campaign) or _of_scenarios(campaign)


def _of_claims(campaign: Campaign) -> FirstChart | None:
    """Ours over each number that the publication prints, coloured by verdict."""
    found = list(_ratios(campaign.claims))
    if len(found) < LEAST_RATIOS:
        return None
    shown = found[:MOST_MARKS]
    ratios = [ratio for ratio, _ in shown]
    label = "ours over each printed magnitude, with its interval"
    wide, narrow = (
        forest(f"first-{width}", label, ratios, RatioAxis(FACTOR, width=width)) for width in (MOST_WIDTH, NARROW)
    )
    if wide is None or narrow is None:
        return None
    of = f" The first {len(shown)} of {len(found)}; section Claims has all." if len(shown) < len(found) else ""
    caption = f"Ours over the publication’s number, with its interval; the band is a factor of {FACTOR:g}.{of}"
    columns = [
        Column("claim", numeric=False),
        Column("verdict", numeric=False),
        Column("paper"),
        Column("ours [interval]"),
    ]
    table = Table("Each printed number, and ours", columns, [row for _, row in shown])
    tones = dict.fromkeys(ratio.tone for ratio in ratios)
    key = Legend([LegendEntry(WORDS[tone], COLORS[tone], shape=SHAPES[tone]) for tone in tones if tone in WORDS])
    return FirstChart(Figure("", label, caption, both(wide, narrow), [table]), key, "claims", whole=False)


def _ratios(claims: Iterable[ClaimRecord]) -> Iterator[tuple[Ratio, list[Cell]]]:
    for claim in claims:
        for name, each in _judged(claim):
            printed, ours = each["paper"], Estimate.of(each["ours"])
            if each["form"] not in MAGNITUDES or not isinstance(printed, int | float) or printed <= 0:
                continue
            if ours is None or ours.point is None or ours.point <= 0:
                continue
            low, high = (None if end is None else end / printed for end in (ours.low, ours.high))
            tip = f"{name}: paper {plain(printed)}, ours {interval(ours, COUNT)}; {each['verdict']}"
            tone = TONES[each["verdict"]]
            row = [
                Cell(name, href=f"#claim-{claim['id']}"), verdict_cell(each["verdict"], claim["link"]),
                Cell(f"{printed:g}"), Cell(interval(ours, COUNT)),
            ]  # fmt: skip
            yield Ratio(name, ours.point / printed, low, high, tone, tip), row


def _judged(claim: ClaimRecord) -> Iterator[tuple[str, ClaimRecord | PartRecord]]:
    """The claim, and each part that it is made of."""
    yield claim["id"], claim
    for number, part in enumerate(claim["parts"], 1):
        yield part.get("id", f"{claim['id']}.{number}"), part


def _of_scenarios(campaign: Campaign) -> FirstChart | None:
    """The headline metric of the first scenarios, as many as there is room for."""
    base = campaign.groups[0]
    conditions = list(_fitting(base))
    shown = replace(base, conditions=tuple(conditions))
    figure = glance.figure(campaign, shown, "first")
    if not isinstance(figure, Figure):
        return None
    whole = len(campaign.groups) == 1 and len(conditions) == len(base.conditions)
    if not whole:
        every = sum(len(group.conditions) for group in campaign.groups)
        rest = "all" if len(drawn_groups(campaign)) == len(campaign.groups) else "more"
        words = f"The first {len(conditions)} of {every} rows; {rest} are under Charts."
        figure = replace(figure, caption=f"{figure.caption} {words}")
    return FirstChart(figure, _named(legend(campaign)), "glance", whole)


def _fitting(group: Group) -> Iterator[Condition]:
    marks = 0
    for condition in group.conditions:
        marks += len(condition.scenarios)
        if marks > MOST_MARKS and marks > len(condition.scenarios):
            return
        yield condition


def _named(whole: Legend) -> Legend:
    """The legend without the programs, which stand with the charts."""
    return Legend([replace(entry, note="") for entry in whole.entries])
