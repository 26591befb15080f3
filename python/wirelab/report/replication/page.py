"""The page of one paper, and that of all papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wirelab.report import predictions
from wirelab.report.blocks import Block, Cell, Grid, Section
from wirelab.report.numbers import plain
from wirelab.report.page import Header, fill, write_text
from wirelab.report.replication import clocks, interpretations, lead, pictures, sections, words
from wirelab.report.statement import Statement, listed
from wirelab.schema.replication import Replication

EMULATION = "emulation only"
CAMPAIGNS = "the campaigns that it lists"
LEVEL = 0.95


TERMS = Statement(
    "These words are used here.",
    [
        Statement("A point is one combination of the choices that a paper leaves open, and the grid is all of them."),
        Statement(
            "The primary interpretation is the point that a paper's text implies; without one there is no verdict."
        ),
        Statement("A choice turns a claim that is confirmed at one of its levels and contradicted at another."),
        Statement("Ours of `A below B` is B over A, so that more than 1 agrees; of `A 1.5 times B` it is A over B."),
    ],
)


def write_paper(record: Replication, out: Path) -> Path:
    """The page of one paper. Raises `WirelabError` where it cannot be written."""
    return write_text(out, fill(header_of_paper(record), sections.sections(record), LEVEL))


def write_all(records: Sequence[Replication], out: Path) -> Path:
    """The page of several papers."""
    return write_text(out, fill(header_of_all(records), sections_of_all(records), LEVEL))


def header_of_paper(record: Replication) -> Header:
    """Title, facts, the first sentence, and a chip for each claim."""
    return Header(
        name=record["paper"],
        title=f"Replication of {record['paper']}",
        doi=record["doi"],
        grade=None,
        facts=facts([record]),
        warnings=_warnings([record]),
        answer=lead.lead(record),
        verdicts=[
            Cell(f"{claim['id']} {words.standing(words.kind(claim))}", title=claim["text"], href="#claims",
                 tone=words.tone(claim["verdict"]), weak=words.is_quick(record))
            for claim in record["claims"]
            if claim["verdict"] is not None
        ],
        made_from=CAMPAIGNS,
    )  # fmt: skip


def header_of_all(records: Sequence[Replication]) -> Header:
    """Title, facts, and a sentence for each paper."""
    more = [Statement(statement.text) for record in records for statement in lead.lead(record)[:1]]
    return Header(
        name="replications", title="Replications", doi=None, grade=None, facts=facts(records),
        warnings=_warnings(records), answer=[Statement(lead.tally(records), more, href="#claims"), TERMS], verdicts=[],
        made_from=CAMPAIGNS,
    )  # fmt: skip


def sections_of_all(records: Sequence[Replication]) -> list[Section]:
    """Two pictures, the claims of all papers, and what was run."""
    found = [
        Section("pictures", "Printed magnitudes, and verdicts over the grids", _pictures(records), short="Pictures"),
        Section("claims", "Claims", [sections.table(records), *sections.about(records)]),
        Section("interpretations", "At each interpretation", interpretations.blocks(records), short="Interpretations"),
        Section(
            "skill", "Do the interpretations predict the printed numbers?", predictions.of_papers(records),
            short="Skill",
        ),
        Section("clocks", "Live and under the virtual clock", clocks.of_papers(records), short="Clocks"),
        Section("future", "Beyond the claims", sections.future(records), short="Beyond"),
        Section("campaigns", "Campaigns", sections.campaigns(records)),
    ]  # fmt: skip
    return [section for section in found if section.blocks]


def _pictures(records: Sequence[Replication]) -> list[Block]:
    """Both pictures side by side, if there is room."""
    drawn = [*pictures.magnitudes(records), *pictures.counts(records)]
    figures = [figure for block in drawn if isinstance(block, Grid) for figure in block.figures]
    return [*[block for block in drawn if not isinstance(block, Grid)], *([Grid("", figures)] if figures else [])]


def facts(records: Sequence[Replication]) -> list[str]:
    """Versions, kernels, days and sizes."""
    runs = [each for record in records for each in record["campaigns"]]
    days = sorted({each["measured"] for each in runs if each["measured"]})
    kernels = sorted({each["kernel"] for each in runs if each["kernel"]})
    versions = sorted({each["version"] for each in runs if each["version"]})
    measured = [f"measured {days[0]}" if len(days) == 1 else f"measured {days[0]} to {days[-1]}"] if days else []
    exchanges, seconds = sum(each["exchanges"] for each in runs), sum(each["seconds"] or 0.0 for each in runs)
    least = "at least " * any(each["seconds"] is None or "stopped" in each for each in runs)
    return [
        f"{len(runs)} campaign{'s' * (len(runs) != 1)}",
        f"{exchanges:,} exchanges",
        *[f"{least}{words.duration(seconds)} of runs"] * bool(seconds),
        *measured,
        *[f"Wirelab {', '.join(versions)}"] * bool(versions),
        *[f"kernel {', '.join(kernels)}"] * bool(kernels),
        EMULATION,
    ]


def _warnings(records: Sequence[Replication]) -> list[str]:
    found: list[str] = []
    for record in records:
        quick = [f"{each['name']}: {each['quick']}" for each in record["campaigns"] if each["quick"]]
        if quick:
            wide = (
                ""
                if record["width"] is None
                else f" Half of its intervals are wider than {plain(record['width'])}-fold."
            )
            found.append(f"A quick run of {record['paper']}, not conclusive. {'; '.join(quick)}.{wide}")
        found += [
            f"{record['paper']}: the campaign {each['name']} was not judged by {', '.join(each['lacks'])}."
            for each in record["campaigns"]
            if each.get("lacks")
        ]
    left_out = [f"{len(each['left_out'])} of {each['paper']}" for each in records if each["left_out"]]
    if left_out:
        found.append(f"Listed campaigns that are left out: {listed(left_out)}. The section Campaigns has the reasons.")
    return found
