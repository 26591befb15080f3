"""Emulation accuracy: links as configured and as measured, the emulator's timing error, which trials were repeated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import polars as pl

from wirelab.report import certificate
from wirelab.report.background import background
from wirelab.report.blocks import Block, Cell, Column, Group, Items, Prose, Section, Table, dash, estimate, number
from wirelab.report.campaign import Campaign
from wirelab.report.cpu_limits import cpu_limits
from wirelab.report.grade import reasons
from wirelab.report.numbers import MICROSECONDS, PERCENT, Estimate, Unit, plain
from wirelab.report.sections.common import LINK_TONES as TONES
from wirelab.report.sections.common import series_cell
from wirelab.report.settings_in_force import settings_in_force
from wirelab.report.topology import topology
from wirelab.schema import LinkBackend
from wirelab.schema.estimates import CertificateRecord, LaneLateness, LinkRecord, Replay
from wirelab.stats.link.effects import NAMES
from wirelab.stats.link.grade import GRADES, NOT_MEASURED
from wirelab.units import format_rate

ERRORS: tuple[Literal["p50", "p99", "max"], ...] = ("p50", "p99", "max")
LATENESS: dict[Literal["p50_s", "p99_s", "p999_s", "max_s"], str] = {
    "p50_s": "p50", "p99_s": "p99", "p999_s": "p99.9", "max_s": "max",
}  # fmt: skip
MOST_ROWS = 14
MOST_LANES = 4


def section(campaign: Campaign) -> Section:
    """Configured and measured, timing error, exclusions."""
    links = _link_table(campaign.links)
    configured: Block = links
    if len(links.rows) > MOST_ROWS:
        configured = Group(f"All {len(links.rows)} links and directions", [links])
    blocks: list[Block] = [Prose(_summary(campaign))]
    if (replay := campaign.estimates["replay"]) is not None:
        blocks.append(Prose(replay_words(replay)))
    if flagged := reasons(campaign.estimates):
        blocks.append(Items(flagged))
    befell = _effects(campaign.links)
    lanes = campaign.estimates["link_lateness"]
    lateness = _lateness_table(lanes)
    blocks += [configured, *topology(campaign)]
    blocks += (
        [lateness]
        if len(lanes) <= MOST_LANES
        else [Prose(_lanes_words(lanes)), Group("Each of the parallel trials", [lateness])]
    )
    blocks += [befell] if befell is not None else []
    blocks += [met] if (met := background(campaign)) is not None else []
    blocks += [limits] if (limits := cpu_limits(campaign)) is not None else []
    blocks += settings_in_force(campaign)
    blocks += [_certificate(each) for each in campaign.estimates["certificates"]]
    return Section(
        "emulation-accuracy", "Emulation accuracy: configured and measured", [*blocks, _exclusions_table(campaign)]
    )


def _certificate(found: CertificateRecord) -> Block:
    """The results of a link's probes before the first block."""
    head, *lines = certificate.rows(found["lines"])
    columns = [Column(title or "why", numeric=False) for title in head]
    rows = [[Cell(text) for text in line] for line in lines]
    name = ", ".join([*found["link_names"], *found["topology_links"]])
    table = Table(
        f"{name}: each property as configured, and as measured by probes with their own random streams",
        columns,
        rows,
        row_headers=2,
    )
    return Group(f"Probes of {name}: {found['grade']}; {certificate.summary(found['lines'])}", [table])


def _lanes_words(lanes: Sequence[LaneLateness]) -> str:
    """The range of each timing error figure over the parallel trials."""
    ranges = []
    for key, words in LATENESS.items():
        values = [value * 1e6 for lane in lanes if (value := lane[key]) is not None]
        if values:
            ranges.append(f"{words} {plain(min(values))} to {plain(max(values))} µs")
    return f"Timing error of the emulator over {len(lanes)} parallel trials: {', '.join(ranges)}."


def replay_words(replay: Replay) -> str:
    """Whether a replay with the same seed matches the link's log packet for packet."""
    words = (
        f"replay: {replay['reproduced']:,} of {replay['trials']:,} trials match their replay packet for packet "
        f"({replay['packets']:,} packets)"
    )
    if replay["mismatches"]:
        words += f"; {replay['mismatches']:,} packets do not match, and their links are unusable"
    if lacking := replay["trials"] - replay["replayed"]:
        words += f"; {lacking:,} trials have no log that can be read"
    return f"{words}."


def _summary(campaign: Campaign) -> str:
    links = campaign.links
    if not links:
        return "No link was measured, so its quality is not known."
    flags = [link["flag"] for link in links]
    counts = ", ".join(f"{flags.count(flag)} {flag}" for flag in (*GRADES, NOT_MEASURED) if flag in flags)
    worst = max(links, key=lambda link: _delay_error(link, "p99") or 0.0)
    words = f"{len(links)} links and directions: {counts}."
    error = _delay_error(worst, "p99")
    if error is not None:
        where = f"{worst['link_name']} {worst['direction']}"
        words += f" The worst p99 of the delay's error is {plain(error * 1e6)} µs, on {where}."
    return words


