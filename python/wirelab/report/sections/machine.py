"""Machine, kernel settings and versions, as the campaign recorded them."""

from __future__ import annotations

from collections.abc import Iterator

from wirelab.report.blocks import Block, Cell, Column, Group, Prose, Section, Table, estimate
from wirelab.report.campaign import Campaign
from wirelab.report.numbers import COUNT, Estimate
from wirelab.report.protocols import title
from wirelab.report.sections.common import series_cell
from wirelab.report.sections.reuse import without_folders
from wirelab.schema.connections import Connections

NO_VALUE = "no block has a value"
UNKNOWN = "none or not known"
"""Of a protocol without congestion control, and of a plan that does not say."""


def section(campaign: Campaign) -> Section:
    """Implementations, then everything in `campaign.json`."""
    blocks: list[Block] = [_implementations(campaign), *_parts(campaign)]
    rows = [] if campaign.record is None else list(_flatten(campaign.record.model_dump(mode="json")))
    plain = [[Cell(key), Cell(without_folders(value) if key == "command" else value)] for key, value in rows]
    columns = [Column("key", numeric=False), Column("value", numeric=False)]
    if plain:
        blocks.append(
            Group(
                "Machine, kernel settings and versions",
                [Table("campaign.json", columns, plain)],
                open=False,
                printed=True,
            )
        )
    else:
        blocks.append(Prose("The campaign has no campaign.json, so its machine is unknown."))
    return Section("machine", "Machine and versions", blocks)


def _parts(campaign: Campaign) -> Iterator[Table]:
    """Of a merged campaign: how they differ."""
    records = campaign.estimates.get("parts") or []
    if not records:
        return
    rows = [
        [Cell(str(each["part"])), Cell(f"{each['trials']:,}"), estimate(Estimate.of(each["ratio"]), COUNT, NO_VALUE)]
        for each in records
    ]  # fmt: skip
    what = campaign.estimates["metric"].replace("-", " ")
    columns = [Column("part"), Column("trials"), Column(f"{what}, over the mean of all [interval]", "times")]
    yield Table("Parts of the merged campaign", columns, rows)


def _implementations(campaign: Campaign) -> Table:
    rows = []
    for series in campaign.series:
        mine = [scenario for scenario in campaign.scenarios if scenario.series == series]
        settings = {key: value for scenario in mine for key, value in scenario.plan.settings.items()}
        said = ", ".join(f"{key} = {_value(value)}" for key, value in sorted(settings.items())) or "no settings"
        used = [s.plan.connections for s in mine if s.plan.connections is not None]
        rows.append(
            [
                series_cell(series),
                Cell(title(series.protocol)),
                Cell(series.provider),
                Cell(said),
                Cell(", ".join(dict.fromkeys(str(each.at_once) for each in used)) or UNKNOWN),
                Cell(", ".join(dict.fromkeys(map(_control, used))) or UNKNOWN),
            ]
        )
    names = ("protocol", "layers", "implementation", "settings", "connections at once", "congestion control")
    return Table("Implementation of each protocol", [Column(name, numeric=False) for name in names], rows)


def _control(used: Connections) -> str:
    constants = "constants not known" if used.constants is None else used.constants
    return f"{used.congestion_control}: {constants}; {used.packet_bytes} B a packet"


def _flatten(value: object, prefix: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flatten(inner, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for i, item in enumerate(value):
            yield from _flatten(item, f"{prefix}[{i}]")
    elif isinstance(value, list):
        yield prefix, " ".join(map(_value, value)) or "none"
    else:
        yield prefix, _value(value)


def _value(value: object) -> str:
    if value is None:
        return "not set"
    return str(value).lower() if isinstance(value, bool) else str(value)
