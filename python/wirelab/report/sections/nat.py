"""NAT: how often a mapping was forgotten, and what each protocol did."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.report.blocks import Cell, Column, Definitions, Prose, Section, Table, number
from wirelab.report.campaign import Campaign
from wirelab.report.sections.common import COMPLETED, SCENARIO_COLUMNS, completed_cell, scenario_cells
from wirelab.schema.estimates import RESPONSES, NatRecord

MEANINGS = {
    "mapping forgotten": "a packet came after its mapping had ended; one that got the same port again is not counted",
    "new port": "the packet got another port (UDP, or a TCP segment that opens a connection)",
    "dropped": "the packet was dropped: a TCP segment, or one from the server",
    "reset": "the NAT answered the TCP segment by a reset",
    "continued": "an exchange completed on the same socket",
    "migrated": "an exchange completed on the same socket, over QUIC; path validation is encrypted, and not read",
    "resumed": "the next completed exchange had a new connection that resumed the session",
    "new handshake": "the next completed exchange had a new connection with a full handshake",
    "new connection": "the next completed exchange had a new connection without security",
    "another connection": "the next completed exchange had a connection that was there before",
    "timed out": "no later exchange completed",
    "nothing sent after": "no exchange began later",
    "not known": "nothing answers the messages, or the client is a subscriber",
}


def section(campaign: Campaign) -> Section | None:
    """A row for each scenario whose link translates addresses; None without any."""
    found = [each.nat for each in campaign.scenarios if each.nat is not None]
    if not found:
        return None
    treated = [each for each in _treatments(found[0]) if any(_treatments(record)[each] for record in found)]
    shown = [each for each in RESPONSES if any(record["responses"][each] for record in found)]
    several = len(campaign.groups) > 1
    rows = [
        [
            *([Cell(_settings(group.title, scenario.series.label))] if several else []),
            *scenario_cells(condition, scenario),
            *_cells(scenario.nat, treated, shown),
            completed_cell(scenario),
        ]
        for group in campaign.groups
        for condition, scenario in group.pairs
        if scenario.key in group.own and scenario.nat is not None
    ]
    columns = [
        *([Column("settings", numeric=False)] if several else []), *SCENARIO_COLUMNS, Column("mapping forgotten"),
        *map(Column, treated), Column("exchanges not completed"),
        *(Column(f"then: {each}") for each in shown), COMPLETED,
    ]  # fmt: skip
    terms = [(each, MEANINGS[each]) for each in ("mapping forgotten", *treated, *shown)]
    note = "The NAT forgets a mapping after an idle time, and the next packet finds none."
    table = Table("Mappings that the NAT had forgotten, and what clients did", columns, rows, row_headers=2 + several)
    return Section("nat", "NAT: forgotten mappings", [Prose(note), table, Definitions(terms)])


def _cells(nat: NatRecord, treated: Sequence[str], shown: Sequence[str]) -> list[Cell]:
    lost = nat["not_completed"]
    return [
        number(nat["forgotten"], 0),
        *(number(count, 0) for each, count in _treatments(nat).items() if each in treated),
        Cell(f"{lost:,}", tone="unsure" if lost else None),
        *(number(count, 0) for each, count in nat["responses"].items() if each in shown),
    ]


def _settings(title: str, label: str) -> str:
    """Of a group's choices those of this protocol, or all if none is."""
    mine = [each for each in title.split(", ") if each.startswith(f"{label} ")]
    return ", ".join(mine) or title


def _treatments(nat: NatRecord) -> dict[str, int]:
    """How often the NAT did what with the packet."""
    return {"new port": nat["new_end"], "dropped": nat["dropped"], "reset": nat["reset"]}
