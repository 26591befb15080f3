"""The bytes of captured scenarios by layer and purpose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from wirelab.report.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Prose,
    Section,
    Table,
    dash,
    estimate,
    number,
)
from wirelab.report.campaign import Campaign
from wirelab.report.figures.bars import OWN_SCALE, Bar, bars
from wirelab.report.missing import NOT_IN_FORCE, not_drawn
from wirelab.report.model import Condition, Scenario
from wirelab.report.model import Group as Choices
from wirelab.report.numbers import BYTES, Estimate, plain
from wirelab.report.sections.common import (
    COMPLETED,
    SCENARIO_COLUMNS,
    by_choices,
    completed_cell,
    parts_legend,
    scenario_cells,
)
from wirelab.schema.estimates import SPENT, Day, LedgerRecord, Part
from wirelab.units import format_duration

Parts = Mapping[str, float | None]
PARTS: dict[Part, str] = {
    "payload": "message",
    "headers": "application's own",
    "protection": "protection",
    "handshake": "TLS handshake",
    "transport": "transport headers",
    "ip": "IP headers",
    "connection": "SYN, FIN, RST",
    "acknowledgements": "pure ACKs",
    "retransmitted": "retransmitted",
    "sealed": "encrypted, unattributed",
    "other": "other",
    "link_layer": "link layer, in addition",
}
BARS: dict[str, tuple[Part, ...]] = {
    "message": ("payload",),
    "application's own": ("headers",),
    "protection": ("protection",),
    "handshake": ("handshake",),
    "IP and transport headers": ("ip", "transport"),
    "SYN, FIN, RST and pure ACKs": ("connection", "acknowledgements"),
    "retransmitted": ("retransmitted",),
    "link layer": ("link_layer",),
    "not attributed": ("sealed", "other"),
}
"""Parts of a bar, and their keys."""
COLORS = dict(zip(BARS, (4, 1, 2, 6, 3, 0, 5, 7, 8), strict=True))
ALWAYS: tuple[Part, ...] = (
    "payload",
    "headers",
    "protection",
    "handshake",
    "transport",
    "ip",
    "connection",
    "acknowledgements",
)


def section(campaign: Campaign) -> Section | None:
    """A row for each captured scenario; None without captures."""
    shown = [part for part in PARTS if part in ALWAYS or any(_sum(each, part) for each in campaign.scenarios)]
    if not any(_ledger(scenario) for scenario in campaign.scenarios):
        return None

    def build(group: Choices, prefix: str) -> list[Block]:
        rows = [
            [*scenario_cells(condition, scenario), *_cells(scenario, shown), completed_cell(scenario)]
            for condition, scenario in group.pairs
            if _ledger(scenario)
        ]
        columns = [
            *SCENARIO_COLUMNS, Column("all [interval]", "B"), *(Column(PARTS[part], "B") for part in shown),
            Column("exchanges"), Column("trials"), COMPLETED,
        ]  # fmt: skip
        caption = "Bytes of one exchange in both directions, by what they were spent on; each byte counts once"
        table = Table(caption, columns, rows, row_headers=2)
        return [*_figures(group, prefix, table)] if rows else []

    note = (
        "From captures of both ends, decrypted with the trial's TLS secrets: all IP bytes that reached the link, "
        "divided by the number of exchanges, connection set-up and end included. The interval is over trials. The "
        "application's own bytes are its headers, preface and control frames. Protection: record headers, nonces and "
        "tags of TLS, DTLS and QUIC. Transport headers: those of TCP and UDP in packets with payload, and QUIC's "
        "short headers and frames. Packets with QUIC's long headers count as handshake. The link layer's overhead "
        "(headers of frames and "
        "fragments, each sent once) is not in the sum. " + OWN_SCALE
    )
    plotted = [_bar(_message(each)) for each in campaign.scenarios if _ledger(each) and each.plotted]
    drawn = [name for name in BARS if any(each[name] for each in plotted)]
    key = [parts_legend({name: COLORS[name] for name in drawn})] if drawn else []
    line = "Bytes of one exchange in both directions, by what they were spent on; each byte counts once."
    return Section("ledger", "Use of bytes", [Prose(note), *key, *by_choices(campaign, build)], line)


def _figures(group: Choices, prefix: str, table: Table) -> Iterator[Block]:
    """One message, with the table; then a day of them."""
    pairs = [(condition, each) for condition, each in group.pairs if _ledger(each)]
    of_one = "Bytes of one exchange on the wire, by what they were spent on"
    left_out = not_drawn((each, NOT_IN_FORCE) for _, each in pairs if not each.plotted)
    bodies = [_drawn(condition, each, _message(each)) for condition, each in pairs if each.plotted]
    svg = bars(f"{prefix}-ledger", of_one, bodies, COLORS, "bytes")
    yield Figure("One exchange", of_one, left_out, svg, [table]) if svg else table
    days = [(condition, each, day) for condition, each in pairs if (day := _day(each)) is not None]
    if not days:
        return
    whole = [_drawn(condition, each, day["parts"], 1e-3) for condition, each, day in days if each.plotted]
    of_day = "Kilobytes of a day of messages, by what they were spent on"
    day_table = _day_table(of_day, days)
    svg = bars(f"{prefix}-ledger-day", of_day, whole, COLORS, "kB")
    words = " ".join(filter(None, [_day_words([day for _, _, day in days]), left_out]))
    yield Figure("A day", of_day, words, svg, [day_table]) if svg else day_table


def _drawn(condition: Condition, scenario: Scenario, parts: Parts, factor: float = 1.0) -> Bar:
    return Bar(condition.label, scenario.series.label, list(_bar(parts, factor).values()))


def _day_table(caption: str, days: Sequence[tuple[Condition, Scenario, Day]]) -> Table:
    rows = []
    for condition, scenario, day in days:
        parts = _bar(day["parts"], 1e-3)
        own = [number(day["messages"], 0), Cell(plain((day["parts"]["total"] or 0.0) / 1e3))]
        each = (Cell(plain(part or 0.0)) for part in parts.values())
        rows.append([*scenario_cells(condition, scenario), *own, *each, completed_cell(scenario)])
    columns = [
        *SCENARIO_COLUMNS, Column("messages"), Column("all but the link layer", "kB"),
        *(Column(name, "kB") for name in BARS), COMPLETED,
    ]  # fmt: skip
    return Table(caption, columns, rows, row_headers=2)


def _day_words(days: list[Day]) -> str:
    intervals = sorted({day["interval_s"] for day in days})
    listed = " or ".join(format_duration(round(seconds * 1e9)) for seconds in intervals)
    words = [f"A message every {listed}{', which is assumed' if any(day['assumed'] for day in days) else ''}."]
    if kept := [day for day in days if day["one_connection"]]:
        none = "; keep-alives are not counted, for exchanges ran back to back" * any(day["assumed"] for day in kept)
        words.append(f"A persistent connection is set up once a day{none}.")
    return " ".join(words)


def _message(scenario: Scenario) -> Parts:
    return {part: _sum(scenario, part) for part in SPENT}


def _bar(parts: Parts, factor: float = 1.0) -> dict[str, float | None]:
    """The parts of a bar. What is the message's is the application's own where it is not known. A link layer that saves
    bytes has no length.
    """
    known = {**parts, "headers": parts["application"] if parts["headers"] is None else parts["headers"]}
    sums = {name: sum(max(known.get(part) or 0.0, 0.0) for part in of) * factor for name, of in BARS.items()}
    return {name: value or None for name, value in sums.items()}


def _ledger(scenario: Scenario) -> LedgerRecord | None:
    return None if scenario.estimates is None else scenario.estimates.get("ledger")


def _day(scenario: Scenario) -> Day | None:
    ledger = _ledger(scenario)
    return None if ledger is None else ledger.get("day")


def _cells(scenario: Scenario, parts: Iterable[Part]) -> list[Cell]:
    ledger = _ledger(scenario)
    assert ledger is not None, "the table has only captured scenarios"
    return [
        estimate(Estimate.of(ledger["total"]), BYTES),
        *(_cell(part, _sum(scenario, part)) for part in parts),
        number(ledger["exchanges"], 0),
        number(ledger["trials"], 0),
    ]


def _cell(part: Part, value: float | None) -> Cell:
    why = "the link has no frames" if part == "link_layer" else "not every exchange was completed and decrypted"
    return dash(why) if value is None else Cell(plain(value))


def _sum(scenario: Scenario, part: Part) -> float | None:
    """The sum of both directions; None if one is not known."""
    ledger = _ledger(scenario)
    ways = [] if ledger is None else [way for way in (ledger.get("up"), ledger.get("down")) if way is not None]
    known = [value for way in ways if (value := way[part]) is not None]
    return float(sum(known)) if ways and len(known) == len(ways) else None
