"""NAT: how often a mapping was forgotten, and what each protocol did."""

from __future__ import annotations

from collections.abc import Sequence

from wirelab.report.blocks import Block, Cell, Column, Prose, Section, Table, number
from wirelab.report.campaign import Campaign
from wirelab.report.model import Group as Choices
from wirelab.report.sections.common import COMPLETED, SCENARIO_COLUMNS, by_choices, completed_cell, scenario_cells
from wirelab.schema.estimates import RESPONSES, NatRecord

TREATMENTS = {"new_end": "new port", "dropped": "dropped", "reset": "reset"}


def section(campaign: Campaign) -> Section | None:
    """A row for each scenario whose link translates addresses; None without any."""
    found = [each.nat for each in campaign.scenarios if each.nat is not None]
    if not found:
        return None
    shown = [each for each in RESPONSES if any(record["responses"][each] for record in found)]

    def build(group: Choices, _prefix: str) -> list[Block]:
        rows = [
            [*scenario_cells(condition, scenario), *_cells(scenario.nat, shown), completed_cell(scenario)]
            for condition, scenario in group.pairs
            if scenario.key in group.own and scenario.nat is not None
        ]
        columns = [
            *SCENARIO_COLUMNS, Column("mapping forgotten"), *(Column(each) for each in TREATMENTS.values()),
            Column("exchanges not completed"), *(Column(f"then: {each}") for each in shown),
            COMPLETED,
        ]  # fmt: skip
        caption = "Mappings that the NAT had forgotten, and what clients did"
        return [Table(caption, columns, rows, row_headers=2)] if rows else []

    note = (
        "The NAT forgets a mapping after an idle time. The client's next packet gets a new port (UDP), or is dropped, "
        "or is answered by a reset (TCP). A server's packets are dropped. Counted is a mapping that a packet missed; "
        "one that ends and gets the same port again is not seen. Continued: an exchange completed on the same socket. "
        "Migrated: the same over QUIC (known from the protocol; path validation is encrypted). Resumed, new handshake, "
        "new connection: the next completed exchange had another connection; another connection: one that was there "
        "before. Timed out: no later exchange completed. Nothing sent after: no exchange began later. Not known: "
        "nothing answers the messages, or the client is a subscriber."
    )
    return Section("nat", "NAT: forgotten mappings", [Prose(note), *by_choices(campaign, build)])


def _cells(nat: NatRecord, shown: Sequence[str]) -> list[Cell]:
    lost = nat["not_completed"]
    return [
        number(nat["forgotten"], 0),
        number(nat["new_end"], 0),
        number(nat["dropped"], 0),
        number(nat["reset"], 0),
        Cell(f"{lost:,}", tone="unsure" if lost else None),
        *(number(count, 0) for each, count in nat["responses"].items() if each in shown),
    ]
