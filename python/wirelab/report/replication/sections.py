"""Sections of the page of a replication: its claims, its campaigns, and the papers' future work."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.report import predictions
from wirelab.report.blocks import (
    Block,
    Cell,
    Column,
    Prose,
    Replicated,
    ReplicatedClaims,
    Section,
    Table,
    dash,
)
from wirelab.report.replication import pictures, printed, words
from wirelab.schema.replication import Replication


def future(records: Sequence[Replication]) -> list[Block]:
    """A line for each piece of work that the papers leave; none without any."""
    rows = [
        [Cell(record["paper"]), Cell(each["text"]), Cell(each["found"] or f"Not yet measured: {each['not_yet']}")]
        for record in records
        for each in record["future"]
    ]
    columns = [Column(title, numeric=False) for title in ("paper", "question", "here")]
    return [Table("What the papers leave for future work, and what else was asked", columns, rows)] if rows else []


def sections(record: Replication) -> list[Section]:
    """All of one paper."""
    found = [
        Section("claims", "Claims", [table([record]), Prose(about([record]))]),
        Section("magnitudes", "Printed magnitudes", pictures.magnitudes([record])),
        Section("numbers", "Printed numbers", [*printed.blocks(record), *predictions.blocks(record)]),
        Section("grid", "Over the grid of choices", [*pictures.counts([record]), *pictures.curves(record)]),
        Section("future", "Beyond the claims", future([record])),
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
                words.paper(claim), words.ours(claim), words.size(claim), words.effect(claim),
                words.deciding(claim, record), words.counted(claim), words.quality(claim),
            ],
            claim["text"], words.why(claim),
        )
        for record in records
        for claim in record["claims"]
    ]  # fmt: skip
    return ReplicatedClaims("Verdict in the primary interpretation, and range over the grid of choices", columns, rows)


def about(records: Sequence[Replication]) -> str:
    """How to read the table, and what stands behind it."""
    rates = " or ".join(f"{100 * rate:g} %" for rate in sorted({record["error_rate"] for record in records}))
    whose = "the paper has" if len(records) == 1 else "its paper has"
    both = f" If {whose} an outlier rule, a verdict is decided only if it is the same with and without it."
    return (
        "A point of the grid is one level of each choice that the paper leaves open. "
        "The primary interpretation is the point that the paper's text implies. "
        "The verdict is that of this point; the other points widen the range and the counts. "
        "If several campaigns ran a point, its verdict is that of the one with most exchanges a scenario. "
        f"In each campaign the chance of one wrong decision or more is at most {rates}. "
        "A claim whose parts come from several campaigns has that chance in each of them. "
        "What would decide a claim is an extrapolation from its interval."
        f"{both * any(record['outlier_rule'] for record in records)} {' '.join(map(_frozen, records))}"
    )


def _frozen(record: Replication) -> str:
    frozen = record["grid"]["frozen"]
    when = "not frozen" if frozen is None else f"frozen {frozen['at']}"
    return f"Claims and grid of {record['paper']}: {when}."


def campaigns(records: Sequence[Replication]) -> list[Block]:
    """What was run, and what was not."""
    columns = [
        Column("paper", numeric=False), Column("campaign", numeric=False), Column("clock", numeric=False),
        Column("measured", numeric=False), Column("version", numeric=False), Column("kernel", numeric=False),
        Column("scenarios"), Column("trials"), Column("exchanges"), Column("completed"), Column("duration"),
        Column("quality", numeric=False), Column("digest", numeric=False),
    ]  # fmt: skip
    rows = []
    for record in records:
        for each in record["campaigns"]:
            sets = ", ".join(f"{path}={','.join(values)}" for path, values in each["sets"].items())
            quick = " (quick run, not conclusive)" if each["quick"] else ""
            rows.append(
                [
                    Cell(record["paper"]), Cell(f"{each['experiment']}{quick}", title=sets or None),
                    Cell(each["clock"]), _known(each["measured"]), _known(each["version"]), _known(each["kernel"]),
                    Cell(f"{each['scenarios']:,}"), Cell(f"{each['trials']:,}"), Cell(f"{each['exchanges']:,}"),
                    Cell(f"{each['completed']:,}"),
                    dash("not recorded") if each["seconds"] is None else Cell(words.duration(each["seconds"])),
                    Cell(each["quality"]),
                    dash("only the virtual clock gives one") if each["digest"] is None
                    else Cell(each["digest"][:12], title=each["digest"]),
                ]
            )  # fmt: skip
    left_out = [[Cell(record["paper"]), Cell(each)] for record in records for each in record["left_out"]]
    ran = Table("Campaigns, of emulation only", columns, rows, row_headers=2)
    columns = [Column("paper", numeric=False), Column("campaign, and why", numeric=False)]
    return [ran, Table("Left out", columns, left_out)] if left_out else [ran]


def _known(text: str | None) -> Cell:
    return dash("not recorded") if text is None else Cell(text)
