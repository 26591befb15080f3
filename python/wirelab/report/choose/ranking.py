"""The table of choices: its rows, and the notes below it."""

from __future__ import annotations

from collections.abc import Iterator

from wirelab.report.choose.amounts import money, point, seconds, share
from wirelab.report.numbers import DASH
from wirelab.schema.bounds import Bounds
from wirelab.schema.choose import Choice, Chosen
from wirelab.schema.estimates import EstimateRecord
from wirelab.units import format_energy, format_size

HEADS, NAMED = 2, 3
"""Rows of a table's header, and its columns before those of figures."""
FEW = "fewer than 100 messages"
NO_ACKNOWLEDGEMENT = "no acknowledgement is known"


def rows(record: Chosen) -> list[list[str]]:
    """`HEADS` of a header first. What nobody asked for has no column. The first `NAMED` columns
    are words.
    """
    columns = [*_columns(record)]
    head = [["", "", "", *(title for title, _, _ in columns)], ["", "", "", *(how for _, how, _ in columns)]]
    each = [
        [
            rank(choice),
            choice["name"],
            choice["program"] and f"({choice['program']})",
            *(cells[at] for _, _, cells in columns),
        ]
        for at, choice in enumerate(record["choices"])
    ]
    return [*head, *each]


def _columns(record: Chosen) -> Iterator[tuple[str, str, list[str]]]:
    """Title, whether it is measured or modelled, and a cell for each choice."""
    choices, asked, measured = record["choices"], record["question"], "measured"
    if record["criterion"] == "energy":
        yield "a message", "modelled J", [_typical(each["energy_j"]) for each in choices]
    yield "a message", "measured IP bytes", [point(each["data_bytes"], format_size) for each in choices]
    yield "data/year", measured, [data_year(each) for each in choices]
    if asked["tariff"] is not None:
        yield "cost/year", measured, [cost_year(each, asked["tariff"]["currency"]) for each in choices]
    yield "ack p50", measured, [point(each["p50_s"], seconds) for each in choices]
    yield "p95", measured, [point(each["p95_s"], seconds) for each in choices]
    if asked["deadline_s"] is not None:
        within = [point(each["within_deadline"], share) for each in choices]
        yield f"within {seconds(asked['deadline_s'])}", measured, within
    yield "lost", measured, [lost(each) for each in choices]


def _typical(joules: Bounds | None) -> str:
    return DASH if joules is None else format_energy(joules["typical"])


def rank(choice: Choice) -> str:
    """Of a choice, with a question mark if it is open whether it keeps the deadline; else a dash."""
    if choice["rank"] is not None:
        return f"{choice['rank']}{'?' * (choice['near_deadline'] is not None)}"
    return "?" if choice["near_deadline"] is not None and choice["near_deadline"] == choice["not_ranked"] else DASH


def data_year(choice: Choice) -> str:
    """`6.9 MB`; a dash if no packet is known."""
    return DASH if choice["data_year_bytes"] is None else format_size(choice["data_year_bytes"])


def cost_year(choice: Choice, currency: str) -> str:
    """`3.47 EUR`; a dash if no packet is known."""
    return DASH if choice["data_year_bytes"] is None else money(choice["cost_year"], currency)


def lost(choice: Choice) -> str:
    """`2 of 600`; a dash if none was due."""
    return DASH if not choice["messages"] else f"{choice['lost']:,} of {choice['messages']:,}"


def notes(record: Chosen) -> list[str]:
    """Below the table: why a figure or a rank is missing, and what else must be known of a choice."""
    said: dict[str, list[str]] = {}
    for choice in record["choices"]:
        reasons = (
            *filter(None, [choice["not_ranked"], choice["near_deadline"]]),
            *_missing(record, choice),
            *choice["notes"],
        )
        for reason in dict.fromkeys(reasons):
            said.setdefault(reason, []).append(choice["name"])
    measured = [choice["name"] for choice in record["choices"] if choice["messages"]]
    return [
        f"{'Every choice' if names == measured and len(names) > 1 else '; '.join(names)}: {reason}"
        for reason, names in said.items()
    ]


def no_intervals(record: Chosen) -> list[str]:
    """That shares of few trials have none; nothing if all have one."""
    known = [choice for choice in record["choices"] if choice["messages"] and choice["lost_share"]["low"] is None]
    trials = sorted({choice["trials"] for choice in known if choice["trials"]})
    if not trials:
        return []
    number = f"{trials[0]}{f' or {trials[-1]}' if len(trials) > 1 else ''} trial{'s' * (trials[-1] != 1)}"
    return [f"Shares of {number} have no interval: it would be about 90 points wide."]


def _missing(record: Chosen, choice: Choice) -> Iterator[str]:
    """Why figures that the table should have are missing; of what was not run its rank says so."""
    if not choice["messages"]:
        return
    few = NO_ACKNOWLEDGEMENT if choice["p50_s"] is None else FEW
    values = {"p50": (choice["p50_s"], NO_ACKNOWLEDGEMENT), "p95": (choice["p95_s"], few)}
    if record["question"]["deadline_s"] is not None:
        values["share within the deadline"] = choice["within_deadline"], NO_ACKNOWLEDGEMENT
    for name, (value, otherwise) in values.items():
        if why := _why_not(value, otherwise):
            yield f"no {name} ({why})."


def _why_not(value: EstimateRecord | None, otherwise: str) -> str:
    """Why there is no figure; empty if there is one."""
    if value is None:
        return otherwise
    return "" if value["point"] is not None else value["method"] or otherwise


def apart(record: Chosen) -> list[list[str]]:
    """Rows without a header: protocols that were not compared, and why."""
    whys: dict[str, list[str]] = {}
    for each in record["apart"]:
        whys.setdefault(each["why"], []).append(each["protocol"])
    return [[", ".join(protocols), why] for why, protocols in whys.items()]