def _link_table(links: Iterable[LinkRecord]) -> Table:
    columns = [
        Column("link", numeric=False), Column("direction", numeric=False), Column("flag", numeric=False),
        Column("configured delay", "ms"), Column("error p50", "µs"), Column("error p99", "µs"),
        Column("error max", "µs"), Column("configured loss", "%"), Column("measured loss [interval]", "%"),
        Column("configured rate"), Column("packets"),
    ]  # fmt: skip
    rows = [
        [
            Cell(link["link_name"]),
            Cell(_direction(link)),
            _flag(link["flag"], link["why"]),
            _scaled(link["configured"]["delay_s"], Unit("ms", 1e3), "no delay stage"),
            *(_scaled(_delay_error(link, q), MICROSECONDS, _no_error(link)) for q in ERRORS),
            _scaled(link["configured"]["loss"], PERCENT, "depends on when packets are sent"),
            estimate(Estimate.of(link["measured"]["loss"]), PERCENT, "no packet sent"),
            _rate(link["configured"]["rate_bps"]),
            number(link["measured"]["packets"], 0),
        ]
        for link in links
    ]
    return Table(
        "Each link and direction: as configured, and as the link process measured itself", columns, rows, row_headers=2
    )


def _flag(flag: str, why: str) -> Cell:
    words = f"{flag}: {why}" if flag == NOT_MEASURED else flag
    return Cell(words, title=why, tone=TONES.get(flag, "bad"))


def _effects(links: Iterable[LinkRecord]) -> Block | None:
    """Duplication, corruption and reordering: a row if any occurred or was configured."""
    rows = []
    counted = False
    for link in links:
        for name in NAMES:
            measured = Estimate.of(link["measured"].get(name))
            if measured is None:
                continue
            counted = True
            configured = link["configured"].get(name)
            if configured or configured is None or measured.point:
                where = (Cell(link["link_name"]), Cell(link["direction"]), Cell(name))
                reason = "depends on when packets are sent"
                share = estimate(measured, PERCENT, "no packet delivered")
                rows.append([*where, _scaled(configured, PERCENT, reason), share, number(measured.n, 0)])
    if not rows:
        words = "No packet was duplicated, corrupted or reordered, and none was configured to be, by the trials' logs."
        return Prose(words) if counted else None
    columns = [
        Column("link", numeric=False), Column("direction", numeric=False), Column("packets were", numeric=False),
        Column("configured", "%"), Column("measured [interval]", "%"), Column("of packets"),
    ]  # fmt: skip
    return Table("Duplication, corruption and reordering, by the trials' logs", columns, rows, row_headers=3)


def _lateness_table(lanes: Iterable[LaneLateness]) -> Table:
    rows = [
        [
            Cell(str(lane["lane"])),
            *(_scaled(lane[key], MICROSECONDS, "no packet delivered") for key in LATENESS),
            number(lane["packets"], 0),
        ]
        for lane in lanes
    ]
    columns = [Column("job"), *(Column(name, "µs") for name in LATENESS.values()), Column("packets")]
    caption = (
        "Timing error of the emulator: when a packet was handed over (with netem: to netem), minus its computed "
        "departure time. Packets of discarded attempts are counted too"
    )
    return Table(caption if rows else f"{caption}. None was recorded", columns, rows)


def _exclusions_table(campaign: Campaign) -> Table:
    """Trials of each protocol: planned, done, and repeated attempts."""
    path = campaign.folder / "trials.parquet"
    trials = pl.read_parquet(path) if path.exists() else None
    rows = []
    for series in campaign.series:
        keys = [scenario.key for scenario in campaign.scenarios if scenario.series == series]
        planned = sum(len(campaign.trials.get(key, [])) for key in keys)
        row = [series_cell(series), number(planned, 0)]
        if trials is None:
            rows.append([*row, *([dash("no trials.parquet")] * 4)])
            continue
        mine = trials.filter(pl.col("scenario").is_in(keys))
        kept = mine.filter(~pl.col("excluded").fill_null(value=False))
        done = int((kept["status"] == "done").sum())
        excluded = mine.height - kept.height
        reasons = mine["exclusion"].drop_nulls().value_counts(sort=True)
        why = "; ".join(f"{reason} ({count})" for reason, count in reasons.iter_rows()) or "nothing was repeated"
        rows.append([*row, number(done, 0), number(kept.height - done, 0), number(excluded, 0), Cell(why)])
    columns = [
        Column("protocol", numeric=False), Column("trials planned"), Column("done"), Column("not done"),
        Column("repeated attempts"), Column("why", numeric=False),
    ]  # fmt: skip
    return Table(
        "Trials of each protocol. A repeated attempt does not count. If one protocol has more of them than another, "
        "the comparison is biased",
        columns,
        rows,
    )


def _direction(link: LinkRecord) -> str:
    return f"{link['direction']}{', by netem' * (link['backend'] == LinkBackend.NETEM)}"


def _no_error(link: LinkRecord) -> str:
    return "netem keeps no log" if (link["backend"] == LinkBackend.NETEM) else "no packet delivered"


def _delay_error(link: LinkRecord, quantile: Literal["p50", "p99", "max"]) -> float | None:
    return link["measured"]["delay_error_s"][quantile]


def _scaled(value: float | None, unit: Unit, reason: str) -> Cell:
    return dash(reason) if value is None else Cell(plain(value * unit.per_base))


def _rate(value: float | None) -> Cell:
    return dash("no rate limit") if value is None else Cell(format_rate(value))
