"""Where the bytes of captured scenarios went, layer by layer."""

from __future__ import annotations

from collections.abc import Iterable

from wirelab.report.blocks import Block, Cell, Column, Prose, Section, Table, dash, estimate, number
from wirelab.report.campaign import Campaign
from wirelab.report.model import Group as Choices
from wirelab.report.model import Json, Scenario
from wirelab.report.numbers import BYTES, Estimate, plain
from wirelab.report.sections.common import SCENARIO_COLUMNS, by_choices, scenario_cells

PARTS = {
    "payload": "message",
    "headers": "application's own",
    "protection": "protection",
    "handshake": "TLS handshake",
    "transport": "transport headers",
    "ip": "IP headers",
    "connection": "SYN, FIN, RST",
    "acknowledgements": "ACKs alone",
    "again": "sent again",
    "sealed": "not opened",
    "other": "other",
}
ALWAYS = ("payload", "headers", "protection", "handshake", "transport", "ip", "connection", "acknowledgements")


def section(campaign: Campaign) -> Section | None:
    """A row for each captured scenario; None without captures."""
    shown = [part for part in PARTS if part in ALWAYS or any(_sum(each, part) for each in campaign.scenarios)]
    if not any(_ledger(scenario) for scenario in campaign.scenarios):
        return None

    def build(group: Choices, _prefix: str) -> list[Block]:
        rows = [
            [*scenario_cells(condition, scenario), *_cells(scenario, shown)]
            for condition in group.conditions
            for scenario in condition.scenarios
            if _ledger(scenario)
        ]
        columns = [
            *SCENARIO_COLUMNS, Column("all [interval]", "B"), *(Column(PARTS[part], "B") for part in shown),
            Column("exchanges"), Column("trials"),
        ]  # fmt: skip
        caption = "Bytes of one exchange in both directions, by what they were spent on; each byte counts once"
        return [Table(caption, columns, rows, row_headers=2)] if rows else []

    note = (
        "From captures of both ends, opened with the trial's own TLS secrets: all IP bytes that reached the link, over "
        "the number of exchanges, connection set-up and end included; the interval is over trials. The application's "
        "own bytes are its headers, preface and control frames. Protection is what TLS, DTLS and QUIC add to the "
        "application's bytes: headers of records, nonces and tags. Transport headers are those of TCP and UDP in "
        "packets that carry something, and QUIC's short headers and frames; packets with QUIC's long headers count as "
        "the handshake."
    )
    return Section("ledger", "Where the bytes went", [Prose(note), *by_choices(campaign, build)])


def _ledger(scenario: Scenario) -> Json:
    return dict((scenario.estimates or {}).get("ledger") or {})


def _cells(scenario: Scenario, parts: Iterable[str]) -> list[Cell]:
    ledger = _ledger(scenario)
    sizes = [number(ledger.get(name), 0) for name in ("exchanges", "trials")]
    return [estimate(Estimate.of(ledger.get("total")), BYTES), *(_cell(_sum(scenario, part)) for part in parts), *sizes]


def _cell(value: float | None) -> Cell:
    return dash("not every exchange was completed and opened") if value is None else Cell(plain(value))


def _sum(scenario: Scenario, part: str) -> float | None:
    """Of both directions; None where one is not known."""
    ledger = _ledger(scenario)
    both = [ledger[way][part] for way in ("up", "down") if way in ledger]
    return None if not both or None in both else float(sum(both))
