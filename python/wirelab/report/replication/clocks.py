"""The primary interpretation under both clocks: what was measured in real time next to what the virtual clock gives."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.report.blocks import Block, Cell, Column, Group, Items, Table, dash
from wirelab.report.numbers import Estimate
from wirelab.report.replication import words
from wirelab.report.replication.digits import short_interval
from wirelab.report.statement import listed
from wirelab.schema.replication import LivePart, ReplicatedClaim, ReplicatedPart, Replication

OPPOSITE = {"confirmed", "contradicted"}
Both = tuple[ReplicatedClaim, ReplicatedPart, LivePart]


def blocks(record: Replication) -> list[Block]:
    """A row for each part that ran under both; none without any."""
    found = _both(record)
    if not found:
        return []
    columns = [
        Column("part", numeric=False), Column("virtual clock [interval]"), Column("verdict", numeric=False),
        Column("live [interval]"), Column("verdict, live", numeric=False),
    ]  # fmt: skip
    rows = [
        [
            Cell(part["text"] if len(claim["parts"]) < 2 else words.named(part), title=claim["text"]),
            _estimate(part), _verdict(part), _estimate(live), _verdict(live),
        ]
        for claim, part, live in found
    ]  # fmt: skip
    table = Table("Parts under both clocks", columns, rows)
    return [Group(f"{_agreement(found)}", [table], open=False, printed=False)]


def of_papers(records: Sequence[Replication]) -> list[Block]:
    """A sentence for each paper; none without any."""
    found = [f"{record['paper']}: {_agreement(both)}." for record in records if (both := _both(record))]
    return [Items(found)] if found else []


def _both(record: Replication) -> list[Both]:
    return [
        (claim, part, part["live"])
        for claim in record["claims"]
        for part in claim["parts"]
        if part["decides"] and "live" in part
    ]


def _agreement(found: Sequence[Both]) -> str:
    """`Of 12 parts that ran under both clocks, 9 have the same verdict live, 1 the opposite one, …`."""
    same = sum(part["verdict"] == live["verdict"] for _, part, live in found)
    opposite = [part["id"] for _, part, live in found if {part["verdict"], live["verdict"]} == OPPOSITE]
    against = f"{len(opposite)} the opposite one ({listed(opposite)})" if opposite else "none the opposite one"
    held = sum(_holds(part, live) for _, part, live in found)
    return (
        f"Of {len(found)} parts that ran under both clocks, {same} have the same verdict live and {against}. "
        f"The live interval contains the virtual clock's estimate in {held}"
    )


def _holds(part: ReplicatedPart, live: LivePart) -> bool:
    point, low, high = (part["ours"] or live["ours"])["point"], live["ours"]["low"], live["ours"]["high"]
    return point is not None and (low is None or low <= point) and (high is None or point <= high)


def _estimate(part: ReplicatedPart | LivePart) -> Cell:
    found = Estimate.of(part["ours"])
    return dash("it has no estimate") if found is None or found.point is None else Cell(short_interval(found))


def _verdict(part: ReplicatedPart | LivePart) -> Cell:
    return Cell(part["verdict"], tone=words.tone(part["verdict"]))
