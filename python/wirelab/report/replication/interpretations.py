"""Which claims each named interpretation of a paper confirms and contradicts."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.claims.over_grid import DEPENDS, FITTED
from wirelab.report.blocks import Block, Cell, Column, Table, dash
from wirelab.report.replication.words import NOT_MEASURED, standing
from wirelab.schema.replication import Replication
from wirelab.schema.verdicts import Standing

STANDINGS: tuple[Standing | None, ...] = ("confirmed", "contradicted", "inconclusive", DEPENDS, FITTED, None)


def blocks(records: Sequence[Replication]) -> list[Block]:
    """A table for each paper that has interpretations; columns in which no claim stands are left out."""
    return [_table(record) for record in records if record["grid"]["interpretations"]]


def _table(record: Replication) -> Table:
    named = record["grid"]["interpretations"]
    stand: dict[str, dict[Standing | None, list[str]]] = {each["name"]: {} for each in named}
    for claim in record["claims"]:
        if claim["form"] == NOT_MEASURED:
            continue
        for name, found in (claim["over_grid"] or {"interpretations": {}})["interpretations"].items():
            stand[name].setdefault(found, []).append(claim["id"])
    having = [each for each in STANDINGS if any(each in found for found in stand.values())]
    columns = [
        Column("interpretation", numeric=False), Column("basis", numeric=False),
        *(Column(standing(each), numeric=False) for each in having),
    ]  # fmt: skip
    rows = [
        [
            Cell(f"{each['name']}{', primary' * (each['name'] == record['primary'])}", title=each["title"]),
            Cell(each["basis"]),
            *(_names(stand[each["name"]].get(kind, [])) for kind in having),
        ]
        for each in named
    ]
    return Table(f"{record['paper']}: verdicts at each named interpretation", columns, rows)


def _names(claims: Sequence[str]) -> Cell:
    return Cell(" ".join(claims)) if claims else dash("no claim")
