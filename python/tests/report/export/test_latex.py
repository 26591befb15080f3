"""LaTeX of figures and tables."""

from __future__ import annotations

from wirelab.report.blocks import Cell, Column, Table
from wirelab.report.export.latex import escaped, figure, table


def test_signs_of_latex_and_of_results_are_written_as_commands() -> None:
    assert escaped("5 % of a_b & {x}") == r"5 \% of a\_b \& \{x\}"
    assert escaped("–5 × ≤ 3 µs") == r"--5 $\times$ $\le$ 3 \textmu{}s"
    assert escaped("62.0 [61.0, ∞)") == r"62.0 [61.0, $\infty$)"
    assert escaped("é 漢") == "é ?"
    assert escaped("\\~^") == r"\textbackslash{}\textasciitilde{}\textasciicircum{}"


def test_a_figure_that_spans_both_columns_has_a_star() -> None:
    assert figure("delays", "5 %", spans=False).splitlines()[0] == r"\begin{figure}"
    wide = figure("delays", "5 %", spans=True)
    assert wide.startswith(r"\begin{figure*}")
    assert r"\includegraphics[width=\textwidth]{delays}" in wide
    assert r"\caption{5 \%}" in wide


def test_a_table_aligns_numbers_and_names_the_level() -> None:
    rows = [[Cell("h2"), Cell("60 [59, 61]")], [Cell("coap+tcp"), Cell("40 [exact for this phase]")]]
    found = Table("Delays", [Column("protocol", numeric=False), Column("median [interval]", "ms")], rows)
    lines = table("delays-table", found, "In each scenario 40 of 40.", "95 %").splitlines()
    assert lines[0] == "% In each scenario 40 of 40."
    assert r"  \begin{tabular}{lr}" in lines
    assert r"    protocol & median ms \\" in lines
    assert r"    coap+tcp & 40* \\" in lines
    [caption] = [line for line in lines if "caption" in line]
    assert r"Delays. In brackets: 95 \% intervals. *: the same in each trial" in caption
    assert r"    h2 & 60 [59, 61] \\" in lines
