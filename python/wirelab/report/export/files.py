"""Writes charts and tables as files, with what a document needs to include them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import vl_convert

from wirelab.errors import WirelabError, did_you_mean
from wirelab.limits import require_to_draw
from wirelab.report.campaign import Campaign
from wirelab.report.export import latex
from wirelab.report.export.charts import NamedChart, named_charts
from wirelab.report.export.standalone import Standalone, standalone
from wirelab.report.export.venues import VENUES
from wirelab.report.figures.svg import register_fonts
from wirelab.report.markdown import table as markdown_table
from wirelab.report.sections.reuse import bibtex
from wirelab.schema.replaced import replaced

FORMATS = ("svg", "pdf", "png")
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
    found = named_charts(campaign)
    if not found:
        raise WirelabError(f"'{campaign.folder}' has no chart", hint="its report says why")
    known = [each.name for each in found]
    if unknown := [name for name in only if name not in known]:
        raise WirelabError(f"no chart '{unknown[0]}'", "--only", did_you_mean(unknown[0], known))
    level = f"{100 * campaign.estimates['level']:g} %"
    written, environments, captions = list[Written](), list[str](), list[str]()
    for each in found:
        if only and each.name not in only:
            continue
        chart = standalone(each.drawn, each.label, each.entries, VENUES[venue])
        for kind in formats:
            _write(out / f"{each.name}.{kind}", _as(kind, chart))
        environments.append(latex.figure(each.name, chart.width_pt, each.caption, spans=chart.spans))
        captions += [f"![{each.label}]({each.name}.{formats[0]})", "", each.caption, ""]
        captions += _tables(each, out, level)
        written.append(Written(each.name, chart, len(each.tables)))
    head = "% Needs the packages graphicx and booktabs. Tables are in files of their own: \\input{NAME}.\n"
    _write(out / DOCUMENT, (head + "\n" + "\n".join(environments)).encode())
    _write(out / CAPTIONS, ("\n".join(captions).rstrip() + "\n").encode())
    _write(out / CITATION, f"{bibtex(campaign)}\n".encode())
    return written


def _tables(chart: NamedChart, out: Path, level: str) -> list[str]:
    """Write the tables of a chart as LaTeX; their lines of Markdown."""
    lines = list[str]()
    for number, table in enumerate(chart.tables, 1):
        name = f"{chart.name}-table{number if len(chart.tables) > 1 else ''}"
        _write(out / f"{name}.tex", latex.table(name, table, table.caption, level).encode())
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
