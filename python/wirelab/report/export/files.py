"""Writes charts and tables as files, with what a document needs to include them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import vl_convert

from wirelab.errors import WirelabError, did_you_mean
from wirelab.limits import require_to_draw
from wirelab.report.blocks import Table
from wirelab.report.campaign import Campaign
from wirelab.report.export import latex
from wirelab.report.export.charts import basis, exported
from wirelab.report.export.standalone import Standalone, standalone
from wirelab.report.export.venues import VENUES
from wirelab.report.figures.svg import register_fonts
from wirelab.report.markdown import table as markdown_table
from wirelab.report.sections.reuse import bibtex
from wirelab.schema.replaced import replaced

FORMATS = ("svg", "pdf", "png")
INCLUDED, SHOWN = ("pdf", "png"), ("svg", "png")
"""What LaTeX includes and what Markdown shows."""
DOCUMENT, CAPTIONS, CITATION = "figures.tex", "figures.md", "wirelab.bib"
PPI = 300


@dataclass(frozen=True)
class Written:
    """A chart that was written: its name and sizes, and how many tables came with it."""

    name: str
    chart: Standalone
    tables: int


def write_figures(
    campaign: Campaign, out: Path, formats: Sequence[str], venue: str, only: Sequence[str] = ()
) -> list[Written]:
    """Write each chart in these formats, its tables, a LaTeX file and a Markdown file with captions, and a citation.
    Raises `WirelabError` if `only` names what is not there, or if there is no chart.
    """
    found, other_tables = exported(campaign)
    if not found:
        raise WirelabError(f"'{campaign.folder}' has no chart", hint="its report says why")
    known = [each.name for each in found]
    if unknown := [name for name in only if name not in known]:
        raise WirelabError(f"no chart '{unknown[0]}'", "--only", did_you_mean(unknown[0], known))
    level, rests_on = f"{100 * campaign.estimates['level']:g} %", basis(campaign)
    written, environments, captions = list[Written](), list[str](), list[str]()
    for each in found:
        chart = standalone(each.drawn, each.label, each.entries, VENUES[venue])
        if not only or each.name in only:
            for kind in formats:
                _write(out / f"{each.name}.{kind}", _as(kind, chart))
            written.append(Written(each.name, chart, len(each.tables)))
        # A document has all that is in the folder, also from an earlier call.
        if _first(out, each.name, INCLUDED) is not None:
            environments.append(latex.figure(each.name, each.caption, spans=chart.spans))
        if (shown := _first(out, each.name, SHOWN)) is not None:
            captions += [f"![{each.label}]({shown})", ""]
        captions += [each.caption, ""]
        names = [f"{each.name}-table{i + 1 if len(each.tables) > 1 else ''}" for i in range(len(each.tables))]
        captions += _tables(dict(zip(names, each.tables, strict=True)), out, rests_on, level)
    captions += _tables(other_tables, out, rests_on, level)
    head = "% Needs the packages graphicx and booktabs. Tables are in files of their own: \\input{NAME}.\n"
    _write(out / DOCUMENT, (head + "\n" + "\n".join(environments)).encode())
    _write(out / CAPTIONS, ("\n".join(captions).rstrip() + "\n").encode())
    _write(out / CITATION, f"{bibtex(campaign)}\n".encode())
    return written


def _first(out: Path, name: str, kinds: Sequence[str]) -> str | None:
    """The file of a chart in the first of these formats that is there."""
    return next((f"{name}.{kind}" for kind in kinds if (out / f"{name}.{kind}").is_file()), None)


def _tables(tables: Mapping[str, Table], out: Path, rests_on: str, level: str) -> list[str]:
    """Write tables as LaTeX; their lines of Markdown."""
    lines = list[str]()
    for name, table in tables.items():
        _write(out / f"{name}.tex", latex.table(name, table, rests_on, level).encode())
        lines += markdown_table(table.caption, table.shown.columns, table.shown.rows, level)
    return lines


def _as(kind: str, chart: Standalone) -> bytes:
    if kind == "svg":
        return chart.with_font.encode()
    require_to_draw()
    register_fonts()
    if kind == "pdf":
        return bytes(vl_convert.svg_to_pdf(chart.svg))
    paper = '<rect width="100%" height="100%" fill="#ffffff"/>'
    start = chart.svg.index(">") + 1
    return bytes(vl_convert.svg_to_png(f"{chart.svg[:start]}{paper}{chart.svg[start:]}", scale=1, ppi=PPI))


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as fresh:
        fresh.write_bytes(content)
