"""`exact.json` and the page of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from wirelab.report.blocks import Block, Cell, Column, Figure, Grid, Items, Legend, LegendEntry, Prose, Section, Table
from wirelab.report.exact import words
from wirelab.report.figures.enumerated import Band, Price, by_rate, prices
from wirelab.report.model import Series
from wirelab.report.page import Header, fill, write_text
from wirelab.report.palette import looks
from wirelab.report.statement import Statement
from wirelab.schema.exact import EXACT, Exact, ExactScenario, PacketPrice
from wirelab.stats.estimate.model import LEVEL

EMULATION = "emulation only"
HELD = (
    "Each run is a function of its seed and of the packets that it loses. Runs that lose one packet more differ by it.",
    "Held fixed: the link, the programs, the kernel and its timers' phase, and the seed of random choices inside the "
    "programs. --seeds N runs others.",
    "A run with k of n packets lost has probability p^k (1 - p)^(n - k) under independent loss p. What was not run "
    "counts once as short and once as long: these are the bounds.",
    "Exchanges of thousands of packets, and connections that carry state from one to the next, are not enumerated.",
)

_UNIT = re.compile(r"(?<=\d) (?=(%|[mun]?s|min)\b|%)")
"""What stands between a number and its unit, which stay in one line."""


def write_exact(record: Exact, folder: Path, page: str) -> str:
    """Write both; gives the text of the record. Raises `WirelabError` where that is not possible."""
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)
    write_text(folder / EXACT, f"{text}\n")
    write_text(folder / page, fill(_header(record), sections(record), LEVEL))
    return text


def sections(record: Exact) -> list[Section]:
    """Of the page."""
    drawn = _series(record)
    first = [scenario for scenario in record["scenarios"] if scenario["seed"] == 1]
    found = [
        Section(
            "probabilities", "Probability of a long delay", [_legend(drawn, first), *_probabilities(record, drawn)]
        ),
        Section("packets", "What losing one packet costs", [*_packets(record, first, drawn)]),
        Section("worst", "The longest delays, and quantiles", [_longest(record), _quantiles(record)]),
        Section("crossovers", "Where one scenario becomes better than another", _crossovers(record)),
        Section("seeds", "Averages over seeds", [Items([*map(words.seeds, record["over_seeds"])])]),
        Section("how", "How this was found", [Items([*HELD, *_how(record)])]),
    ]
    return [section for section in found if any(_filled(block) for block in section.blocks)]


def _filled(block: Block) -> bool:
    return not isinstance(block, Items) or bool(block.items)


def _header(record: Exact) -> Header:
    return Header(
        name=record["experiment"],
        title=f"Every pattern of lost packets: {record['title']}",
        doi=None,
        grade=None,
        facts=[
            f"{record['runs']:,} runs", f"Wirelab {record['version']}", f"kernel {record['kernel']}", EMULATION,
        ],
        warnings=[] if record["bounded"] else [words.lead(record)],
        answer=[Statement(words.lead(record), [*map(Statement, (*words.answers(record), words.programs(record)))])],
        verdicts=[],
    )  # fmt: skip


def _series(record: Exact) -> dict[str, Series]:
    """By the names of scenarios."""
    named = {scenario["name"]: scenario for scenario in record["scenarios"]}
    found = looks([(scenario["protocol"], name) for name, scenario in named.items()])
    return {
        name: Series(name, scenario["protocol"], "", f"{scenario['client']}, {scenario['server']}", look)
        for (name, scenario), look in zip(named.items(), found, strict=True)
    }


def _legend(drawn: dict[str, Series], first: Sequence[ExactScenario]) -> Legend:
    return Legend([
        LegendEntry(
            text=name, color=f"var(--s{drawn[name].look.slot})", note=drawn[name].provider,
            dash=" ".join(map(str, drawn[name].look.dash)),
        )
        for name in (scenario["name"] for scenario in first)
    ])  # fmt: skip


def _probabilities(record: Exact, drawn: dict[str, Series]) -> Iterator[Block]:
    """A picture and a table for each delay."""
    first = [scenario for scenario in record["scenarios"] if scenario["seed"] == 1]
    figures = []
    for number, x_s in enumerate(words.delays(record)):
        bands = [
            Band(drawn[scenario["name"]], record["rates"], curve["low"], curve["high"])
            for scenario in first
            for curve in scenario["curves"]
            if curve["delay_s"] == x_s
        ]
        title = f"P(delay > {words.delay(x_s)})"
        svg = by_rate(f"rate{number}", f"{title} by the loss rate", bands, title)
        figures.append(Figure(title, f"{title} by the loss rate", "", svg, [_table(title, words.table(record, x_s))]))
    yield Grid("By the rate of independent loss; the value lies between the two lines of a colour", figures)
    for x_s in words.delays(record):
        yield _table(f"P(delay > {words.delay(x_s)})", words.table(record, x_s))


def _packets(record: Exact, first: Sequence[ExactScenario], drawn: dict[str, Series]) -> Iterator[Block]:
    yield Prose(
        "Each bar is the difference of two runs that differ by this packet. Bytes count until both ends are silent."
        + " Energy is that of the client's radio over equal times." * bool(record["radios"])
    )
    figures = []
    for number, scenario in enumerate(first):
        rows = [
            Price(
                f"{packet['number']} {'→' if packet['direction'] == 'uplink' else '←'} {packet['words']}",
                None if packet["delay_s"] is None else packet["delay_s"] * 1e3,
                words.price(packet),
            )
            for packet in scenario["packets"]
        ]
        what = f"cost of each packet of {scenario['name']}"
        svg = prices(f"price{number}", what, drawn[scenario["name"]].look.slot, rows)
        table = Table(
            f"Packets of {scenario['name']}",
            [Column("packet", numeric=False), Column("from", numeric=False), Column("at"), Column("size"),
             Column("its loss adds"), Column("bytes"), Column("energy, model", "mJ")],
            [
                [Cell(f"{packet['number']} {packet['words']}"),
                 Cell("client" if packet["direction"] == "uplink" else "server"), Cell(words.delay(packet["at_s"])),
                 Cell(f"{packet['size']:,} B"), Cell(words.price(packet)),
                 Cell("–" if packet["bytes"] is None else f"{packet['bytes']:+,} B",
                      reason="its loss was not run" if packet["bytes"] is None else None),
                 _energy(packet)]
                for packet in scenario["packets"]
            ],
        )  # fmt: skip
        figures.append(Figure(scenario["name"], what, "", svg, [table]))
    yield Grid("", figures)


def _energy(packet: PacketPrice) -> Cell:
    if packet["energy_j"] is None:
        return Cell("–", reason="its loss was not run" if not packet["run"] else "the experiment has no radio")
    return Cell(f"{packet['energy_j'] * 1e3:+,.3g}")


def _longest(record: Exact) -> Table:
    """Without the costliest packets, which have a chart."""
    return _table("", [row[:-1] for row in words.longest_table(record)])


def _quantiles(record: Exact) -> Table:
    """Under the losses that were asked for."""
    names = [each["name"] for each in record["losses"] if each["within"] is not None]
    shares = list(dict.fromkeys(each["share"] for scenario in record["scenarios"] for each in scenario["quantiles"]))
    rows = []
    for scenario in record["scenarios"]:
        for loss in names:
            found = {each["share"]: each for each in scenario["quantiles"] if each["loss"] == loss}
            if found:
                cells = [words.quantile(found[share], record["horizon_s"]) for share in shares]
                rows.append([words.name(scenario, record), loss, *cells, *words.mean(scenario, loss)])
    head = ["scenario", "loss", *(f"{share:.1%} within" for share in shares), "mean, restricted"]
    return _table("Quantiles of the delay, and its mean with each delay cut at the horizon", [head, *rows])


def _crossovers(record: Exact) -> list[Block]:
    return [
        Items(
            words.crossings(record)
            or ["No two scenarios cross between 0.1 and 10 % of loss, as far as the bounds tell."]
        )
    ]


def _how(record: Exact) -> list[str]:
    return [
        *(f"Link, without its loss: {link}." for link in record["links"]),
        *(f"Exchange: {workload}." for workload in record["workloads"]),
        *words.radios(record),
        f"Runs in this call took {record['seconds']:.0f} s.",
    ]


def _table(caption: str, rows: Sequence[Sequence[str]]) -> Table:
    head, *body = rows
    cells = [[Cell(_UNIT.sub("\u00a0", text)) for text in row] for row in body]
    return Table(caption, [Column(title, numeric=False) for title in head], cells)
