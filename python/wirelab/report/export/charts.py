"""The charts of a report, each with a name, its caption, its legend and its tables."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from wirelab.report.blocks import Figure, Legend, LegendEntry, Table, flat
from wirelab.report.campaign import Campaign
from wirelab.report.grade import grade, graded
from wirelab.report.sections import CHARTS, SECTIONS
from wirelab.schema.estimates import ESTIMATES
from wirelab.stats.link.grade import GRADES


@dataclass(frozen=True)
class NamedChart:
    """A chart under a name that is unique in its campaign, and stands for a file."""

    name: str
    label: str
    caption: str
    drawn: str
    entries: Sequence[LegendEntry]
    tables: Sequence[Table]


def exported(campaign: Campaign) -> tuple[list[NamedChart], dict[str, Table]]:
    """Every chart of the report, in its order, and by a name that is unique every table that stands with none."""
    rests_on, taken = basis(campaign), set[str]()
    charts, tables = list[NamedChart](), dict[str, Table]()
    for build in SECTIONS:
        if (section := build(campaign)) is None:
            continue
        entries: Sequence[LegendEntry] = ()
        for block, group in flat(section.blocks):
            if isinstance(block, Legend):
                entries = block.entries
            elif isinstance(block, Figure) and build in CHARTS:
                name = _unique(_slug(section.id, group, block.title), taken)
                label = block.label if not group else f"{block.label}, {group}"
                about = " ".join(filter(None, [_ended(label), block.caption, rests_on]))
                charts.append(NamedChart(name, label, about, block.svg, entries, block.tables))
            elif isinstance(block, Table) and block.rows:
                tables[_unique(_slug(section.id, group, "table"), taken)] = block
    return charts, tables


def basis(campaign: Campaign) -> str:
    """What the numbers of a campaign rest on: its intervals, n, programs, kernel, digest, and its quality unless that
    is good.
    """
    words = [f"Intervals are {100 * campaign.estimates['level']:g} %.", _counts(campaign)]
    if grade(campaign) != GRADES[0]:
        words.append(f"Quality: {graded(campaign)}.")
    words.append(f"{'; '.join(dict.fromkeys(f'{each.label}: {each.provider}' for each in campaign.series))}.")
    record = campaign.record
    if record is not None:
        # A run that was stopped has no digest, and that of an earlier one is of other records.
        digest = record.runs[-1].digest if record.runs else None
        content = hashlib.sha256((campaign.folder / ESTIMATES).read_bytes()).hexdigest()
        of = f"records {digest[:12]}" if digest is not None else f"estimates {content[:12]}"
        words.append(f"Emulated link; Wirelab {record.wirelab}, Linux {record.emulated_by}, SHA-256 of {of}.")
    return " ".join(filter(None, words))


def _counts(campaign: Campaign) -> str:
    """How many exchanges completed, of how many, in how many trials."""
    ends = [(0, 0, 0) if (of := each.outcomes) is None else (of["completed"], of["exchanges"], of["trials"])
            for each in campaign.scenarios]  # fmt: skip
    if not ends:
        return ""
    (completed, attempted, trials), *others = sorted(set(ends))
    if not others:
        return f"In each scenario {completed:,} of {attempted:,} exchanges completed, in {trials:,} trials."
    least, most = min(each[1] for each in ends), max(each[1] for each in ends)
    whole = [sum(each) for each in zip(*ends, strict=True)]
    each_has = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    sent = sum(0 if each.outcomes is None else each.outcomes["sent"] for each in campaign.scenarios)
    also = f" and {sent:,} were sent, which nothing answers" * (sent > 0)
    done = f"{whole[0]:,} of {whole[1]:,} exchanges completed{also}"
    return f"{done}, {each_has} in each scenario, in {whole[2]:,} trials."


def _slug(*words: str) -> str:
    return "-".join(filter(None, (re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-") for word in words)))


def _unique(name: str, taken: set[str]) -> str:
    number, found = 2, name
    while found in taken:
        number, found = number + 1, f"{name}-{number}"
    taken.add(found)
    return found


def _ended(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
