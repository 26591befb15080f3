"""Sections of the page of a replication: its claims, its campaigns, and the papers' future work."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from wirelab.report import predictions
from wirelab.report.blocks import (
    Block,
    Cell,
    Column,
    Definitions,
    Group,
    Items,
    Prose,
    Replicated,
    ReplicatedClaims,
    Section,
    Table,
    dash,
)
from wirelab.report.replication import clocks, interpretations, pictures, printed, reasons, words
from wirelab.report.replication.deciding import deciding
from wirelab.schema.replication import CampaignSummary, FutureWork, Replication

REPEATED = "The command of a line measures it again. Under the virtual clock its digest is the same on every machine."
EXACT = (
    "Under the virtual clock trials of a scenario differ by their seed alone, without noise of a machine. "
    "So some of their intervals are narrower than the digits that are shown."
)


def future(records: Sequence[Replication]) -> list[Block]:
    """What was found of each piece of work that the papers leave; none without any."""
    found: dict[str, Block] = {
        record["paper"]: Definitions([(each["text"], _found(each)) for each in record["future"]])
        for record in records
        if record["future"]
    }
    if len(records) > 1:
        found = {paper: Group(paper, [block], open=True, printed=True) for paper, block in found.items()}
    again = any("run" in each for record in records for each in record["future"])
    return [*found.values(), *[Prose(REPEATED)] * again]


def _found(work: FutureWork) -> str:
    if not work["found"]:
        return f"Not yet measured. {words.begun(work['not_yet'] or '')}."
    digest = f", digest {work['digest'][:12]}" if "digest" in work else ""
    again = f" Run: `wirelab run {work['run']}`{digest}." if "run" in work else ""
    return f"{work['found']}.{again}"


def sections(record: Replication) -> list[Section]:
    """All of one paper."""
    found = [
        Section("claims", "Claims", [table([record]), *about([record])]),
        Section("magnitudes", "Printed magnitudes", pictures.magnitudes([record]), short="Magnitudes"),
        Section("numbers", "Printed numbers", [*printed.blocks(record), *predictions.blocks(record)], short="Numbers"),
        Section("clocks", "Live and under the virtual clock", clocks.blocks(record), short="Clocks"),
        Section("interpretations", "At each interpretation", interpretations.blocks([record]), short="Interpretations"),
        Section(
            "grid", "Over the grid of choices", [*pictures.counts([record]), *pictures.curves(record)], short="Grid"
        ),
        Section("future", "Beyond the claims", future([record]), short="Beyond"),
        Section("campaigns", "Campaigns", campaigns([record])),
    ]
    return [section for section in found if section.blocks]


def table(records: Sequence[Replication]) -> ReplicatedClaims:
    """A row for each claim."""
    columns = [
        Column("paper"), Column("ours [interval]"), Column("n"), Column("range over the grid"),
        Column("deciding choice", numeric=False), Column("confirmed / contradicted"), Column("quality", numeric=False),
    ]  # fmt: skip
    rows = [
        Replicated(
            claim["id"], words.verdict(claim, record),
            [
                words.paper(claim), words.ours(claim, leading), words.size(claim, leading),
                words.effect(claim, leading), deciding(claim, record), words.counted(claim),
                words.quality(claim["link"]),
            ],
            claim["text"], *reasons.why(claim, record),
        )
        for record in records
        for claim in record["claims"]
        for leading in [reasons.leading(claim)]
    ]  # fmt: skip
    return ReplicatedClaims("Verdict in the primary interpretation, and range over the grid of choices", columns, rows)


def about(records: Sequence[Replication]) -> list[Block]:
    """How to read the table, and when the claims were frozen."""
    rates = " or ".join(f"{100 * rate:g} %" for rate in sorted({record["error_rate"] for record in records}))
    whose = "the paper has" if len(records) == 1 else "its paper has"
    claims = [claim for record in records for claim in record["claims"]]
    items = [
        "A point of the grid is one level of each choice that the paper leaves open. "
        "A point counts if it was run, is of the grid, and the claim is not fitted there.",
        "The primary interpretation is the point that the paper's text implies. "
        "The verdict is that of this point; the other points widen the range and the counts.",
        "If several campaigns ran a point, its verdict is that of the one with most exchanges in its scenarios.",
        "A deciding choice alone turns the verdict from confirmed to contradicted, and moves the estimate by 1 %. "
        "In brackets: the pairs of points that turn, of all pairs that differ in this choice alone. "
        "If none does, the choice that stands there decides the claim at one level and leaves it open at another. "
        "It does so in half of its pairs or more.",
        "A dash as verdict: no primary interpretation, or not run in it. "
        "A dash as the paper's number: none is compared. "
        "A dash as deciding choice: no choice decides the claim by itself.",
        "Ours of `A below B` is how many times as much B takes as A: above 1 is in favour of the claim.",
        "Of a claim in several parts, n, our estimate and its range are of the part that is named. "
        "At another point another part may be against it. "
        "In brackets behind n: the fewest and the most values that a point's verdict rests on.",
        "Quality is that of the verdict: a comparison may survive what spoils a scenario of its campaign.",
        f"In each campaign the chance of one wrong decision or more is at most {rates}. "
        "A claim whose parts come from several campaigns has that chance in each of them.",
        "The deciding interval of a part has the level that the number of claims and parts sets; "
        "the other intervals are at 95 %. "
        "What would decide a claim is an extrapolation from its interval.",
    ]
    if any(words.of_places(each, reasons.leading(each)) for each in claims):
        items.append("A place counts the levels of a factor from 0, and may lie between two of them.")
    if any(each["clock"] == "virtual" for record in records for each in record["campaigns"]):
        items.append(EXACT)
    if any(record["outlier_rule"] for record in records):
        items.append(f"If {whose} an outlier rule, a verdict is decided only if it is the same with and without it.")
    return [Group("How to read the table", [Items(items)], printed=True), Prose(" ".join(map(_frozen, records)))]


def _frozen(record: Replication) -> str:
    grid = record["grid"]
    when = "not frozen" if grid["frozen"] is None else f"frozen {grid['frozen']['at']}"
    written = [*grid["choices"], *grid["interpretations"]]
    late = sum(each["after_the_fact"] for each in written)
    count = "all" if late == len(written) else f"{late} of {len(written)}"
    began = [first for each in record["campaigns"] if (first := each.get("began"))]
    early = 0 if grid["frozen"] is None else sum(first < grid["frozen"]["at"] for first in began)
    before = f", after the first trial of {early} of {len(record['campaigns'])} campaigns" if early else ""
    after = f", and {count} choices and interpretations were written after data existed" if late else ""
    return f"Claims and grid of {record['paper']}: {when}{before}{after}."


def campaigns(records: Sequence[Replication]) -> list[Block]:
    """What was run, and what was not. The page of one paper needs no column of its name. Versions and kernels lead the
    page, and are in a tooltip here: with columns of their own the table is wider than a screen.
    """
    columns = [
        Column("campaign", numeric=False), Column("settings", numeric=False), Column("clock", numeric=False),
        Column("measured", numeric=False), Column("scenarios"), Column("exchanges"), Column("duration"),
        Column("quality", numeric=False), Column("digest", numeric=False),
    ]  # fmt: skip
    ran = [(record["paper"], _campaign(each)) for record in records for each in record["campaigns"]]
    left_out = [(record["paper"], [Cell(each)]) for record in records for each in record["left_out"]]
    tables = [_of_papers("Campaigns, of emulation only", columns, ran, len(records))]
    runs = [[Cell(each["name"]), Cell(_command(each))] for record in records for each in record["campaigns"]]
    names = [Column("campaign", numeric=False), Column("command", numeric=False)]
    commands = Group("The command of each campaign", [Table("What measures it again", names, runs)])
    if left_out:
        tables.append(_of_papers("Left out", [Column("campaign, and why", numeric=False)], left_out, len(records)))
    return [*tables, *[commands] * bool(ran)]


def _command(campaign: CampaignSummary) -> str:
    """What measures it again; of a quick run, the whole of it."""
    sets = {path: levels for path, levels in campaign["sets"].items() if path != "clock"}
    written = [shlex.quote(f"{path}={','.join(levels)}") for path, levels in sets.items()]
    given = "".join(f" --set {each}" for each in written)
    whole = " (the whole, not the quick run)" if campaign["quick"] else ""
    return f"wirelab run {campaign['experiment']} --clock {campaign['clock']}{given}{whole}"


def _of_papers(caption: str, columns: list[Column], rows: Sequence[tuple[str, list[Cell]]], papers: int) -> Table:
    if papers == 1:
        return Table(caption, columns, [cells for _, cells in rows])
    named = [[Cell(paper), *cells] for paper, cells in rows]
    return Table(caption, [Column("paper", numeric=False), *columns], named, row_headers=min(len(columns), 2))


def _campaign(campaign: CampaignSummary) -> list[Cell]:
    quick = f" ({words.NOT_CONCLUSIVE})" if campaign["quick"] else ""
    digest = campaign["digest"]
    return [
        Cell(f"{campaign['experiment']}{quick}", title=campaign.get("why")), _settings(campaign),
        Cell(campaign["clock"]), _measured(campaign), Cell(f"{campaign['scenarios']:,}"), _exchanges(campaign),
        _duration(campaign),
        Cell(campaign["quality"]),
        dash("only the virtual clock gives one") if digest is None else Cell(digest[:12], title=digest),
    ]  # fmt: skip


def _duration(campaign: CampaignSummary) -> Cell:
    if campaign["seconds"] is None:
        return dash("not recorded")
    least = "at least " * ("stopped" in campaign)
    return Cell(f"{least}{words.duration(campaign['seconds'])}")


def _settings(campaign: CampaignSummary) -> Cell:
    """What it set, by the last names of the paths: two campaigns of one experiment differ in it, or in the clock."""
    sets = {path: values for path, values in campaign["sets"].items() if path != "clock"}
    if not sets:
        return Cell("as in its file")
    short = (f"{words.last_names(path, sets)} {', '.join(values)}" for path, values in sets.items())
    return Cell("; ".join(short), title="; ".join(f"{path}={','.join(values)}" for path, values in sets.items()))


def _measured(campaign: CampaignSummary) -> Cell:
    made = [f"Wirelab {campaign['version']}"] * bool(campaign["version"])
    made += [f"kernel {campaign['kernel']}"] * bool(campaign["kernel"])
    day = campaign["measured"]
    return dash("not recorded") if day is None else Cell(day, title=", ".join(made) or None)


def _exchanges(campaign: CampaignSummary) -> Cell:
    """`7,570 of 7,650` if some did not complete."""
    completed, whole = campaign["completed"], campaign["exchanges"]
    text = f"{whole:,}" if completed == whole else f"{completed:,} of {whole:,}"
    return Cell(text, title=f"completed, of the exchanges of {campaign['trials']:,} trials")
