"""The primary interpretation under both clocks: what was measured in real time next to what the virtual clock gives."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.report.blocks import Block, Cell, Column, Group, Items, Table, dash
from wirelab.report.numbers import Estimate
from wirelab.report.replication import words
from wirelab.report.replication.digits import short_interval
from wirelab.report.statement import listed
from wirelab.schema.replication import LivePart, ReplicatedClaim, ReplicatedPart, Replication

Both = tuple[ReplicatedClaim, ReplicatedPart, LivePart]


def blocks(record: Replication) -> list[Block]:
    """A row for each part that ran under both; none without any."""
    found = _both(record)
    if not found:
        return []
    columns = [
        Column("part", numeric=False), Column("virtual clock [interval]"), Column("verdict", numeric=False),
        Column("live [interval]"), Column("verdict, live", numeric=False), Column("quality, live", numeric=False),
        Column("why another verdict, live", numeric=False),
    ]  # fmt: skip
    rows = [
        [
            Cell(part["text"] if len(claim["parts"]) < 2 else words.named(part), title=claim["text"]),
            _estimate(part, part["form"]), _verdict(part), _estimate(live, part["form"]), _verdict(live),
            words.quality(live["link"]), _why(part, live),
        ]
        for claim, part, live in found
    ]  # fmt: skip
    table = Table("Parts under both clocks", columns, rows)
    return [Group(_agreement(found), [table], printed=True)]


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
    """`Of 28 parts that the virtual clock decides: 11 with the same verdict live, 15 inconclusive live, …`."""
    decided = [(part, live) for _, part, live in found if part["verdict"] != "inconclusive"]
    same = sum(part["verdict"] == live["verdict"] for part, live in decided)
    opposed = [part["id"] for part, live in decided if words.opposite(part, live)]
    names = f" ({listed(opposed)})" if opposed else ""
    bounded = [held for _, part, live in found if (held := _holds(part, live)) is not None]
    whole, other = len(decided), len(decided) - same - len(opposed)
    return (
        f"Of {whole} part{'s' * (whole != 1)} that the virtual clock decides: {same} with the same verdict live, "
        f"{other} inconclusive live, and {len(opposed)} with the opposite one{names}. "
        f"Live intervals that contain the virtual clock's estimate: {sum(bounded)} of {len(bounded)}"
    )


def _holds(part: ReplicatedPart, live: LivePart) -> bool | None:
    """Whether the live interval contains the virtual clock's estimate; None if one of them is missing."""
    point = None if part["ours"] is None else part["ours"]["point"]
    low, high = live["ours"]["low"], live["ours"]["high"]
    if point is None or (low is None and high is None):
        return None
    return (low is None or low <= point) and (high is None or point <= high)


def _why(part: ReplicatedPart, live: LivePart) -> Cell:
    """What keeps the live part from the verdict of the virtual clock: what its reason says last."""
    if part["verdict"] == live["verdict"]:
        return dash("the verdict is the same")
    *_, last = live["why"].split("; ")
    return Cell(f"{words.begun(last)}.", title=live["why"])


def _estimate(part: ReplicatedPart | LivePart, form: str) -> Cell:
    found = Estimate.of(part["ours"])
    if found is None or found.point is None:
        return dash("it has no estimate")
    return dash(words.NO_RATIO) if words.is_no_ratio(form, found) else Cell(short_interval(found))


def _verdict(part: ReplicatedPart | LivePart) -> Cell:
    return Cell(part["verdict"], tone=words.tone(part["verdict"]))
