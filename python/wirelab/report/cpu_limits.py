"""Hosts with a CPU limit: as configured, and how often the kernel throttled them."""

from __future__ import annotations

from wirelab.report.blocks import Cell, Column, Table, dash, number
from wirelab.report.campaign import Campaign
from wirelab.report.numbers import plain
from wirelab.units import format_share


def cpu_limits(campaign: Campaign) -> Table | None:
    """A row for each limited host of each scenario; None without any."""
    rows = []
    for scenario in campaign.scenarios:
        for role, limit in ({} if scenario.estimates is None else scenario.estimates.get("cpu", {})).items():
            share = (
                dash("it never used the CPU") if not limit["periods"] else _share(limit["throttled"] / limit["periods"])
            )
            held = limit["throttled_s"]
            rows.append(
                [
                    Cell(scenario.name),
                    Cell(role),
                    Cell(format_share(limit["share"])),
                    number(limit["periods"], 0),
                    share,
                    dash("no trial counted") if held is None else Cell(plain(held * 1e3)),
                ]
            )
    columns = [
        Column("scenario", numeric=False), Column("host", numeric=False), Column("share of a CPU"),
        Column("periods in use"), Column("periods throttled", "%"), Column("throttled in a trial", "ms"),
    ]  # fmt: skip
    caption = (
        "Hosts with a CPU limit. Work shorter than a period's quota, 1 ms, or than the kernel's tick runs at full "
        "speed; longer work waits for the next periods"
    )
    return Table(caption, columns, rows, row_headers=2) if rows else None


def _share(value: float) -> Cell:
    """A limit that was never reached had no effect."""
    return Cell(plain(value * 100), tone=None if value else "unsure")
