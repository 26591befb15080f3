"""Whether to believe the numbers: the link as told and as measured, how late the emulator was, what was run again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from wirelab.report import certificate
from wirelab.report.background import background
from wirelab.report.blocks import Block, Cell, Column, Group, Items, Prose, Section, Table, dash, estimate, number
from wirelab.report.campaign import Campaign
from wirelab.report.cpu_limits import cpu_limits
from wirelab.report.grade import reasons
from wirelab.report.model import Json
from wirelab.report.numbers import MICROSECONDS, PERCENT, Estimate, Unit, plain
from wirelab.report.sections.common import LINK_TONES as TONES
from wirelab.report.sections.common import series_cell
from wirelab.report.settings_in_force import settings_in_force
from wirelab.report.topology import topology
from wirelab.schema import is_netem
from wirelab.stats.link.effects import NAMES
from wirelab.stats.link.grade import GRADES, NOT_MEASURED
from wirelab.units import format_rate

MOST_ROWS = 14
MOST_LANES = 4


def section(campaign: Campaign) -> Section:
    """Told against measured, lateness, exclusions."""
    links = _link_table(campaign.links)
    told: Block = links
    if len(links.rows) > MOST_ROWS:
        told = Group(f"All {len(links.rows)} links and directions", [links])
    blocks: list[Block] = [Prose(_summary(campaign))]
    if (replay := campaign.estimates.get("replay")) is not None:
        blocks.append(Prose(replay_words(replay)))
    if flagged := reasons(campaign.estimates):
        blocks.append(Items(flagged))
    befell = _effects(campaign.links)
    lanes = campaign.estimates.get("link_lateness") or []
    lateness = _lateness_table(lanes)
    blocks += [told, *topology(campaign)]
    blocks += [lateness] if len(lanes) <= MOST_LANES else [Prose(_lanes_words(lanes)), Group("Each lane", [lateness])]
    blocks += [befell] if befell is not None else []
    blocks += [met] if (met := background(campaign)) is not None else []
    blocks += [limits] if (limits := cpu_limits(campaign)) is not None else []
    blocks += settings_in_force(campaign)
    blocks += [_certificate(each) for each in campaign.estimates.get("certificates") or []]
    return Section("trust", "Trust: told and measured", [*blocks, _exclusions_table(campaign)])


def _certificate(found: Json) -> Block:
    """What probes of a link said before the first block."""
    head, *lines = certificate.rows(found)
    columns = [Column(title or "why", numeric=False) for title in head]
    rows = [[Cell(text) for text in line] for line in lines]
    name = ", ".join([*found["link_names"], *(found.get("topology_links") or [])])
    table = Table(
        f"{name}: each property as told, and as probes with random streams of their own measured it",
        columns,
        rows,
        row_headers=2,
    )
    return Group(f"Probes of {name}: {found['grade']}; {certificate.summary(found)}", [table])


def _lanes_words(lanes: Sequence[Json]) -> str:
    """The range over the lanes of each figure of their lateness."""
    ranges = []
    for key, words in (("p50_s", "p50"), ("p99_s", "p99"), ("p999_s", "p99.9"), ("max_s", "max")):
        values = [lane[key] * 1e6 for lane in lanes if lane.get(key) is not None]
        if values:
            ranges.append(f"{words} {plain(min(values))} to {plain(max(values))} µs")
    return f"Lateness of the emulator over {len(lanes)} lanes: {', '.join(ranges)}."


def replay_words(replay: Json) -> str:
    """Whether the link did what a fresh chain of the same seed does, packet by packet."""
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
        return "No link was measured, so nothing here can be graded."
    flags = [str(link.get("flag")) for link in links]
    counts = ", ".join(f"{flags.count(flag)} {flag}" for flag in (*GRADES, NOT_MEASURED) if flag in flags)
    worst = max(links, key=lambda link: _delay_error(link, "p99") or 0.0)
    words = f"{len(links)} links and directions: {counts}."
    error = _delay_error(worst, "p99")
    if error is not None:
        where = f"{worst['link_name']} {worst['direction']}"
        words += f" The worst p99 of the delay's error is {plain(error * 1e6)} µs, on {where}."
    return words


def _link_table(links: Iterable[Json]) -> Table:
    columns = [
        Column("link", numeric=False), Column("direction", numeric=False), Column("flag", numeric=False),
        Column("delay told", "ms"), Column("error p50", "µs"), Column("error p99", "µs"), Column("error max", "µs"),
        Column("loss told", "%"), Column("loss measured [interval]", "%"), Column("rate told"), Column("packets"),
    ]  # fmt: skip
    rows = [
        [
            Cell(str(link.get("link_name"))),
            Cell(_direction(link)),
            _flag(str(link.get("flag")), str(link.get("why") or "")),
            _scaled(_told(link).get("delay_s"), Unit("ms", 1e3), "no delay stage"),
            *(_scaled(_delay_error(link, q), MICROSECONDS, _no_error(link)) for q in ("p50", "p99", "max")),
            _scaled(_told(link).get("loss"), PERCENT, "depends on when packets are sent"),
            estimate(Estimate.of(_measured(link).get("loss")), PERCENT, "no packet sent"),
            _rate(_told(link).get("rate_bps")),
            number(_measured(link).get("packets"), 0),
        ]
        for link in links
    ]
    return Table(
        "Each link and direction: as told, and as the link process measured itself", columns, rows, row_headers=2
    )


def _flag(flag: str, why: str) -> Cell:
    words = f"{flag}: {why}" if flag == NOT_MEASURED else flag
    return Cell(words, title=why, tone=TONES.get(flag, "bad"))


def _effects(links: Iterable[Json]) -> Block | None:
    """Duplication, corruption and reordering: a row where there is any, or any was meant."""
    rows = []
    counted = False
    for link in links:
        for name in NAMES:
            measured = Estimate.of(_measured(link).get(name))
            if measured is None:
                continue
            counted = True
            told = _told(link).get(name)
            if told or told is None or measured.point:
                where = (Cell(str(link.get("link_name"))), Cell(str(link.get("direction"))), Cell(name))
                reason = "depends on when packets are sent"
                share = estimate(measured, PERCENT, "no packet delivered")
                rows.append([*where, _scaled(told, PERCENT, reason), share, number(measured.n, 0)])
    if not rows:
        words = "No packet was duplicated, corrupted or reordered, and none was meant to be, by the trials' logs."
        return Prose(words) if counted else None
    columns = [
        Column("link", numeric=False), Column("direction", numeric=False), Column("packets were", numeric=False),
        Column("told", "%"), Column("measured [interval]", "%"), Column("of packets"),
    ]  # fmt: skip
    return Table("Duplication, corruption and reordering, by the trials' logs", columns, rows, row_headers=3)


def _lateness_table(lanes: Iterable[Json]) -> Table:
    keys = ("p50_s", "p99_s", "p999_s", "max_s")
    rows = [
        [
            Cell(str(lane.get("lane"))),
            *(_scaled(lane.get(key), MICROSECONDS, "no packet delivered") for key in keys),
            number(lane.get("packets"), 0),
        ]
        for lane in lanes
    ]
    columns = [Column("lane"), *(Column(name, "µs") for name in ("p50", "p99", "p99.9", "max")), Column("packets")]
    caption = (
        "Lateness of the emulator: when a packet was handed over (on a link that netem ran: to netem), minus when its "
        "link said it leaves. Packets of attempts that were run again are counted too"
    )
    return Table(caption if rows else f"{caption}. None was recorded", columns, rows)


def _exclusions_table(campaign: Campaign) -> Table:
    """Trials of each stack: planned, done, and attempts that were run again."""
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
        why = "; ".join(f"{reason} ({count})" for reason, count in reasons.iter_rows()) or "nothing was run again"
        rows.append([*row, number(done, 0), number(kept.height - done, 0), number(excluded, 0), Cell(why)])
    columns = [
        Column("stack", numeric=False), Column("trials planned"), Column("done"), Column("not done"),
        Column("attempts run again"), Column("why", numeric=False),
    ]  # fmt: skip
    return Table(
        "Trials of each stack. An attempt that was run again does not count; where that hits one stack more than "
        "another it biases the comparison",
        columns,
        rows,
    )


def _direction(link: Json) -> str:
    return f"{link.get('direction')}{', by netem' * is_netem(link)}"


def _no_error(link: Json) -> str:
    return "netem keeps no log" if is_netem(link) else "no packet delivered"


def _told(link: Json) -> Json:
    return dict(link.get("told") or {})


def _measured(link: Json) -> Json:
    return dict(link.get("measured") or {})


def _delay_error(link: Json, quantile: str) -> float | None:
    return (_measured(link).get("delay_error_s") or {}).get(quantile)


def _scaled(value: float | None, unit: Unit, reason: str) -> Cell:
    return dash(reason) if value is None else Cell(plain(value * unit.per_base))


def _rate(value: float | None) -> Cell:
    return dash("no rate limit") if value is None else Cell(format_rate(value))
