"""The page of a comparison: its sentence, a chart, each measure, the packets, and what limits it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wirelab.report.blocks import Block, Figure, Grid, Items, Legend, LegendEntry, Prose, Section
from wirelab.report.changes import effect, margin, scenario_name, subject
from wirelab.report.compared import Compared
from wirelab.report.exact.words import delay
from wirelab.report.figures.enumerated import Band, by_rate
from wirelab.report.figures.replicated import SHAPES, Ratio, RatioAxis, Tone, forest
from wirelab.report.model import Series
from wirelab.report.numbers import Estimate
from wirelab.report.page import Header, fill
from wirelab.report.palette import looks
from wirelab.report.statement import Statement
from wirelab.schema.changes import Changes, MeasureChange, ScenarioChange
from wirelab.schema.exact import Exact, ExactScenario
from wirelab.stats.estimate.model import LEVEL

EMULATION = "emulation only"
WORDS: dict[Tone, str] = {
    "bad": "larger or smaller: worse", "none": "larger or smaller, and not worse", "unsure": "inconclusive",
    "good": "unchanged",
}  # fmt: skip
COLORS: dict[Tone, str] = {
    "bad": "var(--bad)",
    "none": "var(--muted)",
    "unsure": "var(--unsure)",
    "good": "var(--good)",
}


def of_runs(changes: Changes, shown: Compared) -> str:
    """Of two campaigns, or of two sides of one."""
    rows = [
        [row for measure in scenario["measures"] if (row := _ratio(measure)) is not None]
        for scenario in changes["scenarios"]
    ]
    ends = [end for each in rows for row in each for end in (row.low, row.high) if end is not None]
    along = RatioAxis(1 + changes["margin"], "new / old", ends=ends)
    figures = [
        figure
        for number, (scenario, each) in enumerate(zip(changes["scenarios"], rows, strict=True))
        if (figure := _ratios(number, scenario, each, along)) is not None
    ]
    chart: list[Block] = []
    if figures:
        tones = dict.fromkeys(_tone(each) for scenario in changes["scenarios"] for each in scenario["measures"])
        marks = [LegendEntry(WORDS[tone], COLORS[tone], shape=SHAPES[tone]) for tone in WORDS if tone in tones]
        level = f"{changes['each_level'] * 100:.4g} %"
        band = (
            f"New / old of each measure with {level} intervals; the band is the margin, {margin(changes)} either way."
        )
        chart = [Prose(band), Legend(marks), Grid("", figures)]
    facts = [f"{changes['clock']} clock", f"Wirelab {changes['version']}", EMULATION]
    return _page(shown, chart, facts, changes["level"])


def of_enumerations(shown: Compared, old: Exact, new: Exact) -> str:
    """Of two folders of `exact`: the curves of both, and each probability that changed."""
    before = {(each["name"], each["seed"]): each for each in old["scenarios"]}
    pairs = [
        (before[key], each)
        for each in new["scenarios"]
        if (key := (each["name"], each["seed"])) in before and each["seed"] == 1
    ]
    chart: list[Block] = []
    for number, (first, second) in enumerate(pairs):
        chart += _curves(number, first, second, (old["rates"], new["rates"]))
    return _page(shown, chart, [f"Wirelab {new['version']}", f"kernel {new['kernel']}", EMULATION], LEVEL)


def _page(shown: Compared, chart: Sequence[Block], facts: list[str], level: float) -> str:
    sections = [
        Section("chart", "Old and new", chart),
        Section("measures", "Each measure", [shown.table]),
        Section("packets", "Packets", [Items([each.strip() for each in shown.packets])] if shown.packets else []),
        Section("how", "What was compared, and how", [Items(shown.notes)]),
    ]
    top = Header(
        name="comparison", title=f"Comparison of {shown.name}", doi=None, grade=None, facts=facts, warnings=[],
        answer=[Statement(shown.headline, href="#measures")], verdicts=[], made_from="both sides that it compares",
    )  # fmt: skip
    return fill(top, [section for section in sections if section.blocks], level)


def _ratios(number: int, scenario: ScenarioChange, rows: Sequence[Ratio], along: RatioAxis) -> Figure | None:
    """A row for each measure that has a ratio: a share is compared by its difference, and stands in the table alone."""
    name = scenario_name(scenario)
    drawn = forest(f"changes{number}", f"new over old of {name}", rows, along)
    return None if drawn is None else Figure(name, f"new over old of each measure of {name}", "", drawn, [])


def _ratio(measure: MeasureChange) -> Ratio | None:
    found = Estimate.of(measure["effect"])
    if measure["metric"] is None or found is None or found.point is None or found.point <= 0:
        return None
    tip = f"{subject(measure)}: {effect(measure)}; {measure['change']}"
    return Ratio(subject(measure), found.point, found.low, found.high, _tone(measure), tip)


def _tone(measure: MeasureChange) -> Tone:
    if measure["worse"]:
        return "bad"
    match measure["change"]:
        case "inconclusive":
            return "unsure"
        case "unchanged":
            return "good"
    return "none"


def _curves(
    number: int, old: ExactScenario, new: ExactScenario, rates: tuple[Sequence[float], Sequence[float]]
) -> Iterator[Block]:
    """P(delay > x) of both by the loss rate, a picture for each delay that both have."""
    name = new["name"]
    labels = f"{name}, old", f"{name}, new"
    found = looks([(new["protocol"], label) for label in labels])
    series = [
        Series(label, new["protocol"], "", f"{each['client']}, {each['server']}", look)
        for label, each, look in zip(labels, (old, new), found, strict=True)
    ]
    figures = []
    for place, curve in enumerate(new["curves"]):
        earlier = next((each for each in old["curves"] if each["delay_s"] == curve["delay_s"]), None)
        if earlier is None:
            continue
        bands = [
            Band(one, each_rates, each["low"], each["high"])
            for one, each_rates, each in zip(series, rates, (earlier, curve), strict=True)
        ]
        title = f"P(delay > {delay(curve['delay_s'])})"
        svg = by_rate(f"changes{number}-{place}", f"{title} of {name} by the loss rate", bands, title)
        figures.append(Figure(title, f"{title} of {name} by the loss rate, old and new", "", svg, []))
    if figures:
        yield Legend([
            LegendEntry(
                one.label, f"var(--s{one.look.slot})", note=one.provider, dash=" ".join(map(str, one.look.dash))
            )
            for one in series
        ])  # fmt: skip
        yield Grid("By the rate of independent loss; the value lies between the two lines of a side", figures)
