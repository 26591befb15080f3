"""`choose.json` and the page of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from wirelab.report.blocks import Block, Cell, Column, Items, Prose, Section, Table, dash, estimate
from wirelab.report.choose import asked, levers, pictures, ranking, words
from wirelab.report.choose.amounts import NO_MATTER, seconds, years
from wirelab.report.exact.page import EMULATION
from wirelab.report.numbers import BYTES, DASH, MILLIJOULES, MILLISECONDS, PERCENT, Estimate, Unit, plain
from wirelab.report.page import Header, fill, write_text
from wirelab.report.statement import Statement
from wirelab.schema.choose import CHOSEN, Choice, Chosen
from wirelab.schema.estimates import EstimateRecord
from wirelab.stats.estimate.model import LEVEL

HOW = (
    "Choices are compared trial by trial, since trials of one number begin alike.",
    "The constants of the radio are drawn between their bounds, together for all choices.",
    "A choice is first if it is below every other one in 95 % of the draws.",
    "Its distance must also be more than what trials leave open, and at least 1 %.",
    f"Choices do not matter if the largest value is less than {NO_MATTER:g} times the smallest.",
)
CRITERIA = {
    "energy": "The radio's energy from one message to the next ranks the choices; it is modelled.",
    "data": "The IP bytes of a message in both directions rank the choices; they are measured.",
}
_Of = tuple[Column, Callable[[Choice], Cell]]
"""A column, and its cell of a choice."""
NOT_RANKED, NO_PACKETS, NO_MESSAGE = "it is not ranked", "no packets are known", "no message was due"
NEAR = "inconclusive: the deadline is close"


def write_chosen(record: Chosen, folder: Path, page: str) -> str:
    """Write both; gives the text of the record. Raises `WirelabError` where that is not possible."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)
    write_text(folder / CHOSEN, f"{text}\n")
    write_text(folder / page, fill(_header(record), sections(record), _level(record)))
    return text


def sections(record: Chosen) -> list[Section]:
    """Of the page; what there is none of has no section."""
    found = [
        Section("choices", "The choices", _choices(record)),
        Section("levers", "What else could be changed", _levers(record)),
        Section("maps", "Where each choice is first", pictures.maps(record)),
        Section("settings", "Settings of the operator's network", _settings(record)),
        Section("apart", "Not compared", _tables("Protocols that were not compared", _apart(record))),
        Section("radio", "How far the radio's model is off", _radio(record)),
        Section("assumptions", "What the answer rests on", _items(words.assumptions(record))),
        Section("not-considered", "What was not considered", _items(record["not_considered"])),
        Section("how", "How this was found", [Items([*asked.question(record), CRITERIA[record["criterion"]], *HOW])]),
    ]
    return [section for section in found if section.blocks]


def _header(record: Chosen) -> Header:
    clock = f"{record['clock']} clock"
    more = [
        *map(Statement, words.left_out(record)),
        *(Statement(each, href="#settings") for each in (*words.settings(record), *words.how_counted(record))),
        *map(Statement, [*words.gap(record), *words.least_data(record), *words.safest(record), *words.late(record)]),
    ]
    return Header(
        name="choose",
        title=f"Which protocol to speak over {record['question']['link']}",
        doi=None,
        grade=None,
        facts=[
            f"{sum(choice['messages'] for choice in record['choices']):,} messages",
            f"Wirelab {record['version']}",
            clock if record["kernel"] is None else f"{clock}, kernel {record['kernel']}",
            EMULATION,
        ],
        warnings=words.warnings(record),
        answer=[
            Statement(words.lead(record), more),
            *(Statement(each, href="#levers") for each in levers.matters(record)),
            *map(Statement, levers.battery(record)),
            *(Statement(each, href="#maps") for each in words.crossings(record)),
            Statement(words.quality(record), href="#radio" if record["radio_errors"] else ""),
        ],
        verdicts=[],
    )


def _level(record: Chosen) -> float:
    """Of the intervals in tables."""
    return record["choices"][0]["data_bytes"]["level"] if record["choices"] else LEVEL


def _choices(record: Chosen) -> list[Block]:
    typical = "under typical settings of the network"
    tables = {
        f"What a message takes, {typical}": _takes(record),
        f"When messages are acknowledged, and how many are lost, {typical}": _arrives(record),
        "A year's data, and what was run": _runs(record),
    }
    return [
        *(Prose(f"Energy is modelled: {each}.") for each in words.radio(record)),
        *(_table(caption, record, [*columns]) for caption, columns in tables.items()),
        *_items([*ranking.notes(record), *ranking.no_intervals(record)]),
    ]


def _table(caption: str, record: Chosen, columns: Sequence[_Of]) -> Table:
    """A row for each choice, whose name stays in sight."""
    name, rank = Column("choice", numeric=False), Column("rank", numeric=False)
    rows = [[Cell(each["name"]), _rank(each), *(cell(each) for _, cell in columns)] for each in record["choices"]]
    return Table(caption, [name, rank, *(column for column, _ in columns)], rows, pinned=True)


def _takes(record: Chosen) -> Iterator[_Of]:
    question = record["question"]
    if question["radio"] is not None:
        yield (
            Column("energy, modelled: mean [interval]", "mJ"),
            _estimated(lambda each: each["energy_mean"], MILLIJOULES, "it has no energy"),
        )
        yield Column("range of the radio's constants", "mJ"), _range
    yield (
        Column("data, measured: mean [interval]", "IP bytes"),
        _estimated(lambda each: each["data_bytes"], BYTES, NO_PACKETS),
    )
    if question["battery_mah"] is not None and question["radio"] is not None:
        yield Column("battery, modelled [range of the radio's constants]", "years"), _battery


def _arrives(record: Chosen) -> Iterator[_Of]:
    deadline_s = record["question"]["deadline_s"]
    yield (
        Column("acknowledged: p50 [interval]", "ms"),
        _estimated(lambda each: each["p50_s"], MILLISECONDS, ranking.NO_ACKNOWLEDGEMENT),
    )
    yield Column("p95 [interval]", "ms"), _estimated(lambda each: each["p95_s"], MILLISECONDS, ranking.FEW)
    if deadline_s is not None:
        yield (
            Column(f"within {seconds(deadline_s)} [interval]", "%"),
            _estimated(lambda each: each["within_deadline"], PERCENT, ranking.NO_ACKNOWLEDGEMENT),
        )
    yield Column("lost [interval]", "%"), _estimated(lambda each: each["lost_share"], PERCENT, NO_MESSAGE)


def _runs(record: Chosen) -> Iterator[_Of]:
    yield Column("data of a year, measured"), lambda each: _or_dash(ranking.data_year(each), NO_PACKETS)
    if (tariff := record["question"]["tariff"]) is not None:
        currency = tariff["currency"]
        yield Column("cost of a year"), lambda each: _or_dash(ranking.cost_year(each, currency), NO_PACKETS)
    yield Column("program", numeric=False), lambda each: Cell(each["program"])
    if len({choice["auth"] for choice in record["choices"]}) > 1:
        yield Column("security", numeric=False), lambda each: Cell(asked.SECURITY[each["auth"]])
    yield Column("trials"), lambda each: Cell(f"{each['trials']:,}")
    yield Column("messages lost"), lambda each: _or_dash(ranking.lost(each), NO_MESSAGE)


def _estimated(of: Callable[[Choice], EstimateRecord | None], unit: Unit, reason: str) -> Callable[[Choice], Cell]:
    return lambda choice: estimate(Estimate.of(of(choice)), unit, reason)


def _rank(choice: Choice) -> Cell:
    text = ranking.rank(choice)
    if text == DASH:
        return dash(NOT_RANKED)
    return Cell(text, reason=NEAR) if text.endswith("?") else Cell(text)


def _range(choice: Choice) -> Cell:
    if (joules := choice["energy_j"]) is None:
        return dash("it has no energy")
    low, typical, high = (plain(joules[end] * MILLIJOULES.per_base) for end in ("low", "typical", "high"))
    return Cell(typical if low == high else f"{low} to {high}", title=f"typically {typical}")


def _or_dash(text: str, reason: str) -> Cell:
    return dash(reason) if text == DASH else Cell(text)


def _battery(choice: Choice) -> Cell:
    life = choice["battery_years"]
    return dash("it has no energy") if life is None else Cell(years(life))


def _levers(record: Chosen) -> list[Block]:
    rows = levers.table(record)
    figures = tuple(range(3, len(rows[0]))) if rows else ()
    table = _tables("Each change alone, on the choice that it was tried on", rows, numeric=figures)
    about = "A change is measured by packets of a run of its own, or modelled by other settings of the radio."
    return [*_items(levers.matters(record)), *table, Prose(about)] if table else []


def _settings(record: Chosen) -> list[Block]:
    drawn = pictures.settings(record)
    axes = _tables("Settings that the owner of a device does not choose", words.operator_axes(record))
    return [*_items([*words.settings(record), *words.how_counted(record)]), *drawn, *axes]


def _apart(record: Chosen) -> list[list[str]]:
    rows = ranking.apart(record)
    return [["protocols", "why"], *rows] if rows else []


def _radio(record: Chosen) -> list[Block]:
    table = _tables("Published figures that did not set the model", words.radio_errors(record), numeric=(1, 2, 3))
    return [*(Prose(f"{each[0].upper()}{each[1:]}.") for each in words.radio(record)), *table] if table else []


def _items(sentences: Sequence[str]) -> list[Block]:
    return [Items([*sentences])] if sentences else []


def _tables(caption: str, rows: Sequence[Sequence[str]], numeric: Collection[int] = ()) -> list[Block]:
    """One of rows whose first is the header; none without."""
    if not rows:
        return []
    head, *body = rows
    columns = [Column(title, numeric=at in numeric) for at, title in enumerate(head)]
    return [Table(caption, columns, [[Cell(text) for text in row] for row in body])]
